"""Where XLA's count and ours are said to differ, and why."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from ipyjaxbench.adapters.jax.graphs import tally
from ipyjaxbench.adapters.jax.graphs.xla_costs import (
    counted_cost,
    counted_flops,
    difference,
    memory_needed,
)
from ipyjaxbench.graphs import CountDifference

X = jnp.ones((8, 8))
PRODUCT = 2.0 * 8**3


def sums(n: int) -> Any:
    return jax.make_jaxpr(lambda x: x + 1)(jnp.ones(n))


@pytest.mark.parametrize(
    ("cost", "flops"),
    [({"flops": -1.0}, None), ({"transcendentals": 0.0}, 0.0),
     ({"flops": 3.0, "transcendentals": 4.0}, 7.0), ({"flops": -1.0, "transcendentals": 4.0}, 4.0)],
)  # fmt: skip
def test_flops_are_what_xla_counts_apart(cost: dict[str, float], flops: float | None) -> None:
    assert counted_flops(cost) == flops


def test_costs_are_unknown_where_xla_cannot_count_and_memory_counts_once() -> None:
    assert counted_cost({"bytes accessed": 0.0}, "bytes accessed") == 0
    assert counted_cost({"bytes accessed": -1.0}, "bytes accessed") is None
    memory = SimpleNamespace(
        temp_size_in_bytes=1, argument_size_in_bytes=20, output_size_in_bytes=300,
        alias_size_in_bytes=20,
    )  # fmt: skip
    assert memory_needed(memory) == 301


@pytest.mark.parametrize(
    ("n", "theirs", "is_other"),
    [
        (1, 100, False),  # 99 more are a loop's own counter
        (1, 101, True),
        (200, 101, False),
        (200, 100, True),
        (10_000, 10_526, False),  # 5 % of the larger one
        (10_000, 10_527, True),
        (10_000, 9_500, False),
        (10_000, 9_499, True),
    ],
)
def test_only_a_difference_of_more_than_5_percent_and_99_flop_is_one(
    n: int, theirs: int, is_other: bool
) -> None:
    found = difference(sums(n), float(theirs), 1)
    assert found == (CountDifference(float(n), left=float(theirs - n)) if is_other else None)


@pytest.mark.parametrize(("theirs", "ours"), [(1000.0, None), (2000.0, 2000.0)])
def test_of_two_devices_xla_counts_what_one_computes(theirs: float, ours: float | None) -> None:
    assert difference(sums(2000), theirs, 2) == CountDifference(ours, 2)


def wasteful(x: Any) -> Any:
    y = lax.scan(lambda c, _: (c @ c, None), x, None, 3)[0]
    return (x @ x, y + (X + X).sum())[1]


def test_reasons_are_the_fewest_that_make_up_the_difference() -> None:
    closed = jax.make_jaxpr(wasteful)(X)
    ours = 4 * PRODUCT + 64 + 64 + 64  # the sum of constants, their own sum, and that with y
    reasons = {"turns": 2 * PRODUCT, "unused": PRODUCT, "constant": 128.0}

    def reasons_for(*names: str) -> Any:
        left = ours - sum(reasons[name] for name in names)
        told = difference(closed, left, 1)
        assert told is None or (told.ours, told.left) == (ours, left - ours)
        return told and dict(told.reasons)

    assert reasons_for() is None
    assert reasons_for("turns") == {"turns": 2 * PRODUCT}
    assert reasons_for("unused") == {"unused": PRODUCT}
    assert reasons_for("turns", "unused") == {"turns": 2 * PRODUCT, "unused": PRODUCT}
    assert reasons_for("turns", "unused", "constant") == reasons


def test_what_xla_leaves_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = jax.make_jaxpr(lambda x: jnp.sort(lax.cumsum(x)))(jnp.ones(1000))
    found = difference(closed, 5000.0, 1)
    assert found == CountDifference(1000.0, left=4000.0, uncounted=("sort",), rewritten=("cumsum",))
    closed = jax.make_jaxpr(lambda x: jnp.tanh(x @ x))(X)
    found = difference(closed, 64.0, 1, ("cublas matmul",))
    assert found is not None
    assert (found.left, found.libraries) == (-PRODUCT, ("cublas matmul",))
    more = difference(closed, 3 * PRODUCT, 1, ("cublas matmul",))
    assert more is not None
    assert more.libraries == ()
    monkeypatch.setattr(tally, "_MAX_STEPS", 1)
    found = difference(jax.make_jaxpr(wasteful)(X), 1.0, 1)
    assert found is not None
    assert found.reasons == ()
