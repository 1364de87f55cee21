"""Programs that nobody saw made: whether they have the hooks of their modules is not known."""

from collections import OrderedDict
from collections.abc import Iterator

import pytest
import torch
import torch._dynamo
from torch._dynamo import convert_frame

from ipyjaxbench.adapters.torch.retracing.global_hooks import REGISTERS
from ipyjaxbench.retracing import keep_learning
from tests.adapters.torch.hooked import (
    CALLED,
    IN_PLACE,
    PARTS,
    REST,
    WHOLE,
    cells as cells,
    last_call,
)
from tests.shell import Shell

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute")
UNKNOWN = (
    "whether {1} runs the hooks of {0}: its compilation was not seen. Call `torch.compiler.reset()`"
)
NESTED = f"""{PARTS}net = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
f = torch.compile(net, backend='eager')
"""
LIN = "net.lin.register_forward_hook(hook)"
OF_ALL = "nn.modules.module.register_module_forward_hook(hook)"


def compile_unseen(cells: Shell, before: str, call: str = "f(x)") -> None:
    """Compile with nobody listening, as before the extension is loaded."""
    keep_learning()  # else it would begin to within
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convert_frame, "_bytecode_hooks", OrderedDict())
        cells.run(f"{before}\n{call}")


def told(cells: Shell, call: str = "f(x)") -> tuple[str, str]:
    found = last_call(cells, call)
    return found.state, found.unknown


@pytest.fixture
def no_hooks_of_all() -> Iterator[None]:
    yield
    for held in REGISTERS.values():
        getattr(torch.nn.modules.module, held).clear()


@pytest.mark.usefixtures("no_hooks_of_all")
@pytest.mark.parametrize(
    ("before", "hook", "of"),
    [
        (WHOLE, LIN, ("net.lin", "Net")),
        (WHOLE, "net.act.register_forward_pre_hook(hook)", ("net.act", "Net")),
        (IN_PLACE, "net.act.register_full_backward_pre_hook(hook)", ("net.act", "Net")),
        (CALLED, "net.act.register_forward_hook(hook)", ("net.act", "f")),
        (REST, "net[0].act.register_forward_hook(hook)", ("net[0].act", "Sequential")),
        (NESTED, "net[0][0].register_forward_hook(hook)", ("net[0][0]", "Sequential")),
        (CALLED, OF_ALL, ("all modules (register_module_forward_hook)", "f")),
    ],
)
def test_a_hook_that_it_may_lack_is_told_as_unknown(
    cells: Shell, before: str, hook: str, of: tuple[str, str]
) -> None:
    compile_unseen(cells, before)
    assert told(cells) == ("CACHED", "")
    cells.run(f"handle = {hook}")
    assert told(cells) == ("CACHED", UNKNOWN.format(*of))
    cells.run("torch.compiler.reset()")
    last_call(cells, "f(x)")
    assert told(cells) == ("CACHED", "")


@pytest.mark.usefixtures("no_hooks_of_all")
@pytest.mark.filterwarnings("ignore:Using `torch.compile.module.` when there are global hooks")
@pytest.mark.parametrize("hook", [LIN, OF_ALL])
@pytest.mark.parametrize("before", [WHOLE, CALLED])
def test_a_hook_that_was_there_is_in_it(cells: Shell, before: str, hook: str) -> None:
    compile_unseen(cells, f"{before}\nhandle = {hook}")
    cells.run("ran.zero_()\nf(x)")
    assert cells.names["ran"] > 0
    assert told(cells) == ("CACHED", "")


def test_a_hook_of_another_module_and_a_program_that_calls_none_are_known(cells: Shell) -> None:
    compile_unseen(
        cells, f"{WHOLE}\ng = torch.compile(lambda x: x * 2, backend='eager')", "f(x); g(x)"
    )
    cells.run("handle = nn.Linear(1, 1).register_forward_hook(hook)")
    assert told(cells) == ("CACHED", "")
    cells.run(f"more = {OF_ALL}")
    try:
        assert told(cells, "g(x)") == ("CACHED", "")
    finally:
        cells.run("more.remove()")


def test_it_is_told_by_a_row_and_a_prediction_and_fails_nothing(cells: Shell) -> None:
    compile_unseen(cells, WHOLE)
    cells.run(f"handle = {LIN}\nimport ipyjaxbench")
    cells.run("%trace_cached f(x)")
    assert "unknown" in cells.shown[-1].data["text/plain"]
    assert "whether Net runs the hooks of net.lin" in cells.shown[-1].data["text/plain"]
    cells.run("%trace_cached --predict -v seen f(x)")
    (call,) = cells.names["seen"].calls
    assert (call.state, call.says[:27]) == ("WOULD-HIT", "may be stale: whether Net r")
    assert cells.shown[-1].data["text/plain"].splitlines()[1].endswith("?")
    cells.run("with ipyjaxbench.trace_cached(0, stale='error'):\n    f(x)")
