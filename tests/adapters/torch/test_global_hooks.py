"""Hooks of all modules that a program was made without."""

import pytest
import torch
import torch._dynamo

from ipyjaxbench.adapters.torch.retracing.global_hooks import REGISTERS
from ipyjaxbench.reports import Calls
from tests.adapters.torch.hooked import (
    AGENT,
    ALONE,
    AROUND,
    BROKEN,
    CALLED,
    DISABLED,
    GIVEN,
    IN_PLACE,
    PARTIAL,
    REST,
    THIS,
    UNUSED,
    WHOLE,
    cells as cells,
    last_call,
)
from tests.shell import Shell

# Autograd's, of a tensor in between, where code goes on after a break.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute")

FORWARD = "register_module_forward_hook"


def runs(cells: Shell) -> float:
    """How often hooks run in a call and its backward pass."""
    cells.run("ran.zero_()\nf(x).sum().backward()")
    return float(cells.names["ran"])


@pytest.mark.parametrize(
    ("before", "kind", "skip"),
    [
        *((CALLED, kind, skip) for kind in REGISTERS for skip in (True, False)),
        *(
            (before, FORWARD, True)
            for before in (WHOLE, GIVEN, AROUND, IN_PLACE, AGENT, PARTIAL, THIS, BROKEN, REST)
        ),
        *((before, FORWARD, True) for before in (DISABLED, UNUSED, ALONE)),
        *((before, FORWARD, False) for before in (WHOLE, BROKEN, ALONE)),
    ],
)
@pytest.mark.filterwarnings("ignore:Using `torch.compile.module.` when there are global hooks")
def test_a_hook_of_all_modules_that_does_not_run_is_told(
    cells: Shell, before: str, kind: str, skip: bool
) -> None:
    torch._dynamo.config.skip_nnmodule_hook_guards = skip
    cells.run(before)
    cells.run("f(x)")
    cells.run(f"handle = nn.modules.module.{kind}(hook)")
    try:
        cells.run("f(x)")  # what PyTorch compiles again for it is no cached call
        found = last_call(cells, "f(x)")
        ran = runs(cells)
        cells.run("torch.compiler.reset()")
        does_lack = ran < runs(cells)
        assert found.state == ("STALE" if does_lack else "CACHED")
        assert last_call(cells, "f(x)").state == "CACHED"  # made with it
    finally:
        cells.run("handle.remove()")
    if does_lack:
        assert found.why[0].words() == (
            f"a global module hook ({kind}) has come that the program of {found.name} lacks"
        )
        assert found.fixes == ("Call `torch.compiler.reset()`",)


def test_a_hook_of_all_modules_that_was_removed_is_none_and_a_timing_tells(cells: Shell) -> None:
    cells.run(CALLED)
    cells.run("f(x)")
    cells.run(
        f"handle = nn.modules.module.{FORWARD}(hook)\nmore = net.lin.register_forward_hook(hook)"
    )
    assert len(last_call(cells, "f(x)").why) == 2
    cells.run("more.remove()")
    cells.run("%fwtime -n 1 -r 1 -v timed f(x)")
    (note,) = [each for each in cells.names["timed"].notes if each.code == "stale-program"]
    assert note.advice == "call torch.compiler.reset()"
    cells.run("handle.remove()")
    assert last_call(cells, "f(x)").state == "CACHED"


@pytest.mark.filterwarnings("ignore:Using `torch.compile.module.` when there are global hooks")
def test_what_is_traced_beside_a_stale_program_is_told_apart(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("f(x)")
    cells.run(f"handle = nn.modules.module.{FORWARD}(hook)")
    try:
        cells.run("%%trace_cached -v seen\nf(x)")
    finally:
        cells.run("handle.remove()")
    seen = cells.names["seen"]
    (row,) = seen.rows()
    assert row["state"] == "STALE"
    (calls,) = (each for each in seen.report().blocks if isinstance(each, Calls))
    states = {line[2]: line[-1] for line in calls.rows if "Net" in line[1] or "beside" in line[1]}
    assert "that the program of Net lacks" in states["STALE"]
    assert states.get("TRACED", "hook ran for the first time") == "hook ran for the first time"


def test_pytorch_keeps_them_where_they_are_looked_for() -> None:
    for register, held in REGISTERS.items():
        assert callable(getattr(torch.nn.modules.module, register))
        assert isinstance(getattr(torch.nn.modules.module, held), dict)
