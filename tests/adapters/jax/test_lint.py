"""What a program holds that its author may not expect; its equal twin has nothing to say."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.usercode.call import Call

X, KEY = jnp.ones((4, 4)), jax.random.key(0)
RAW = jax.random.PRNGKey(0)
BIG = jnp.ones((600, 600))
NARROW = X.astype(jnp.bfloat16)


def codes(function: Callable[..., Any], *args: Any) -> dict[str, str]:
    found = trace_call(Call.of(function, *args), GraphOptions(check=True))
    return {note.code: note.text for note in found.notes}


def unrolled(x: Any) -> Any:
    for _ in range(20):
        x = jnp.tanh(x @ x)
    return x


def looped(x: Any) -> Any:
    return jax.lax.fori_loop(0, 20, lambda _, v: jnp.tanh(v @ v), x)


def printed(x: Any) -> Any:
    jax.debug.print("{}", x.sum())
    return x


def twice(key: Any) -> Any:
    return jax.random.normal(key) + jax.random.normal(key)


def folded(key: Any) -> Any:
    one, other = jax.random.fold_in(key, 1), jax.random.fold_in(key, 2)
    return jax.random.normal(one) + jax.random.normal(other)


def mixed(narrow: Any, x: Any) -> Any:
    return narrow * x


def split(key: Any) -> Any:
    first, second = jax.random.split(key)
    return jax.random.normal(first) + jax.random.normal(second)


def by_number(a: Any) -> Any:
    return a * np.float32(2)


def by_array(a: Any) -> Any:
    return a * np.ones(4, np.float32)


def by_array_asked_for(a: Any) -> Any:
    return a.astype(
        np.float32,
    ) * np.ones(4, np.float32)


def by_keyword(a: Any) -> Any:
    return a + jnp.zeros(4, dtype="float32")


def as_array(a: Any) -> Any:
    return jnp.asarray(a, jnp.float32) + 1


def product(a: Any, b: Any) -> Any:
    return a @ b


def picked(a: Any, b: Any) -> Any:
    return jnp.where(a > 0, a, b)


def summed(a: Any) -> Any:
    return a.sum() + jnp.mean(a, dtype=jnp.float32).astype(a.dtype)


@pytest.mark.parametrize(
    ("code", "bad", "good"),
    [
        ("baked-in", (lambda x: x @ BIG, jnp.ones((2, 600))),
         (lambda x, big: x @ big, jnp.ones((2, 600)), BIG)),
        ("unrolled", (unrolled, X), (looped, X)),
        ("weak-output", (lambda x: x * 2, 1.0), (lambda x: x * 2, X)),
        ("called-back", (printed, X), (lambda x: x, X)),
        ("low-precision", (jnp.dot, NARROW, NARROW), (jnp.dot, X, X)),
        ("low-precision", (jnp.dot, NARROW, NARROW),
         (lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.float32), NARROW, NARROW)),
        ("donated-unused", (jax.jit(lambda x: x.sum(), donate_argnums=0), X),
         (jax.jit(lambda x: x + 1, donate_argnums=0), X)),
        ("key-reused", (twice, KEY), (split, KEY)),
        ("key-reused", (twice, RAW), (split, RAW)),
        ("key-reused", (twice, RAW), (folded, RAW)),
        ("promoted", (mixed, NARROW, X), (mixed, NARROW, NARROW)),
        ("promoted", (mixed, NARROW, X), (lambda a, b: a.astype(b.dtype) * b, NARROW, X)),
        ("promoted", (by_number, NARROW), (lambda a: a * 2, NARROW)),
        ("promoted", (by_array, NARROW), (by_array_asked_for, NARROW)),
        ("promoted", (by_keyword, NARROW), (as_array, NARROW)),
        ("promoted", (product, NARROW, X), (product, NARROW, NARROW)),
        ("promoted", (picked, NARROW, X), (summed, NARROW)),
        ("recomputed", (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), 1.0),
         (jax.grad(lambda x: jnp.sin(jnp.sin(x))), 1.0)),
    ],
)  # fmt: skip
def test_it_is_found_and_the_equal_twin_is_left_alone(code: str, bad: tuple, good: tuple) -> None:
    assert code in codes(*bad)
    assert code not in codes(*good)


def test_the_line_and_the_number_of_turns_are_told() -> None:
    text = codes(unrolled, X)["unrolled"]
    assert "'x = jnp.tanh(x @ x)', was traced 20 times: 40 equations" in text


@pytest.mark.parametrize("key", [KEY, RAW])
def test_the_line_that_uses_a_key_again_is_told(key: Any) -> None:
    line = twice.__code__.co_firstlineno + 1
    assert f"line {line}: return jax.random.normal(key) +" in codes(twice, key)["key-reused"]


def test_nothing_is_looked_for_unless_asked() -> None:
    found = trace_call(Call.of(twice, KEY), GraphOptions())
    assert found.notes == ()


def test_arrays_of_numpy_are_told_as_well() -> None:
    big = np.ones((600, 600), np.float32)
    assert codes(lambda x: x @ big, jnp.ones((2, 600)))["baked-in"].startswith(
        "f32[600,600], 1.37 MiB, was captured"
    )
