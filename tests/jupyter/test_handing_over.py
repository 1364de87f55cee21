"""What each magic shows, returns, and binds."""

import json

import pytest

from ipyjaxbench import Comparison, LoopTimes, Measurement, Traces, Transfers, Whereabouts
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel
from tests.jupyter.uses import CELLS, LINES
from tests.shell import Shell

KINDS = {
    "%fwtime": Measurement,
    "%%fwtime": Measurement,
    "%%fwtime --loop": LoopTimes,
    "%fwcompare": Comparison,
    "%%fwcompare": Comparison,
    "%fwdevices": Whereabouts,
    "%%fwdevices": Transfers,
    "%trace_cached": Traces,
    "%%trace_cached": Traces,
}
USES = {**LINES, **CELLS}


@pytest.fixture(scope="module")
def ready_kernel(kernel: Kernel) -> Kernel:
    """A kernel with what the uses of magics need."""
    kernel.run("import numpy as np\na = np.arange(9.0)")
    for name in ("one", "two"):
        kernel.run(f"%fwtime -q -b 0.02 --name {name} sum(range(100))")
    return kernel


@pytest.mark.parametrize("magic", USES)
def test_a_result_is_shown_once_in_three_forms(ready: Shell, magic: str) -> None:
    ready.run(USES[magic].format(""))
    (output,) = ready.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    assert KINDS[magic].from_dict(output.data[MIME])


@pytest.mark.parametrize("magic", USES)
def test_every_result_can_be_shown_as_json(ready: Shell, magic: str) -> None:
    ready.run(USES[magic].format("--json"))
    (output,) = ready.shown
    record = json.loads(output.data["text/plain"])
    assert record == output.data["application/json"]
    assert KINDS[magic].from_dict(record)


@pytest.mark.parametrize("magic", USES)
def test_nothing_is_returned_that_was_not_asked_for(ready: Shell, magic: str) -> None:
    assert ready.run(USES[magic].format("")) is None


@pytest.mark.parametrize("magic", USES)
def test_what_is_asked_for_is_returned_and_shown_once(ready: Shell, magic: str) -> None:
    result = ready.run(USES[magic].format("-o"))
    assert type(result) is KINDS[magic]
    assert ready.shown == []
    assert ready.text.count(str(result)) == 1


@pytest.mark.parametrize("magic", USES)
def test_a_variable_holds_the_result(ready: Shell, magic: str) -> None:
    assert ready.run(USES[magic].format("-v kept")) is None
    assert type(ready.names["kept"]) is KINDS[magic]
    assert len(ready.shown) == 1


@pytest.mark.parametrize("magic", USES)
def test_quiet_shows_nothing(ready: Shell, magic: str) -> None:
    assert ready.run(USES[magic].format("-q")) is None
    assert (ready.shown, ready.text) == ([], "")


@pytest.mark.parametrize("magic", LINES)
def test_an_assigned_line_is_the_result_and_is_shown(ready: Shell, magic: str) -> None:
    ready.run("r = " + LINES[magic].format(""))
    assert type(ready.names["r"]) is KINDS[magic]
    assert len(ready.shown) == 1


@pytest.mark.parametrize("magic", LINES)
def test_lines_are_assigned_in_loops_and_with_statements(ready: Shell, magic: str) -> None:
    line = LINES[magic].format("-q")
    ready.run(
        "import contextlib\nall = []\nfor _ in range(2):\n    with contextlib.nullcontext():\n"
        f"        r = {line}\n        all.append(r)"
    )
    assert [type(each) for each in ready.names["all"]] == [KINDS[magic]] * 2


@pytest.mark.parametrize("magic", LINES)
def test_lines_in_a_loop_show_one_result_for_each_turn(ready: Shell, magic: str) -> None:
    ready.run(f"for _ in range(2):\n    {LINES[magic].format('')}")
    assert len(ready.shown) == 2


@pytest.mark.parametrize("magic", LINES)
def test_a_function_assigns_and_returns_a_result(ready: Shell, magic: str) -> None:
    ready.run(f"def f():\n    r = {LINES[magic].format('-q')}\n    return r\nfound = f()")
    assert type(ready.names["found"]) is KINDS[magic]


@pytest.mark.parametrize("magic", LINES)
def test_python_code_that_runs_a_magic_gets_its_result(ready: Shell, magic: str) -> None:
    name, _, rest = LINES[magic].format("-q").removeprefix("%").partition(" ")
    ready.run(f"rs = [get_ipython().run_line_magic({name!r}, {rest!r}) for _ in range(2)]")
    assert [type(each) for each in ready.names["rs"]] == [KINDS[magic]] * 2


@pytest.mark.parametrize("magic", CELLS)
def test_python_code_that_runs_a_cell_gets_its_result(ready: Shell, magic: str) -> None:
    first, _, cell = CELLS[magic].format("-q").removeprefix("%%").partition("\n")
    name, _, options = first.partition(" ")
    ready.run(f"r = get_ipython().run_cell_magic({name!r}, {options!r}, {cell!r})")
    assert type(ready.names["r"]) is KINDS[magic]


@pytest.mark.parametrize("magic", USES)
def test_a_semicolon_belongs_to_the_code_and_silences_nothing(
    ready_kernel: Kernel, magic: str
) -> None:
    shown = ready_kernel.run(USES[magic].format("").replace(".sum()", ".sum();"))
    assert len(shown.results) == 1


@pytest.mark.parametrize("magic", USES)
def test_what_is_shown_is_no_output_of_the_cell(ready_kernel: Kernel, magic: str) -> None:
    ready_kernel.run("6 * 7")
    ready_kernel.run(USES[magic].format(""))
    assert ready_kernel.run("print(_)").text == "42\n"


@pytest.mark.parametrize("magic", USES)
def test_what_is_returned_is_the_output_of_the_cell(ready_kernel: Kernel, magic: str) -> None:
    ready_kernel.run(USES[magic].format("-o"))
    assert ready_kernel.run("print(type(_).__name__)").text == f"{KINDS[magic].__name__}\n"
