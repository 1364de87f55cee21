"""Which names the code of a magic sees, and which it leaves."""

import pytest

from tests.jupyter.uses import CELLS, LINES
from tests.shell import Shell

USES = {**LINES, **CELLS}
RUN = {
    "%fwtime": "%fwtime -q -n1 -r1 {}",
    "%trace_cached": "%trace_cached -q {}",
    "%%fwtime": "%%fwtime -q -n1 -r2\n{}",
    "%%fwdevices": "%%fwdevices -q\n{}",
    "%%trace_cached": "%%trace_cached -q\n{}",
}
ABOVE = [magic for magic in RUN if magic.startswith("%%")]
#: Its arms leave no names, so that what they see is all that can be asked of them.
ARM = "%%fwcompare -q -b 0.02\na: {}\nb: 1"


@pytest.mark.parametrize("magic", RUN)
def test_names_that_the_code_binds_are_there_afterwards(shell: Shell, magic: str) -> None:
    shell.names["x"] = 4
    shell.run(RUN[magic].format("y = x + 1"))
    assert shell.names["y"] == 5


@pytest.mark.parametrize("magic", USES)
def test_nothing_else_in_the_namespace_changes(ready: Shell, magic: str) -> None:
    before = dict(ready.names)
    ready.run(USES[magic].format("-q"))
    assert {name: id(value) for name, value in ready.names.items()} == {
        name: id(value) for name, value in before.items()
    }


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


@pytest.mark.parametrize("magic", ABOVE)
def test_functions_and_comprehensions_of_a_cell_have_their_names(shell: Shell, magic: str) -> None:
    text = '"""\n  two\n    four"""'
    cell = "def h():\n    return later\nsquares = [k * k for k in range(3)]\ns = "
    shell.run(RUN[magic].format(cell + text))
    shell.run("later = 8")
    assert shell.names["h"]() == 8
    assert shell.names["squares"] == [0, 1, 4]
    assert "k" not in shell.names
    assert shell.names["s"] == "\n  two\n    four"  # not changed by any indentation


@pytest.mark.parametrize("magic", ["%%fwdevices", "%%trace_cached"])
def test_names_that_a_cell_deletes_are_gone(shell: Shell, magic: str) -> None:
    shell.names["x"] = 1
    shell.run(RUN[magic].format("del x"))
    assert "x" not in shell.names


@pytest.mark.parametrize("magic", ABOVE)
def test_a_magic_in_a_cell_binds_what_it_would_bind_there_alone(shell: Shell, magic: str) -> None:
    shell.run("def f(x): return x + 1")
    before = set(shell.names)
    shell.run(RUN[magic].format("%timeit -n1 -r1 abs(-2)\n%time z = f(2)"))
    assert shell.names["z"] == 3
    assert set(shell.names) - before == {"z"}


@pytest.mark.parametrize("magic", [*ABOVE, "%%fwcompare"])
@pytest.mark.parametrize(
    "code",
    [
        "%time seen.append((args, self, site))",
        "seen.append(eval('(args, self, site)'))",
        "import sys; f = sys._getframe().f_locals; seen.append([f[n] for n in NAMES])",
        "import inspect; f = inspect.currentframe().f_locals; seen.append([f[n] for n in NAMES])",
    ],
)
def test_code_that_looks_at_names_sees_those_of_the_user(
    shell: Shell, magic: str, code: str
) -> None:
    shell.names.update(args="one", self="two", site="three", seen=[])
    shell.names["NAMES"] = ("args", "self", "site")
    shell.run(RUN.get(magic, ARM).format(code))
    assert set(map(tuple, shell.names["seen"])) == {("one", "two", "three")}


@pytest.mark.parametrize("magic", ABOVE)
def test_a_shell_command_or_a_query_in_a_cell_finds_the_names_of_the_user(
    shell: Shell, magic: str
) -> None:
    pandas = pytest.importorskip("pandas")
    shell.names.update(args="one", self="two", frame=pandas.DataFrame({"a": [1, 2, 3]}), limit=1)
    # What `said = !echo {args} $self` stands for; IPython 7 does not take that on Python 3.13.
    said = "said = get_ipython().getoutput('echo {args} $self')"
    query = "found = len(frame.query('a > @limit'))"
    shell.run(RUN[magic].replace("{}", f"{said}\n{query}"))
    assert list(shell.names["said"]) == ["one two"]
    assert shell.names["found"] == 2


@pytest.mark.parametrize("magic", [*ABOVE, "%%fwcompare"])
def test_a_string_in_front_of_a_cell_is_no_documentation(shell: Shell, magic: str) -> None:
    shell.names["__doc__"] = "mine"
    shell.run(
        "%%fwcompare -q -b 0.02\n'theirs'\ny = 1\na: 1\nb: 2"
        if magic == "%%fwcompare"
        else RUN[magic].format("'theirs'\ny = 1")
    )
    assert shell.names["__doc__"] == "mine"


def test_arms_that_bind_names_by_a_function_or_a_string_leave_none(shell: Shell) -> None:
    shell.run("def count():\n    global calls\n    calls = 1")
    before = set(shell.names)
    shell.run("%%fwcompare -q -b 0.02\na: count()\nb: exec('other = 1')\nc: %time third = 1")
    assert set(shell.names) == before
