"""What is new in a call, held against traces that were made before anything was recorded."""

import pytest
import tensorflow  # noqa: F401  # sets the environment when it is imported
import torch._dynamo  # noqa: F401

from ipyjaxbench.retracing import TRACE_LOG
from tests.shell import Shell

JAX = "import jax, jax.numpy as jnp\nones = jnp.ones\n@jax.jit\ndef f(x, k=1): return x * k"
TORCH = """import torch
ones = torch.ones
torch.compiler.reset()
@torch.compile(backend="eager", dynamic=False)
def f(x, k=1): return x * k"""
TENSORFLOW = """import tensorflow as tf
ones = tf.ones
@tf.function
def f(x, k=1): return x * k"""


@pytest.mark.parametrize("setup", [JAX, TORCH, TENSORFLOW], ids=["jax", "torch", "tf"])
@pytest.mark.parametrize("option", ["", "--predict"])
@pytest.mark.parametrize(
    ("before", "kind", "ending"), [("f(ones(3))", "shape", "x"), ("", "first", "")]
)
def test_a_call_is_held_against_what_nobody_saw_traced(
    shell: Shell, setup: str, option: str, before: str, kind: str, ending: str
) -> None:
    shell.run(f"{setup}\n{before}\ny = ones(4)")
    TRACE_LOG.clear()
    shell.run(f"%trace_cached -qv seen {option} f(y)")
    (why,) = shell.names["seen"].calls[0].why
    assert (why.kind, why.path[-1:]) == (kind, ending)
