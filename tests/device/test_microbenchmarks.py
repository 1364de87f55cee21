"""The fastest of many runs counts, and matrices grow as far as the time reaches."""

from collections.abc import Callable

import pytest

from ipyjaxbench.device import microbenchmarks
from ipyjaxbench.testing import FakeClock

MS = 1_000_000


@pytest.mark.parametrize(
    ("taken", "seconds", "fastest", "runs"),
    [
        ([1, 9, 5, 7, 100], 0.02, 0.005, 4),  # the first run is left out
        ([2000, 2000], 0.1, 2.0, 2),  # one that takes longer than the time is still timed once
        ([0, 0], 0.0, 1e-9, 2),  # what the clock does not show is not infinitely fast
    ],
)
def test_the_fastest_run_counts(
    taken: list[int], seconds: float, fastest: float, runs: int
) -> None:
    clock, left = FakeClock(), [*taken]
    found = microbenchmarks.fastest(lambda: clock.advance(left.pop(0) * MS), clock, seconds)
    assert (found, len(taken) - len(left)) == (fastest, runs)


@pytest.mark.parametrize(
    ("rate", "tried"),
    [(8, [1, 8]), (4, [1, 4, 8]), (0.5, [1])],  # the second one is faster than the first one told
)
def test_where_sizes_are_dear_the_largest_comes_next(rate: float, tried: list[int]) -> None:
    seen: list[int] = []
    microbenchmarks.fastest_size(
        lambda n: seen.append(n) or rate * n,  # type: ignore[func-returns-value]
        *(float, 3.0, [1, 2, 4, 8]),
        leaps=True,
    )
    assert seen == tried


@pytest.mark.parametrize(
    ("rate", "seconds", "sides"),
    [
        (250e9, 0.05, [512, 1024]),  # 1024 takes 8.6 ms, 2048 takes 69 ms
        (1e6, 0.01, [512]),  # in any case
        (50e12, 0.1, list(microbenchmarks.SIDES)),
    ],
)
def test_matrices_grow_as_time_allows(rate: float, seconds: float, sides: list[int]) -> None:
    clock, tried = FakeClock(), []

    def product(n: int) -> Callable[[], None]:
        tried.append(n)
        return lambda: clock.advance(round(2 * n**3 / rate * 1e9))

    found, side = microbenchmarks.fastest_product(product, clock, seconds)
    assert (tried, found) == (sides, pytest.approx(rate, rel=1e-3))
    assert side in sides
