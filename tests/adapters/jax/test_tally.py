"""What is counted for certain in a program, by dtype, and how large a program may be for that."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

from ipyjaxbench.adapters.jax.graphs.tally import Tally, TooLargeError, Usage, usage_of

X = jnp.ones((4, 4))
PRODUCT = 2.0 * 4**3


def tally(function: Any, *args: Any) -> Tally:
    return Tally(jax.make_jaxpr(function)(*args))


@pytest.mark.parametrize(
    ("function", "flops", "certain"),
    [
        (lambda x: x @ x, PRODUCT, PRODUCT),
        (jax.jit(lambda x: x @ x), PRODUCT, PRODUCT),
        (lambda x: lax.scan(lambda c, _: (c @ c, None), x, None, 5)[0], 5 * PRODUCT, 5 * PRODUCT),
        (lambda x: lax.cond(x.sum() > 0, lambda c: c @ c, lambda c: c, x), PRODUCT + 16, 16),
        (lambda x: lax.while_loop(lambda c: c.sum() < 0, lambda c: c @ c, x), PRODUCT + 16, 0),
    ],
)
def test_what_branches_and_loops_without_a_known_end_compute_is_not_certain(
    function: Any, flops: float, certain: float
) -> None:
    counted = tally(function, X)
    assert (counted.flops, counted.certain) == (flops, certain)
    is_certain = certain >= PRODUCT
    assert counted.products == ({"float32": certain} if is_certain else {})


def test_a_product_counts_in_the_dtype_of_what_stands_first() -> None:
    narrow = X.astype("bfloat16")
    assert tally(jnp.matmul, narrow, X).products == {"bfloat16": PRODUCT}
    assert tally(jnp.matmul, X, narrow).products == {"float32": PRODUCT}


def test_a_program_that_computes_nothing_has_no_usage() -> None:
    assert tuple(usage_of(jax.make_jaxpr(lambda x: x)(X))) == (0, 0, 0)
    assert tuple(Usage()) == (0, 0, 0)


def test_what_a_callback_gives_is_no_constant() -> None:
    def drawn(x: Any) -> Any:
        return x + jnp.tanh(io_callback(lambda: np.float32(1), jax.ShapeDtypeStruct((), "float32")))

    assert usage_of(jax.make_jaxpr(drawn)(X)) == Usage(written=1 + 16)


@pytest.mark.parametrize(("more", "is_counted"), [(1, True), (2, False)])
def test_usage_is_counted_up_to_20001_equations(more: int, is_counted: bool) -> None:
    @jax.jit
    def thousand(x: Any) -> Any:
        for _ in range(1000):
            x = x * 2
        return x

    def program(x: Any) -> Any:
        for _ in range(20):
            x = thousand(x)
        return x + 1 if more == 1 else x + 1 + 1

    closed = jax.make_jaxpr(program)(1.0)
    if is_counted:
        assert usage_of(closed) == Usage(written=20_001)
    else:
        with pytest.raises(TooLargeError):
            usage_of(closed)


def test_bytes_of_a_line_are_those_of_what_its_equations_take_and_give() -> None:
    def product(x: Any) -> Any:
        y = x @ x
        return lax.scan(lambda c, _: (c + 1.0, None), y, None, 3)[0]

    one, other = tally(product, X).lines()
    assert (one.name, one.nbytes) == ("y = x @ x", 3 * X.nbytes)
    assert other.nbytes == 3 * 2 * X.nbytes


def test_a_function_of_a_library_costs_at_the_line_that_calls_it() -> None:
    def act(x: Any) -> Any:
        y = jax.nn.relu(x)
        return y + 1

    assert [line.name for line in tally(act, X).lines()] == ["y = jax.nn.relu(x)", "return y + 1"]
