"""Which names the code of a magic sees, and which it leaves."""

import pytest

from tests.behaviour.uses import CELLS, LINES
from tests.shell import Shell

USES = {**LINES, **CELLS}
RUN = {
    "%fwtime": "%fwtime -q -n1 -r1 {}",
    "%trace_cached": "%trace_cached -q {}",
    "%%fwtime": "%%fwtime -q -n1 -r1\n{}",
    "%%fwdevices": "%%fwdevices -q\n{}",
    "%%trace_cached": "%%trace_cached -q\n{}",
}


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
def test_a_line_in_a_function_sees_the_names_of_the_function(shell: Shell, magic: str) -> None:
    code = RUN[magic].format("seen.append([z + k for k in range(2)])")
    shell.run(f"seen, z = [], 'global'\ndef f(z):\n    {code}\nf(5)")
    assert shell.names["seen"][-1] == [5, 6]


def test_places_in_a_function_are_those_of_its_own_arrays(ready: Shell) -> None:
    ready.run("def f(a):\n    r = %fwdevices -q a\n    return r\nr = f(np.ones((2, 3), np.int8))")
    assert "i8[2,3]" in str(ready.names["r"])


@pytest.mark.parametrize("magic", ["%fwtime", "%trace_cached"])
def test_names_bound_in_a_function_do_not_leave_it(shell: Shell, magic: str) -> None:
    shell.run(f"def f(z):\n    {RUN[magic].format('inner = z')}\nf(5)")
    assert "inner" not in shell.names
    assert "z" not in shell.names


def test_a_line_in_a_class_sees_and_binds_the_names_of_the_class(shell: Shell) -> None:
    shell.run(f"class C:\n    x = 2\n    {RUN['%fwtime'].format('y = x + 1')}")
    assert shell.names["C"].y == 3
    assert "y" not in shell.names


@pytest.mark.parametrize("magic", ["%%fwtime", "%%fwdevices", "%%trace_cached"])
def test_functions_of_a_cell_see_what_later_cells_bind(shell: Shell, magic: str) -> None:
    shell.run(RUN[magic].format("def h():\n    return later"))
    shell.run("later = 8")
    assert shell.names["h"]() == 8


@pytest.mark.parametrize("magic", ["%%fwtime", "%%fwdevices", "%%trace_cached"])
def test_comprehensions_of_a_cell_keep_their_names(shell: Shell, magic: str) -> None:
    shell.run(RUN[magic].format("squares = [k * k for k in range(3)]"))
    assert shell.names["squares"] == [0, 1, 4]
    assert "k" not in shell.names


@pytest.mark.parametrize("magic", ["%%fwdevices", "%%trace_cached"])
def test_names_that_a_cell_deletes_are_gone(shell: Shell, magic: str) -> None:
    shell.names["x"] = 1
    shell.run(RUN[magic].format("del x"))
    assert "x" not in shell.names


def test_the_arms_of_a_comparison_leave_no_names(shell: Shell) -> None:
    shell.names["x"] = 1
    shell.run("%%fwcompare -q -b 0.05\nimport string\na: x = 2\nb: y = 3")
    assert shell.names["x"] == 1
    assert not {"y", "string"} & set(shell.names)
