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
def test_a_result_is_shown_once_and_returned_only_where_it_is_asked_for(
    ready: Shell, magic: str
) -> None:
    use, kind = USES[magic], KINDS[magic]
    assert ready.run(use.format("")) is None
    (output,) = ready.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    assert kind.from_dict(output.data[MIME])
    assert ready.run(use.format("-q")) is None
    assert (ready.shown, ready.text) == ([], "")
    assert ready.run(use.format("--json -v kept")) is None
    (output,) = ready.shown
    record = json.loads(output.data["text/plain"])
    assert record == output.data["application/json"]
    assert kind.from_dict(record)
    assert type(ready.names["kept"]) is kind
    result = ready.run(use.format("-o"))
    assert (type(result), ready.shown) == (kind, [])
    assert ready.text.count(str(result)) == 1


@pytest.mark.parametrize("magic", LINES)
def test_lines_are_assigned_and_shown_wherever_they_stand(ready: Shell, magic: str) -> None:
    line = LINES[magic].format("")
    ready.run(
        "import contextlib\nall = []\nfor _ in range(2):\n    with contextlib.nullcontext():\n"
        f"        r = {line}\n        all.append(r)"
    )
    assert len(ready.shown) == 2
    ready.run(f"def f():\n    r = {line}\n    return r\nall.append(f())")
    assert len(ready.shown) == 1
    ready.run(f"for _ in range(2):\n    {line}")
    assert len(ready.shown) == 2
    assert [type(each) for each in ready.names["all"]] == [KINDS[magic]] * 3


@pytest.mark.parametrize("magic", USES)
def test_python_code_that_runs_a_magic_gets_its_result(ready: Shell, magic: str) -> None:
    first, _, cell = USES[magic].format("-q").lstrip("%").partition("\n")
    name, _, rest = first.partition(" ")
    kind, given = ("cell", (name, rest, cell)) if cell else ("line", (name, rest))
    ready.run(f"rs = [get_ipython().run_{kind}_magic{given} for _ in range(2)]")
    assert [type(each) for each in ready.names["rs"]] == [KINDS[magic]] * 2


@pytest.mark.parametrize("magic", USES)
def test_only_what_is_returned_is_the_output_of_the_cell(ready_kernel: Kernel, magic: str) -> None:
    ready_kernel.run("6 * 7")
    # A semicolon belongs to the code and silences nothing.
    shown = ready_kernel.run(USES[magic].format("").replace(".sum()", ".sum();"))
    assert len(shown.results) == 1
    assert ready_kernel.run("print(_)").text == "42\n"
    ready_kernel.run(USES[magic].format("-o"))
    assert ready_kernel.run("print(type(_).__name__)").text == f"{KINDS[magic].__name__}\n"
