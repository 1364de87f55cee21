"""What windows, pooling, reductions and scatters compute, held against XLA's own count."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from ipyjaxbench import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.usercode.call import Call

X = jnp.ones((8, 9))
IMAGES = jnp.ones((1, 16, 16, 3))


def graph(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


def count_of_xla(function: Any, *args: Any) -> float:
    """What XLA counts in the program as it is handed over, before it is changed."""
    cost = jax.jit(function).lower(*args).cost_analysis()
    return float((cost[0] if isinstance(cost, list) else cost)["flops"])


def windows(size: Any, strides: Any, padding: Any, by: Any = lax.add, **dilation: Any) -> Any:
    start = {lax.max: -np.inf, lax.mul: 1}.get(by, 0)

    def pooled(x: Any) -> Any:
        return lax.reduce_window(x, jnp.asarray(start, x.dtype), by, size, strides, padding,
                                 **dilation)  # fmt: skip

    return pooled


def average(x: Any) -> Any:
    return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4


def largest(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")


def of_both(function: Any, x: Any, cotangent: Any) -> Any:
    """The value and the gradient."""
    value, pullback = jax.vjp(function, x)
    return value, pullback(cotangent)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    "pooled",
    [
        windows((3, 3), (1, 1), "SAME"),
        windows((3, 3), (2, 2), "VALID"),
        windows((2, 3), (1, 2), ((1, 0), (2, 1))),
        windows((2, 2), (1, 1), "VALID", window_dilation=(2, 2)),
        windows((2, 2), (1, 1), "VALID", base_dilation=(2, 2)),
        windows((3, 3), (1, 1), "SAME", lax.mul),
        windows((3, 3), (1, 1), "SAME", lambda a, b: a * 2 + b),
    ],
)
def test_windows_are_counted_as_xla_counts_them(pooled: Any, dtype: str) -> None:
    x = X.astype(dtype)
    found = graph(pooled, x)
    assert found.flops == count_of_xla(pooled, x) > 0
    assert found.operations == 1
    assert {each.name for each in found.stats} <= {"reduce_window", "reduce_window_sum"}


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (average, IMAGES),
        (largest, IMAGES),
        (lambda x: of_both(average, x, IMAGES[:, :8, :8]), IMAGES),
        (lambda x: of_both(largest, x, x), IMAGES),
        (lambda x: lax.reduce(x, 0.0, lambda a, b: a * 2 + b, (0,)), jnp.ones((64, 64))),
        (lambda x: x.at[1:3].add(x[:2] * 2), X),
        (lambda x: x.at[1:3].multiply(x[:2] * 2), X),
    ],
)
def test_gradients_reductions_and_scatters_are_near_xlas_count(function: Any, x: Any) -> None:
    assert graph(function, x).flops == pytest.approx(count_of_xla(function, x), rel=0.1, abs=8)


def test_combinations_are_no_equations_and_complex_sums_are_two() -> None:
    found = graph(lambda x, y: x.at[jnp.array([1, 2])].add(y), X, jnp.ones((2, 9)))
    (scatter,) = (each for each in found.stats if each.name.startswith("scatter"))
    assert scatter.flops == 2 * 9
    assert all(each.flops <= 2 for each in found.stats if each is not scatter)
    pooled = windows((3, 3), (1, 1), "SAME")
    assert graph(pooled, X.astype("complex64")).flops == 2 * graph(pooled, X).flops
