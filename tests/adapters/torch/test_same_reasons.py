"""The reason for a trace is one: in `%%trace_cached`, and later in `%trace_cached --signatures`."""

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.retracing import TRACE_LOG
from ipyjaxbench.retracing.cache_key import describe_changes
from tests.adapters.torch.hooked import cells as cells
from tests.shell import Shell

NET = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.k = nn.Linear(2, 2), 2.0
    def forward(self, x): return self.l(x) * self.k
net, x = Net(), torch.ones(1, 2)
l = torch.ones(5)  # what the forward pass reads is an attribute of that name
c = torch.compile(net, backend='eager')
c(x)
"""
FORGET = "from ipyjaxbench.retracing import TRACE_LOG\nTRACE_LOG.clear()"  # as what nobody saw


@pytest.mark.parametrize(
    ("before", "call", "has", "lacks"),
    [
        ("net.eval()", "with torch.no_grad(): c(x)", "grad mode: on → off", "training"),
        ("net.k = 7.0", "c(x)", "self.k", "grad mode"),
        (f"{FORGET}\nnet.k = 7.0", "c(x)", "self.k", "first call"),
        ("with torch.no_grad(): c(x)\nnet.k = 7.0", "c(x)", "self.k", "grad mode"),
        ("l = torch.ones(7)", "c(x)", "", "global l"),
    ],
)
def test_both_magics_tell_it(cells: Shell, before: str, call: str, has: str, lacks: str) -> None:
    told = []
    for magic in ("", "%%trace_cached -v seen\n"):
        torch.compiler.reset()
        TRACE_LOG.clear()
        cells.names.pop("seen", None)
        cells.run(NET.replace("Net", f"Net{len(told)}"))
        cells.run(before)
        cells.run(f"{magic}{call}")
        cells.run("%trace_cached --signatures -v known")
        own = [e for e in cells.names["known"].traced if e.name == f"Net{len(told)}"]
        assert all("global l" not in each.arguments for each in own)
        told.append(describe_changes(own[-1].why))
    if (seen := cells.names["seen"].calls[-1]).state == "TRACED":
        assert describe_changes(seen.why) == told[1]
    assert told[0] == told[1]
    assert has in told[0]
    assert lacks not in told[0]
