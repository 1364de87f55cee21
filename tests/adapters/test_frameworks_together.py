"""Calls in a session that has JAX, PyTorch and TensorFlow: whose they are, what looking leaves."""

from typing import Any

import jax  # noqa: F401  importing them changes the environment, which no test may do
import pytest
import tensorflow as tf  # noqa: F401
import torch._dynamo  # noqa: F401

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

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
