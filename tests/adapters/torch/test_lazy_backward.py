"""Backward passes that PyTorch compiles when they first run, apart from their forward passes."""

import gc
from typing import Any

import pytest
import torch

from ipyjaxbench import TooManyTracesError, trace_cached
from ipyjaxbench.adapters.torch.retracing import lazy_backward
from ipyjaxbench.frameworks import private_work
from ipyjaxbench.reports import report
from ipyjaxbench.retracing.observe import keep_learning, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.usercode.snippet import Source
from tests.shell import Shell
from tests.traced import observed

torch.compile(torch.sin, backend="aot_eager")(torch.ones(1))  # loads dynamo

pytestmark = pytest.mark.skipif(
    not hasattr(torch._dynamo.callback, "CallbackTrigger"), reason="this version does not say so"
)
CELL = """
@torch.compile(backend="aot_eager")
def f(x): return (x * x.sin()).sum()
@torch.compile(backend="aot_eager")
def of_two(x):
    y = (x * 2).sin().sum()
    torch._dynamo.graph_break()
    return x.cos().sum()
class Net(torch.nn.Linear):
    def forward(self, x): return super().forward(x).sin()
net = Net(3, 1)
net.compile(backend="aot_eager")
x = torch.ones(3, requires_grad=True)
"""


@pytest.fixture
def names() -> dict[str, Any]:
    """Functions that are not compiled yet.

    By file and line dynamo knows sizes of another test's, and for any size it compiles both passes.
    """
    torch._dynamo.reset()
    keep_learning()
    names: dict[str, Any] = {"torch": torch}
    exec(CELL, names)
    return names


@pytest.mark.parametrize(
    ("before", "code", "name"),
    [
        ("f(x)", "f(x).backward()", "f backward"),
        ("f(x)", "f(x).sum().backward()", "f backward"),
        ("loss = f(x)", "loss.backward()", "f backward"),
        ("loss = f(x)", "torch.autograd.grad(loss, x)", "f backward"),
        ("loss = net(x)", "loss.backward()", "Net backward"),
    ],
)
def test_it_is_no_cache_hit_and_told_by_its_function(
    names: dict[str, Any], before: str, code: str, name: str
) -> None:
    exec(before, names)
    found = observed(f"\n{code}", names)
    (call,) = (each for each in found.calls if each.state != "CACHED")
    assert (call.name, call.state, call.line) == (name, "COMPILED", 2)
    assert [change.words() for change in call.why] == ["first backward pass"]
    assert call.seconds == sum(call.phases.values()) > 0
    assert (found.compilations, found.internal) == (1, ())
    assert report(found).blocks[0].verdict == "COMPILED"
    exec(before, names)
    assert observed(code, names).compilations == 0


def test_one_trace_is_too_many_where_none_may_be(names: dict[str, Any]) -> None:
    names["f"](names["x"])
    _, error = observe_code(Source.plain("f(x).backward()"), names, TraceOptions(most=0))
    assert str(error) == (
        "`f backward` was compiled 1 time, limit 0. Reason in line 1: first backward pass"
    )
    other = names["of_two"](names["x"])
    with pytest.raises(TooManyTracesError), trace_cached(max_traces=0):
        other.backward()


def test_compiled_with_its_forward_pass_it_is_part_of_that_trace(names: dict[str, Any]) -> None:
    with trace_cached(max_traces=1) as seen:
        names["f"](names["x"]).backward()
    (call,) = seen.traces.calls
    assert (call.name, call.state, "compile" in call.phases) == ("f", "TRACED", True)
    loss = names["net"](names["x"])
    with trace_cached() as seen:
        loss.backward()
    assert [call.name for call in seen.traces.calls] == ["Net backward"]


def test_a_look_tells_the_one_of_a_call_within_it_as_a_program_outside(
    names: dict[str, Any],
) -> None:
    found = observed("f(x).backward()", names)
    assert [call.name for call in found.calls] == ["f"]
    assert [program.name for program in found.internal] == ["f backward"]


def test_below_a_cell_a_line_tells_it(shell: Shell) -> None:
    keep_learning()
    shell.names["torch"] = torch
    shell.run(CELL + "f(x)")
    shell.run("%trace_cached --watch on")
    shell.run("f(x).backward()")
    told = shell.shown[-1].data["text/plain"]
    assert told.startswith("traced: f backward (first backward pass), in ")
    shell.run("f(x).backward()")
    assert shell.shown == []
    shell.run("%trace_cached --watch off")


def test_the_one_of_a_private_call_is_private(names: dict[str, Any]) -> None:
    with private_work():
        loss = names["f"](names["x"])
    before = TRACE_LOG.event_count
    loss.backward()  # another thread may run it
    assert TRACE_LOG.event_count == before


def test_of_a_program_that_is_gone_nothing_is_kept(names: dict[str, Any]) -> None:
    def kept() -> int:
        return sum(each.name == "short_lived" for each in lazy_backward._forwards.values())

    exec(CELL.replace("f(x)", "short_lived(x)") + "loss = short_lived(x)", names)
    assert kept() == 1
    del names["short_lived"], names["loss"]  # dynamo removes its own
    torch._dynamo.reset()
    gc.collect()
    assert kept() == 0


def test_after_a_reset_it_is_told_again(names: dict[str, Any]) -> None:
    torch._dynamo.reset()
    names["loss"] = names["f"](names["x"])
    assert [call.name for call in observed("loss.backward()", names).calls] == ["f backward"]
