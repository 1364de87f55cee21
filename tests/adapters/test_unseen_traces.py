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
ALL = pytest.mark.parametrize("setup", [JAX, TORCH, TENSORFLOW], ids=["jax", "torch", "tf"])
OPTION = pytest.mark.parametrize("option", ["", "--predict"])


@ALL
@OPTION
def test_a_call_differs_from_what_nobody_saw_traced(shell: Shell, setup: str, option: str) -> None:
    shell.run(f"{setup}\nf(ones(3))\ny = ones(4)")
    TRACE_LOG.clear()
    shell.run(f"%trace_cached -qv seen {option} f(y)")
    call = shell.names["seen"].calls[0]
    assert [(each.kind, each.path[-1]) for each in call.why] == [("shape", "x")]


@ALL
@OPTION
def test_a_first_call_is_the_first_one(shell: Shell, setup: str, option: str) -> None:
    shell.run(f"{setup}\ny = ones(4)")
    TRACE_LOG.clear()
    shell.run(f"%trace_cached -qv seen {option} f(y)")
    call = shell.names["seen"].calls[0]
    assert [each.words() for each in call.why] == ["first call"]
