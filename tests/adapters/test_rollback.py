"""Looks in a session with all frameworks: whose a program is, and that all is left as it was."""

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # changes the environment when it is loaded

import ipyjaxbench
from ipyjaxbench import SnippetError
from ipyjaxbench.graphs.diagnosis import UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

pytestmark = pytest.mark.usefixtures("frameworks_are_no_garbage")
COUNT = 0


class Session:
    """Code that changes something in every framework, and what it changes."""

    def __init__(self) -> None:
        self.buffer, self.variable = torch.zeros(3), tf.Variable(1.0)
        self.array, self.log = np.zeros(3), [0]
        self.model = torch.nn.Linear(2, 2)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.draws = np.random.default_rng(0), torch.Generator(), tf.random.Generator.from_seed(1)
        self.batches: list[float] = [1.0, 2.0, 3.0]
        self.calls = 0  # of code that was really run or traced
        calls = iter(range(1, 1000))

        def mixed(x: Any) -> Any:
            global COUNT
            COUNT += 1
            self.calls = next(calls)
            self.buffer.add_(1)
            self.variable.assign_add(1.0)
            self.array[:] += 1
            self.log.append(1)
            random.random(), np.random.rand(), torch.rand(2), tf.random.normal((2,))
            self.draws[0].random(), torch.rand(2, generator=self.draws[1])
            self.draws[2].normal((2,))
            train()
            return x * 2

        @tf.autograph.experimental.do_not_convert
        def train() -> None:
            self.optimizer.zero_grad()
            self.model(torch.ones(2)).sum().backward()
            self.optimizer.step()

        def fails(x: Any) -> Any:
            y = mixed(x)
            return x if bool((y > 0)[0]) else y

        def taken() -> Any:
            self.buffer.add_(1)
            random.random()
            return self.batches.pop()

        self.next_call = lambda: next(calls)
        self.names: dict[str, Any] = {
            "mixed": mixed, "fails": fails, "taken": taken, "self": self, "jax": jax, "jnp": jnp,
            "torch": torch, "tf": tf, "np": np, "ipyjaxbench": ipyjaxbench,
        }  # fmt: skip

    def left(self) -> Any:
        """All that the code changes."""
        numbers = [self.buffer, self.variable.numpy(), self.array, *self.model.parameters()]
        numbers += [torch.get_rng_state(), self.draws[1].get_state(), self.draws[2].state.numpy()]
        gradients = [each.grad is None for each in self.model.parameters()]
        drawn = random.getstate(), str(np.random.get_state()), self.draws[0].bit_generator.state
        held = [*self.log], [*self.batches], self.calls, len(self.optimizer.state), COUNT
        return [each.tolist() for each in numbers], gradients, drawn, held


@pytest.fixture
def session() -> Session:
    return Session()


LOOKS = [
    ("jax", "{}(jnp.ones(3))", {"stage": "optimized", "check": True, "stats": True}),
    ("jax", "{}(jnp.asarray(torch.randn(3).numpy() + taken()))", {}),
    ("torch", "{}(torch.randn(3))", {}),
    ("torch", "{}(torch.ones(3) * taken())", {"stage": "dynamo"}),
    ("tensorflow", "{}(tf.random.normal((3,)))", {}),
]


@pytest.mark.parametrize("function", ["mixed", "fails"])
@pytest.mark.parametrize(("framework", "code", "options"), LOOKS)
def test_a_look_leaves_everything_as_it_was(
    session: Session, framework: str, code: str, options: dict[str, Any], function: str
) -> None:
    before = session.left()
    try:
        source = Source.plain(code.format(function))
        found = trace_program(source, session.names, GraphOptions(**options), framework)
    except (UntraceableError, SnippetError):
        assert function == "fails" or options.get("stage") == "dynamo"
    else:
        assert session.left() == before
        for ask in (found.text, lambda: found.checks, lambda: found.memory):
            ask()
    assert session.left() == before
    assert session.next_call() > 1  # it was run indeed


@pytest.mark.parametrize(
    ("compiled", "x"),
    [(jax.jit, jnp.ones(3)), (tf.function, tf.ones(3)),
     (lambda f: torch.compile(f, fullgraph=True, backend="eager"), torch.ones(3))],
    ids=["jax", "tensorflow", "torch"],
)  # fmt: skip
def test_explaining_leaves_everything_as_it_was(
    session: Session, compiled: Callable[[Any], Any], x: Any
) -> None:
    def wrong(x: Any) -> Any:
        session.names["mixed"](x)
        return np.asarray(x).item()  # neither is possible while it is traced

    with pytest.raises(Exception) as raised:  # noqa: PT011  each framework has its own
        compiled(wrong)(x)
    before = session.left()
    why = ipyjaxbench.explain(raised.value)
    assert why.because
    assert session.left() == before


def test_what_only_the_tracing_framework_holds_is_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[Any] = []
    monkeypatch.setattr("ipyjaxbench.adapters.torch.storages._bits", copied.append)
    model = torch.nn.Linear(100, 100)
    names = {"model": model, "x": torch.ones(100)}
    assert trace_program(Source.plain("model(x)"), names, GraphOptions()).framework == "torch"
    assert copied == []


SETUP = """
import jax, jax.numpy as jnp, numpy as np, tensorflow as tf, torch
x, t, tt, h = jnp.ones(3), torch.ones(3), tf.ones(3), np.ones(3)
buf, v = torch.zeros(3), tf.Variable([1.0, 2.0])
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
jitted, graphed = jax.jit(lambda: jnp.ones(3)), tf.function(lambda: tf.ones(3))

def added(): buf.add_(1); return buf.sum()
def trained():
    opt.zero_grad()
    loss = model(t).sum() + torch.rand(1).sum()
    loss.backward()
    opt.step()
    return loss
def through(): return deeper()
def deeper(): return added()
def in_a_closure():
    def inner(): return buf.add_(1)
    return inner()
def assigned(): v.assign_add([1.0, 1.0]); return tf.reduce_sum(v)
def jax_then_torch(): jnp.ones(3); return torch.ones(3) + buf.add_(1)
def torch_then_jax(): torch.ones(3); return jnp.ones(3)
def doubled(value): return value * 2
def calls_jitted(): return jitted() + 1
class Trainer:
    def __init__(self): self.w = torch.zeros(3)
    def step(self): self.w += 1; return self.w.sum()
trainer = Trainer()

def state():
    return repr((
        buf, v.numpy(), list(model.state_dict().values()), opt.state_dict(),
        [p.grad for p in model.parameters()], trainer.w, torch.get_rng_state().sum(),
    ))
"""
CALLS = {
    "torch": ("trained()", "through()", "in_a_closure()", "trainer.step()", "model(t)",
              "doubled(t)", "buf.add_(1)", "torch.ones(3)", "jax_then_torch()"),
    "jax": ("torch_then_jax()", "calls_jitted()", "doubled(x)", "doubled(h)", "doubled(3)",
            "jnp.ones(3)", "jitted()"),
    "tensorflow": ("assigned()", "graphed()", "doubled(tt)", "doubled(v)", "tf.ones(3)"),
}  # fmt: skip


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(SETUP, names)
    return names


@pytest.mark.parametrize("whose", CALLS)
def test_a_program_is_that_of_the_framework_that_the_code_holds_and_calls(
    whose: str, names: dict[str, Any]
) -> None:
    before = names["state"]()
    for call in CALLS[whose]:
        found = trace_program(Source.plain(call), names, GraphOptions())
        assert (call, found.framework) == (call, whose)
        assert names["state"]() == before, call


def test_what_computes_no_array_is_said_to_be_no_program(names: dict[str, Any]) -> None:
    with pytest.raises(SnippetError, match="has no program: it computes no array"):
        trace_program(Source.plain("torch.get_num_threads()"), names, GraphOptions())
