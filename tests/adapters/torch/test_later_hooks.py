"""Hooks that a module gets once it was compiled: its program goes on without them."""

from typing import Any

import pytest
import torch

from tests.shell import Shell

PARTS = """
import torch
from torch import nn
ran = torch.zeros(())
def hook(*args): ran.add_(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.act = nn.Linear(2, 2), nn.ReLU()
    def forward(self, x): return self.act(self.lin(x))
net, rows = Net(), torch.ones(5, 2)
x = torch.ones(1, 2, requires_grad=True)
"""
WHOLE = f"{PARTS}f = torch.compile(net, backend='eager')"
CALLED = f"""{PARTS}
def helper(x): return net(x) * 2
@torch.compile(backend='eager')
def f(x): return helper(x)
"""
GIVEN = PARTS + "@torch.compile(backend='eager')\ndef step(model, x): return model(x).sum()"
AROUND = f"{PARTS}net = nn.Sequential(net)\nf = torch.compile(net, backend='eager')"
IN_PLACE = f"{PARTS}f = net\nf.compile(backend='eager')"


@pytest.fixture
def cells(shell: Shell) -> Shell:
    torch.compiler.reset()
    return shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]


@pytest.mark.parametrize(
    ("before", "call", "hook", "told"),
    [
        (WHOLE, "f(x)", "net.lin.register_forward_hook(hook)", "Net.lin got a hook after Net"),
        (WHOLE, "f(x)", "net.lin.register_forward_pre_hook(hook)", "Net.lin got a hook after Net"),
        (AROUND, "f(x)", "net.register_full_backward_hook(hook)",
         "Sequential got a hook after Sequential"),
        (IN_PLACE, "f(x)", "net.act.register_full_backward_pre_hook(hook)",
         "Net.act got a hook after Net"),
        (CALLED, "f(x)", "net.act.register_forward_hook(hook)", "net.act got a hook after f"),
        (GIVEN, "step(net, x)", "net.register_forward_hook(hook)", "model got a hook after step"),
        (WHOLE, "f(x)", "net.register_full_backward_hook(hook)", ""),
        (IN_PLACE, "f(x)", "net.register_full_backward_pre_hook(hook)", ""),
        (WHOLE, "f(x)", "net.lin.weight.register_hook(hook)", ""),
    ],
)  # fmt: skip
def test_a_hook_that_does_not_run_is_told(
    cells: Shell, before: str, call: str, hook: str, told: str
) -> None:
    cells.run(before)
    cells.run(call)
    cells.run(f"handle = {hook}")
    found = last_call(cells, call)
    assert [each.words() for each in found.why] == ([f"{told} was compiled"] if told else [])
    assert found.state == ("STALE" if told else "CACHED")
    cells.run(f"{call}.sum().backward()")
    assert bool(cells.names["ran"]) is not bool(told)


def test_a_hook_of_another_module_is_none(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("f(x)")
    cells.run("handle = nn.Linear(1, 1).register_forward_hook(hook)")
    assert last_call(cells, "f(x)").state == "CACHED"


def test_what_is_told_to_be_done_has_it_run(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("f(x)")
    cells.run("handle = net.lin.register_forward_hook(hook)")
    found = last_call(cells, "f(x)")
    assert found.fixes == (
        "Register hooks before the first call, or call `torch.compiler.reset()`",
    )
    cells.run("%fwtime -n 1 -r 1 -v timed f(x)")
    (note,) = [each for each in cells.names["timed"].notes if each.code == "stale-program"]
    assert note.text.startswith("Net runs a stale program: Net.lin got a hook")
    assert note.advice == "register hooks before the first call, or call torch.compiler.reset()"
    cells.run("torch.compiler.reset()\nf(x)")
    assert cells.names["ran"] == 1
    assert last_call(cells, "f(x)").state == "CACHED"


def test_each_program_has_the_hooks_of_its_time_and_a_removed_one_is_none(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("f(x)")
    cells.run("handle = net.lin.register_forward_hook(hook)\nf(rows)")
    assert last_call(cells, "f(x)").state == "STALE"
    assert last_call(cells, "f(rows)").state == "CACHED"
    cells.run("handle.remove()")
    assert last_call(cells, "f(x)").state == "CACHED"


def test_where_pytorch_looks_for_hooks_they_are_no_change_of_ours(cells: Shell) -> None:
    with torch._dynamo.config.patch(skip_nnmodule_hook_guards=False):
        cells.run(WHOLE)
        cells.run("f(x)")
        cells.run("handle = net.lin.register_forward_hook(hook)")
        assert last_call(cells, "f(x)").state == "TRACED"


def test_programs_can_be_refused_for_it(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("import ipyjaxbench\nf(x)\ng = ipyjaxbench.assert_max_traces(f, 1, stale='error')")
    cells.run("g(x)\nhandle = net.lin.register_forward_hook(hook)")
    with pytest.raises(AssertionError, match=r"`Net` runs a stale program: Net\.lin got a hook"):
        cells.run("g(x)")
