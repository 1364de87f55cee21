"""Which of what a program computes is not used, or depends on no argument; nothing is compiled."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.graphs.tally import Usage, usage_of

N = 8
X = jnp.ones((N, N))
PRODUCT, EACH = 2.0 * N**3, 1.0 * N**2
inner = jax.jit(lambda x: (x @ x, jnp.tanh(x)))


def chosen(mask: Any, x: Any) -> Any:
    return jax.lax.select_n(mask, jnp.tanh(x), x @ x)


def printing(x: Any) -> Any:
    jax.debug.print("{}", jnp.tanh(x))
    return x


def turn(carry: Any, _: Any) -> Any:
    return jnp.tanh(carry), (carry @ carry, jnp.tanh(X @ X))


@pytest.mark.parametrize(
    ("function", "usage"),
    [
        (lambda x: x @ x, Usage(PRODUCT)),
        (lambda x: (x @ x, x)[1], Usage(PRODUCT, unused=PRODUCT)),
        (lambda x: inner(x)[1], Usage(PRODUCT + EACH, unused=PRODUCT)),
        # One use of each result of a function that is called twice keeps that one alone.
        (lambda x: (inner(x)[0], inner(x)[1]), Usage(2 * (PRODUCT + EACH), unused=PRODUCT + EACH)),
        (lambda x: x + jnp.tanh(X), Usage(2 * EACH, constant=EACH)),
        (lambda x: x + inner(X)[1], Usage(PRODUCT + 2 * EACH, unused=PRODUCT, constant=EACH)),
        (lambda x: x + jnp.tanh(jax.lax.mul(2.0, 3.0)), Usage(EACH + 2, constant=2)),
        (jax.nn.relu, Usage(EACH)),
        (printing, Usage(EACH)),
        (jax.jit(printing), Usage(EACH)),
        (lambda x: chosen(True, x), Usage(PRODUCT + 2 * EACH, unused=EACH)),
        (lambda x: chosen(False, x), Usage(PRODUCT + 2 * EACH, unused=PRODUCT)),
        (lambda x: chosen(x[0, 0] > 0, x), Usage(PRODUCT + 2 * EACH)),
        (lambda x: jax.jit(chosen, static_argnums=0)(True, x),
         Usage(PRODUCT + 2 * EACH, unused=EACH)),
        (lambda x: jax.lax.scan(turn, x, None, length=5)[0],
         Usage(2 * PRODUCT + 2 * EACH)),
        (lambda x: (jax.lax.scan(turn, x, None, length=5), x)[1],
         Usage(2 * PRODUCT + 2 * EACH, unused=2 * PRODUCT + 2 * EACH)),
        (lambda x: jax.lax.scan(turn, X, None, length=5)[0] + x,
         Usage(2 * PRODUCT + 3 * EACH, constant=2 * PRODUCT + 2 * EACH)),
        (lambda x: jax.lax.while_loop(lambda c: c[0, 0] < 0, jnp.tanh, x), Usage()),
        (lambda x: jax.lax.cond(x[0, 0] > 0, jnp.tanh, lambda c: c @ c, x), Usage()),
    ],
)  # fmt: skip
def test_work_is_told_apart_by_what_uses_it(function: Any, usage: Usage) -> None:
    closed = jax.make_jaxpr(function)(X)
    assert usage_of(closed) == usage
    assert usage_of(closed.jaxpr).written == usage.written
