"""Modules that are compiled in many ways, to register hooks of."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch._dynamo

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
GIVEN = PARTS + "@torch.compile(backend='eager')\ndef f(x, model=net): return model(x)"
AROUND = f"{PARTS}net = nn.Sequential(net)\nf = torch.compile(net, backend='eager')"
IN_PLACE = f"{PARTS}f = net\nf.compile(backend='eager')"
AGENT = f"""{PARTS}
class Agent:
    def __init__(self): self.actor, self.critic = net, [nn.Linear(2, 2)]
    @torch.compile(backend='eager')
    def act(self, x): return self.critic[0](self.actor(x))
agent = Agent()
f = agent.act
"""
PARTIAL = f"""{PARTS}
import functools
f = torch.compile(functools.partial(lambda model, x: model(x), net), backend='eager')
"""
THIS = f"""{PARTS}
class Own(nn.Module):
    def __init__(this):
        super().__init__()
        this.lin = nn.Linear(2, 2)
    @torch.compile(backend='eager')
    def forward(this, x): return this.lin(x)
f = net = Own()
"""
BROKEN = f"""{PARTS}
class Block(Net):
    def forward(self, x):
        y = self.lin(x)
        torch._dynamo.graph_break()
        return y * 2
net = nn.Sequential(Block(), nn.ReLU())
f = torch.compile(net, backend='eager')
"""
REST = BROKEN.replace("y * 2", "self.act(y)")
OVERRIDDEN = f"""{PARTS}
class Own(Net):
    def __call__(self, x): return self.forward(x)
net = Own()
@torch.compile(backend='eager')
def f(x): return net(x)
"""
DISABLED = f"""{PARTS}
class Block(Net):
    @torch.compiler.disable
    def forward(self, x): return self.lin(x)
net = nn.Sequential(nn.Linear(2, 2), Block())
f = torch.compile(net, backend='eager')
"""
UNUSED = f"""{PARTS}
@torch.compile(backend='eager')
def f(x):
    if net.training:
        return nn.functional.linear(x, net.lin.weight)
    return net(x)
"""
TWO = f"""{PARTS}
other = Net()
@torch.compile(backend='eager')
def f(model, x): return model(x)
"""
HELD = f"""{PARTS}models = {{'a': net}}
del net
f = torch.compile(models['a'], backend='eager')
"""
OF_OBJECT = f"""{PARTS}
class Trainer:
    def __init__(self): self.model = Net()
trainer = Trainer()
f = torch.compile(trainer.model, backend='eager')
"""
CLOSED_OVER = f"""{PARTS}
def make(model): return torch.compile(lambda x: model(x), backend='eager')
f = make(net)
"""
COMPILED_ALONE = f"{PARTS}f = torch.compile(Net(), backend='eager')"
FORWARD_HOOK = "register_forward_hook(hook)"
ALL_BROKEN = f"[each.{FORWARD_HOOK} for each in (net[0], net[0].lin)]"
ALONE = PARTS + "f = torch.compile(lambda x: x * 2, backend='eager')"
ADVICE = (
    "Set `torch._dynamo.config.skip_nnmodule_hook_guards = False`, then `torch.compiler.reset()`"
)


@pytest.fixture
def cells(shell: Shell) -> Iterator[Shell]:
    torch.compiler.reset()
    with torch._dynamo.config.patch(skip_nnmodule_hook_guards=True):
        yield shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]
