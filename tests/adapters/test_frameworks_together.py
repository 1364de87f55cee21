"""Calls in a kernel that has JAX, PyTorch and TensorFlow: whose they are, what looking leaves."""

from collections.abc import Iterator

import pytest

from tests.jupyter.kernel import Kernel

SETUP = """
import random, jax, jax.numpy as jnp, numpy as np, tensorflow as tf, torch
x, t, tt, h = jnp.ones(3), torch.ones(3), tf.ones(3), np.ones(3)
buf, v, grown, seen = torch.zeros(3), tf.Variable([1.0, 2.0]), np.zeros(3), []
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
generator = torch.Generator()
jitted, graphed = jax.jit(lambda: jnp.ones(3)), tf.function(lambda: tf.ones(3))

def added(): buf.add_(1); return buf.sum()
def trained():
    opt.zero_grad()
    loss = model(t).sum() + torch.rand(1).sum()
    loss.backward()
    opt.step()
    return loss
def through(): return deeper()
def deeper(): return deepest()
def deepest(): return added()
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
        buf, v.numpy(), grown, seen, list(model.state_dict().values()), opt.state_dict(),
        [p.grad for p in model.parameters()], trainer.w, torch.get_rng_state().sum(),
        generator.get_state().sum(), random.getstate()[1][-1], np.random.get_state()[2],
    ))
"""


@pytest.fixture(scope="module")
def together() -> Iterator[Kernel]:
    kernel = Kernel()
    shown = kernel.run("%load_ext ipyjaxbench\n" + SETUP)
    assert shown.status == "ok", shown.error
    yield kernel
    kernel.close()


def read(kernel: Kernel, expression: str) -> str:
    shown = kernel.run(expression)
    assert shown.status == "ok", shown.error
    return str(shown.results[-1]["text/plain"])


@pytest.mark.parametrize(
    ("call", "whose"),
    [
        ("added()", "torch"), ("trained()", "torch"), ("through()", "torch"),
        ("in_a_closure()", "torch"), ("trainer.step()", "torch"), ("model(t)", "torch"),
        ("doubled(t)", "torch"), ("buf.add_(1)", "torch"), ("torch.ones(3)", "torch"),
        ("jax_then_torch()", "torch"), ("torch_then_jax()", "jax"), ("calls_jitted()", "jax"),
        ("doubled(x)", "jax"), ("doubled(h)", "jax"), ("doubled(3)", "jax"),
        ("jnp.ones(3)", "jax"), ("jitted()", "jax"), ("assigned()", "tensorflow"),
        ("graphed()", "tensorflow"), ("doubled(tt)", "tensorflow"), ("doubled(v)", "tensorflow"),
        ("tf.ones(3)", "tensorflow"),
    ],
)  # fmt: skip
def test_a_program_is_that_of_the_framework_that_the_code_holds_and_calls(
    call: str, whose: str, together: Kernel
) -> None:
    before = read(together, "state()")
    shown = together.run(f"found = %jaxpr -q {call}")
    assert shown.status == "ok", shown.text
    assert read(together, "found.framework") == repr(whose)
    assert read(together, "state()") == before


def test_what_computes_no_array_is_said_to_be_no_program(together: Kernel) -> None:
    shown = together.run("%jaxpr torch.get_num_threads()")
    assert "has no program: it computes no array" in shown.text
