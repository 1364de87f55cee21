"""Floating-point operations of single equations, counted by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from ipyjaxbench.adapters.jax.graphs.tally import Tally

X = jnp.ones((3, 4))
COMPLEX = X.astype("complex64")
IMAGE = jnp.ones((2, 3, 8, 8))  # two of three channels
KERNEL = jnp.ones((5, 3, 2, 4))  # of five channels: 3 * 2 * 4 products for each number


def convolved(**options: Any) -> Any:
    no_padding = ((0, 0), (0, 0))
    return lambda image, kernel: lax.conv_general_dilated(
        image, kernel, (1, 1), no_padding, dimension_numbers=("NCHW", "OIHW", "NCHW"), **options
    )


@pytest.mark.parametrize(
    ("function", "args", "flops"),
    [
        (convolved(), (IMAGE, KERNEL), 2 * (2 * 5 * 7 * 5) * (3 * 2 * 4)),
        (convolved(), (IMAGE, KERNEL[:1]), 2 * (2 * 1 * 7 * 5) * (3 * 2 * 4)),
        (convolved(), (IMAGE, KERNEL[:0]), 0),
        # Each group of channels has a kernel of its own.
        (convolved(feature_group_count=3), (IMAGE, jnp.ones((6, 1, 2, 4))),
         2 * (2 * 6 * 7 * 5) * (1 * 2 * 4)),
        # Of the pixels of a dilated image (15 by 22) one in six is none that was put between.
        (convolved(lhs_dilation=(2, 3)), (IMAGE, KERNEL), 2 * (2 * 5 * 14 * 19) * (3 * 2 * 4) / 6),
        (lambda x: x @ x.T, (X,), 2 * 3 * 3 * 4),
        (lambda x: x.sum(), (X,), 12),
        (lambda x: x.at[0].set(1.0), (X,), 0),
        (jnp.transpose, (X,), 0),
    ],
)  # fmt: skip
def test_operations_are_those_counted_by_hand(function: Any, args: Any, flops: float) -> None:
    tally = Tally(jax.make_jaxpr(function)(*args))
    of_indices = sum(each for name, each in tally.steps if name in ("lt", "add", "select_n"))
    assert tally.flops - of_indices == flops


@pytest.mark.parametrize(
    ("function", "each"),
    [(lambda x: x + x, 2), (lambda x: x - x, 2), (jnp.negative, 2), (lambda x: x * x, 6),
     (lambda x: x / x, 11), (lax.abs, 4), (lax.exp, 1), (lax.cumsum, 2), (lambda x: x.sum(), 2)],
)  # fmt: skip
def test_one_operation_of_complex_numbers_is_so_many_of_real_ones(
    function: Any, each: float
) -> None:
    tally = Tally(jax.make_jaxpr(function)(COMPLEX))
    assert tally.flops == 12 * each
    assert tally.of_complex == 12 * (each - 1)
    real = Tally(jax.make_jaxpr(function)(X))
    assert (real.flops, real.of_complex) == (12, 0)


def test_a_product_of_complex_numbers_is_four_products_and_their_sums() -> None:
    tally = Tally(jax.make_jaxpr(lambda x: x @ x.T)(COMPLEX))
    assert (tally.flops, tally.of_complex, tally.certain) == (4 * 72, 3 * 72, 72)
