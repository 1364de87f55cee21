"""What to do about code that compiles in every call: it depends on who makes the function."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
import tensorflow as tf
import torch

from ipyjaxbench import measure_code

# What compiling takes is real, and so is what it is a share of.
pytestmark = pytest.mark.usefixtures("real_clock")
SETUP = """
sizes = list(range(2, 200))
def grown(make): sizes.append(sizes.pop(0)); return make(sizes[0])
summed = jax.jit(jnp.sum)
scaled = jax.jit(lambda x, n: x * n, static_argnums=1)
@torch.compile(backend="eager", dynamic=False)
def of_torch(x): return x.sum()
@tf.function
def of_tensorflow(x): return [x := tf.sin(x) for _ in range(40)][-1]
def call_summed(): return grown(lambda n: summed(jnp.ones(n)))
def call_scaled(): return grown(lambda n: scaled(ones, n))
def call_of_torch(): return grown(lambda n: of_torch(torch.ones(n)))
def call_of_tensorflow(): return grown(lambda n: of_tensorflow(float(n)))
def build(): return jax.jit(lambda x: x + 1)(ones)
def join(): return grown(lambda n: jnp.concatenate([ones, jnp.ones(n)]))
ones = jnp.ones(7)
"""


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    found: dict[str, Any] = {"jax": jax, "jnp": jnp, "torch": torch, "tf": tf}
    exec(SETUP, found)
    return found


@pytest.mark.parametrize(
    ("code", "function"),
    [
        ("call_summed()", "summed"),
        ("call_scaled()", "scaled"),
        ("call_of_torch()", "of_torch"),
        ("call_of_tensorflow()", "of_tensorflow"),
    ],
)
def test_a_function_that_is_made_once_is_to_get_the_same_again(
    names: dict[str, Any], code: str, function: str
) -> None:
    assert _advice(code, names).startswith(f"give {function} the same shapes and static values")


@pytest.mark.parametrize("code", ["build()", "jax.jit(lambda x: x * 2)(ones)"])
def test_a_function_that_the_code_makes_is_to_be_made_once(
    names: dict[str, Any], code: str
) -> None:
    assert _advice(code, names).endswith("once, outside, and time its call")


def test_without_a_function_of_the_users_both_may_be_meant(names: dict[str, Any]) -> None:
    assert _advice("join()", names).startswith("keep all shapes the same in each call, or create")


def _advice(code: str, names: dict[str, Any]) -> str:
    notes = measure_code(code, names, number=1, repeat=4).notes
    (note,) = [each for each in notes if each.code == "recompiles"]
    return note.advice
