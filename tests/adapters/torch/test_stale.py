"""`torch.compile` guards what it read: where that has changed it compiles anew, never stale."""

import pytest
import torch

from tests.shell import Shell

# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="aot_eager")(torch.ones(1))

CODE = """
scale, table = 2.0, {"k": 2.0}
def helper(x):
    return x * 2
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rate, self.calls = 2.0, 0
    def forward(self, x):
        return helper(x) * scale * table["k"] * self.rate
net = Net()
f = torch.compile(net, backend="eager", dynamic=False)
f(x)
"""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("scale = 3.0", "scale"),
        ("def helper(x):\n    return x * 3", "helper"),
        ("table['k'] = 3.0", "table['k']"),
        ("net.rate = 3.0", "self.rate"),
        ("scale = 3.0; scale = 2.0", ""),
        ("other = 3.0", ""),
    ],
)
def test_what_is_guarded_is_traced_anew(shell: Shell, change: str, told: str) -> None:
    torch._dynamo.reset()
    shell.names |= {"torch": torch, "x": torch.ones(3)}
    shell.run("pass")  # after a cell in which PyTorch is there, its traces are seen
    shell.run(CODE)
    shell.run(change)
    shell.run("%%trace_cached -qv seen\nf(x)")
    call = shell.names["seen"].calls[-1]
    assert call.state == ("TRACED" if told else "CACHED")
    assert told in " ".join(change.words() for change in call.why)
