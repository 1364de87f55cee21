"""What is counted in a program, by hand or as XLA counts: operations, certain and unused ones."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

from ipyjaxbench.adapters.jax.graphs.compiled_work import cost_analysis
from ipyjaxbench.adapters.jax.graphs.tally import Tally, TooLargeError, Usage, usage_of

X = jnp.ones((4, 4))
PRODUCT = 2.0 * 4**3


def tally(function: Any, *args: Any) -> Tally:
    return Tally(jax.make_jaxpr(function)(*args))


@pytest.mark.parametrize(("function", "flops", "certain"), [
    (lambda x: x @ x, PRODUCT, PRODUCT),
    (jax.jit(lambda x: x @ x), PRODUCT, PRODUCT),
    (lambda x: lax.scan(lambda c, _: (c @ c, None), x, None, 5)[0], 5 * PRODUCT, 5 * PRODUCT),
    (lambda x: lax.cond(x.sum() > 0, lambda c: c @ c, lambda c: c, x), PRODUCT + 16, 16),
    (lambda x: lax.while_loop(lambda c: c.sum() < 0, lambda c: c @ c, x), PRODUCT + 16, 0),
])  # fmt: skip
def test_what_branches_and_loops_without_a_known_end_compute_is_not_certain(
    function: Any, flops: float, certain: float
) -> None:
    counted = tally(function, X)
    assert (counted.flops, counted.certain) == (flops, certain)
    assert counted.products == ({"float32": certain} if certain >= PRODUCT else {})


def test_products_count_in_the_first_dtype_and_complex_ones_four_times() -> None:
    narrow = X.astype("bfloat16")
    assert tally(jnp.matmul, narrow, X).products == {"bfloat16": PRODUCT}
    assert tally(jnp.matmul, X, narrow).products == {"float32": PRODUCT}
    counted = Tally(jax.make_jaxpr(lambda x: x @ x.T)(COMPLEX))
    assert (counted.flops, counted.of_complex, counted.certain) == (4 * 72, 3 * 72, 72)


def test_what_computes_nothing_or_calls_back_uses_no_constant() -> None:
    assert usage_of(jax.make_jaxpr(lambda x: x)(X)) == Usage()
    assert not any(Usage())

    def drawn(x: Any) -> Any:
        return x + jnp.tanh(io_callback(lambda: np.float32(1), jax.ShapeDtypeStruct((), "float32")))

    assert usage_of(jax.make_jaxpr(drawn)(X)) == Usage(written=1 + 16)


def test_usage_is_counted_up_to_20001_equations() -> None:
    @jax.jit
    def thousand(x: Any) -> Any:
        for _ in range(1000):
            x = x * 2
        return x

    def program(x: Any) -> Any:
        for _ in range(20):
            x = thousand(x)
        return x + 1

    assert usage_of(jax.make_jaxpr(program)(1.0)) == Usage(written=20_001)
    with pytest.raises(TooLargeError):
        usage_of(jax.make_jaxpr(lambda x: program(x) + 1)(1.0))


def test_costs_stand_at_the_lines_that_call() -> None:
    def product(x: Any) -> Any:
        y = x @ x
        return lax.scan(lambda c, _: (c + 1.0, None), y, None, 3)[0]

    one, other = tally(product, X).lines()
    assert (one.name, one.nbytes) == ("y = x @ x", 3 * X.nbytes)
    assert other.nbytes == 3 * 2 * X.nbytes

    (act,) = tally(lambda x: jax.nn.relu(x), X).lines()  # noqa: PLW0108  a line of the user's
    assert "jax.nn.relu(x)" in act.name


EACH = 16.0
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
        (lambda x: inner(x)[1], Usage(PRODUCT + EACH, unused=PRODUCT)),
        # One use of each result of a function that is called twice keeps that one alone.
        (lambda x: (inner(x)[0], inner(x)[1]), Usage(2 * (PRODUCT + EACH), unused=PRODUCT + EACH)),
        (lambda x: x + inner(X)[1], Usage(PRODUCT + 2 * EACH, unused=PRODUCT, constant=EACH)),
        (lambda x: x + jnp.tanh(jax.lax.mul(2.0, 3.0)), Usage(EACH + 2, constant=2)),
        (jax.nn.relu, Usage(EACH)),
        (jax.jit(printing), Usage(EACH)),
        (lambda x: chosen(True, x), Usage(PRODUCT + 2 * EACH, unused=EACH)),
        (lambda x: chosen(False, x), Usage(PRODUCT + 2 * EACH, unused=PRODUCT)),
        (lambda x: chosen(x[0, 0] > 0, x), Usage(PRODUCT + 2 * EACH)),
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


OBLONG = jnp.ones((3, 4))
COMPLEX = OBLONG.astype("complex64")
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
        (lambda x: x @ x.T, (OBLONG,), 2 * 3 * 3 * 4),
        (lambda x: x.sum(), (OBLONG,), 12),
        (lambda x: x.at[0].set(1.0), (OBLONG,), 0),
        (jnp.transpose, (OBLONG,), 0),
    ],
)  # fmt: skip
def test_operations_are_those_counted_by_hand(function: Any, args: Any, flops: float) -> None:
    counted = Tally(jax.make_jaxpr(function)(*args))
    of_indices = sum(each for name, each in counted.steps if name in ("lt", "add", "select_n"))
    assert counted.flops - of_indices == flops


@pytest.mark.parametrize(
    ("function", "each"),
    [(lambda x: x + x, 2), (lambda x: x - x, 2), (jnp.negative, 2), (lambda x: x * x, 6),
     (lambda x: x / x, 11), (lax.abs, 4), (lax.exp, 1), (lax.cumsum, 2), (lambda x: x.sum(), 2)],
)  # fmt: skip
def test_one_operation_of_complex_numbers_is_so_many_of_real_ones(
    function: Any, each: float
) -> None:
    counted = Tally(jax.make_jaxpr(function)(COMPLEX))
    assert counted.flops == 12 * each
    assert counted.of_complex == 12 * (each - 1)
    real = Tally(jax.make_jaxpr(function)(OBLONG))
    assert (real.flops, real.of_complex) == (12, 0)


PLANE = jnp.ones((8, 9))
IMAGES = jnp.ones((1, 16, 16, 3))


def count_of_xla(function: Any, *args: Any) -> float:
    """What XLA counts in the program as it is handed over, before it is changed."""
    return float(cost_analysis(jax.jit(function).lower(*args))["flops"])


def windows(size: Any, strides: Any, padding: Any, by: Any = lax.add, **dilation: Any) -> Any:
    start = -np.inf if by is lax.max else 0
    return lambda x: lax.reduce_window(
        x, np.asarray(start, x.dtype), by, size, strides, padding, **dilation
    )


AVERAGE = windows((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
LARGEST = windows((1, 3, 3, 1), (1, 1, 1, 1), "SAME", lax.max)


def pulled_back(function: Any, x: Any) -> Any:
    """The value and the gradient."""
    value, pullback = jax.vjp(function, x)
    return value, pullback(value)


@pytest.mark.parametrize("pooled", [
    windows((3, 3), (1, 1), "SAME"),
    windows((3, 3), (2, 2), "VALID"),
    windows((2, 3), (1, 2), ((1, 0), (2, 1))),
    windows((2, 2), (1, 1), "VALID", window_dilation=(2, 2)),
    windows((2, 2), (1, 1), "VALID", base_dilation=(2, 2)),
    windows((3, 3), (1, 1), "SAME", lambda a, b: a * 2 + b),
])  # fmt: skip
def test_windows_are_counted_as_xla_counts_them(pooled: Any) -> None:
    for x in (PLANE, PLANE.astype("int32")):
        counted = tally(pooled, x)
        assert counted.flops == count_of_xla(pooled, x) > 0
        assert counted.operations == 1


@pytest.mark.parametrize(("function", "x"), [
    (lambda x: pulled_back(AVERAGE, x), IMAGES),
    (lambda x: pulled_back(LARGEST, x), IMAGES),
    (lambda x: lax.reduce(x, 0.0, lambda a, b: a * 2 + b, (0,)), jnp.ones((64, 64))),
    (lambda x: x.at[1:3].add(x[:2] * 2), PLANE),
    (lambda x: x.at[1:3].multiply(x[:2] * 2), PLANE),
])  # fmt: skip
def test_gradients_reductions_and_scatters_are_near_xlas_count(function: Any, x: Any) -> None:
    assert tally(function, x).flops == pytest.approx(count_of_xla(function, x), rel=0.1, abs=8)


def test_combinations_are_no_equations_and_complex_sums_are_two() -> None:
    counted = tally(lambda x, y: x.at[jnp.array([1, 2])].add(y), PLANE, jnp.ones((2, 9)))
    *others, last = sorted(flops for _, flops in counted.steps)
    assert (last, max(others) <= 2) == (2 * 9, True)
    pooled = windows((3, 3), (1, 1), "SAME")
    assert tally(pooled, PLANE.astype("complex64")).flops == 2 * tally(pooled, PLANE).flops
