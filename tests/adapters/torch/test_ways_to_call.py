"""Each call of what torch.compile made is seen, and can be made again after any magic."""

import functools
import warnings
from pathlib import Path

import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.shell import Shell
from tests.ways_to_call import HELPER, WAYS, wrong

_NET = """\
class Net(torch.nn.Module):
    def forward(self, x): return x * 2 - 1
net = Net()
"""
_IN_PLACE = f"{_NET}net.compile(backend='eager')"
OWN = {
    "compiled module": (f"{_NET}net = compiles(net)", "net(x)"),
    "map of a compiled module": (f"{_NET}net = compiles(net)", "list(map(net, [x]))"),
    "forward of a compiled module": (f"{_NET}g = compiles(net).forward", "g(x)"),
    "map of that": (f"{_NET}g = compiles(net).forward", "list(map(g, [x]))"),
    "compiled forward": (f"{_NET}g = compiles(net.forward)", "g(x)"),
    "compiled __call__": (f"{_NET}g = compiles(net.__call__)", "list(map(g, [x]))"),
    "module compiled twice": (f"{_NET}g = compiles(compiles(net))", "g(x)"),
    "copy of a compiled module": (f"{_NET}import copy; g = copy.copy(compiles(net))", "g(x)"),
    "forward compiled in place": (f"{_NET}net.forward = compiles(net.forward)", "net(x)"),
    "forward compiled in its class": (f"{_NET}Net.forward = compiles(Net.forward)", "net(x)"),
    "module compiled in place": (_IN_PLACE, "net(x)"),
    "map of a module compiled in place": (_IN_PLACE, "list(map(net, [x]))"),
    "part of an eager module": (f"{_NET}net = torch.nn.Sequential(compiles(net))", "net(x)"),
    "hook of autograd": (
        "w = torch.ones(3, requires_grad=True); h = w.register_hook(f)",
        "(w * 2).sum().backward()",
    ),
}


@pytest.fixture
def cells(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    TRACE_LOG.clear()
    compiles = functools.partial(torch.compile, backend="eager")
    shell.names.update(compiles=compiles, of_method=compiles, x=torch.ones(3), torch=torch)
    return shell


def test_each_way_is_a_trace_and_cache_hits(cells: Shell) -> None:
    assert wrong(cells, WAYS | OWN) == {}


#: Modules that are not compiled around such that are.
_AROUND = """\
class Net(torch.nn.Module):
    def forward(self, x): return (x * 2).sin()
class Broken(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2
class Holder(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x): return self.inner(x)
net, broken = Holder(compiles(Net())), Holder(compiles(Broken()))
f, rows = compiles(lambda x: x * 3), torch.ones(4, requires_grad=True)
in_place = Net()
in_place.compile(backend="aot_eager")
"""


@pytest.mark.parametrize(
    "call",
    [
        "net(x)",
        "broken(x)",
        "torch.nn.Sequential(net)(x)",
        "torch.nn.Sequential(in_place)(x)",
        "list(map(f, [rows]))[0].sum().backward()",
        "net(rows).sum().backward()",
    ],
)
def test_what_is_compiled_by_other_code_counts_once(cells: Shell, call: str) -> None:
    cells.names["compiles"] = functools.partial(torch.compile, backend="aot_eager")
    cells.run(_AROUND)
    cells.run(f"%%trace_cached -qv looked\n{call}\n{call}")
    found = cells.names["looked"]
    assert [call.state for call in found.calls] == ["TRACED", "CACHED"]
    assert (found.internal, found.compiling > 0) == ((), True)


#: It breaks the graph, so that the compiler keeps a function for what follows too.
BROKEN = """\
def f(q):
    q = torch.sin(q) + 1
    torch._dynamo.graph_break()
    return q * 2
compiled, longer = compiles(f), torch.ones(7)
"""


@pytest.mark.parametrize("use", [
    "%%fwcompare -q -b 0.05\na: compiled(longer)\nb: f(longer)",
    "%%fwcompare -q --keep-going -b 0.05\na: compiled(x)\nb: 1 / 0",
    "%%fwcompare -q -b 0.05 --sweep n=2,3\ny = x[:n]\na: compiled(y)\nb: f(y)",
    "%%trace_cached -q\ncompiled(x)",
])  # fmt: skip
def test_a_compiled_function_can_be_called_afterwards(cells: Shell, use: str) -> None:
    """Names that PyTorch's compiler keeps in the session stay."""
    cells.run(BROKEN)
    cells.run(use)
    cells.run("again, other = compiled(x), compiled(longer)")
    assert torch.equal(cells.names["again"], cells.names["f"](torch.ones(3)))
    assert len(cells.names["other"]) == 7
    torch._dynamo.reset()


def test_a_warning_that_a_compiled_function_gives_has_the_users_line(shell: Shell) -> None:
    shell.names["torch"] = torch
    register = torch.nn.modules.module.register_module_forward_hook
    shell.run("net = torch.compile(torch.nn.Linear(1, 1), backend='eager')")
    handle = register(lambda *_: None)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            shell.run("%%trace_cached -q\n1\nnet(torch.ones(1))\nnet(torch.ones(1))")
    finally:
        handle.remove()
    places = [(each.filename.startswith("<ipython-input"), each.lineno) for each in caught
              if "global hooks" in str(each.message)]  # fmt: skip
    assert places == [(True, 3), (True, 4)]
