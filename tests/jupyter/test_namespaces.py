"""Which names the code of a magic sees, and which it leaves."""

import pytest

from tests.jupyter.uses import CELLS, LINES
from tests.shell import Shell

USES = {**LINES, **CELLS}
RUN = {
    "%fwtime": "%fwtime -q -n1 -r1 {}",
    "%trace_cached": "%trace_cached -q {}",
    "%%fwtime": "%%fwtime -q -n1 -r1\n{}",
    "%%fwdevices": "%%fwdevices -q\n{}",
    "%%trace_cached": "%%trace_cached -q\n{}",
}
ABOVE = [magic for magic in RUN if magic.startswith("%%")]
#: Arms leave no names, so that what they see is all that can be asked of them.
ARM = "%%fwcompare -q -b 0.02\na: {}\nb: 1"


@pytest.mark.parametrize("magic", USES)
def test_nothing_else_in_the_namespace_changes(ready: Shell, magic: str) -> None:
    before = {name: id(value) for name, value in ready.names.items()}
    ready.run(USES[magic].format("-q"))
    assert {name: id(value) for name, value in ready.names.items()} == before


@pytest.mark.parametrize("magic", ["%fwtime", "%trace_cached"])
def test_a_line_in_a_function_sees_its_names_and_none_leaves_it(shell: Shell, magic: str) -> None:
    code = RUN[magic].format("inner = seen.append([z + k for k in range(2)] + [g()])")
    shell.run(f"seen, z = [], 9\ndef g():\n    return z\ndef f(z):\n    {code}\nf(5)")
    assert shell.names["seen"][-1] == [5, 6, 9]
    assert "inner" not in shell.names
    assert shell.names["z"] == 9


def test_places_in_a_function_are_those_of_its_own_arrays(ready: Shell) -> None:
    ready.run("def f(a):\n    r = %fwdevices -q a\n    return r\nr = f(np.ones((2, 3), np.int8))")
    assert "i8[2,3]" in str(ready.names["r"])


def test_a_line_in_a_class_sees_and_binds_the_names_of_the_class(shell: Shell) -> None:
    shell.run(f"class C:\n    x = 2\n    {RUN['%fwtime'].format('y = x + 1')}")
    assert shell.names["C"].y == 3
    assert "y" not in shell.names


@pytest.mark.parametrize("magic", RUN)
def test_a_magic_binds_what_its_code_binds_and_no_more(shell: Shell, magic: str) -> None:
    shell.run("def f(x): return x + 1")
    before = set(shell.names)
    more = "\n%timeit -n1 -r1 abs(-2)\n%time w = f(2)" if magic in ABOVE else ""
    shell.run(RUN[magic].format(f"z = [f(k) for k in range(2)]{more}"))
    assert shell.names["z"] == [1, 2]
    assert set(shell.names) - before == ({"z", "w"} if more else {"z"})


@pytest.mark.parametrize("magic", ABOVE)
def test_functions_and_strings_of_a_cell_are_as_they_were_typed(shell: Shell, magic: str) -> None:
    shell.names["__doc__"] = "mine"
    shell.names["x"] = 1
    cell = "'no documentation'\ndel x\ndef h():\n    return later\ns = "
    shell.run(RUN[magic].format(cell + '"""\n  two\n    four"""'))
    shell.run("later = 8")
    assert shell.names["h"]() == 8
    assert "x" not in shell.names
    assert shell.names["s"] == "\n  two\n    four"  # not changed by any indentation
    assert shell.names["__doc__"] == "mine"


FRAME = "seen.append([f[n] for n in NAMES])"


@pytest.mark.parametrize("magic", [*ABOVE, "%%fwcompare"])
def test_code_that_looks_at_names_sees_those_of_the_user(shell: Shell, magic: str) -> None:
    shell.names.update(args="one", self="two", site="three", seen=[])
    shell.names["NAMES"] = ("args", "self", "site")
    for code in (
        "%time seen.append((args, self, site))",
        "seen.append(eval('(args, self, site)'))",
        f"import sys; f = sys._getframe().f_locals; {FRAME}",
        f"import inspect; f = inspect.currentframe().f_locals; {FRAME}",
    ):
        shell.names["seen"].clear()
        shell.run({**RUN, "%%fwcompare": ARM}[magic].format(code))
        assert set(map(tuple, shell.names["seen"])) == {("one", "two", "three")}, code


def test_a_shell_command_or_a_query_in_a_cell_finds_the_names_of_the_user(shell: Shell) -> None:
    pandas = pytest.importorskip("pandas")
    shell.names.update(args="one", self="two", frame=pandas.DataFrame({"a": [1, 2, 3]}), limit=1)
    # What `said = !echo {args} $self` stands for; IPython 7 does not take that on Python 3.13.
    said = "said = get_ipython().getoutput('echo {args} $self')"
    shell.run(f"%%fwtime -q -n1 -r2\n{said}\nfound = len(frame.query('a > @limit'))")
    assert list(shell.names["said"]) == ["one two"]
    assert shell.names["found"] == 2


def test_arms_that_bind_names_by_a_function_or_a_string_leave_none(shell: Shell) -> None:
    shell.run("def count():\n    global calls\n    calls = 1")
    before = dict(shell.names) | {"__doc__": "mine"}
    shell.names["__doc__"] = "mine"
    setup = "'theirs'\ny = 1"
    shell.run(
        f"%%fwcompare -q -b 0.02\n{setup}\na: count()\nb: exec('other = 1')\nc: %time third = 1"
    )
    assert shell.names == before
