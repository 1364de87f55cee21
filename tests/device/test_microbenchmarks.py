"""The fastest of many runs counts, and matrices grow as far as the time reaches."""

from collections.abc import Callable

from ipyjaxbench.device import microbenchmarks
from ipyjaxbench.testing import FakeClock

MS = 1_000_000


def test_the_first_run_is_left_out_and_the_fastest_counts() -> None:
    clock, taken = FakeClock(), iter([1, 9, 5, 7, 100])
    assert microbenchmarks.fastest(lambda: clock.advance(next(taken) * MS), clock, 0.02) == 0.005


def test_a_run_that_takes_longer_than_the_time_is_still_timed_once() -> None:
    clock, turns = FakeClock(), []

    def run() -> None:
        turns.append(1)
        clock.advance(2000 * MS)

    assert microbenchmarks.fastest(run, clock, 0.1) == 2.0
    assert len(turns) == 2


def test_what_takes_no_time_that_the_clock_shows_is_not_infinitely_fast() -> None:
    clock = FakeClock(step=1)
    assert microbenchmarks.fastest(lambda: None, clock, 0.0) == 1e-9


def tried(rate: float, seconds: float) -> tuple[list[int], float, int]:
    clock, sides = FakeClock(), []

    def product(n: int) -> Callable[[], None]:
        sides.append(n)
        return lambda: clock.advance(round(2 * n**3 / rate * 1e9))

    found, side = microbenchmarks.fastest_product(product, clock, seconds)
    return sides, found, side


def test_matrices_grow_as_long_as_three_products_fit_into_the_time() -> None:
    sides, rate, _ = tried(250e9, 0.05)  # 1024 takes 8.6 ms, 2048 takes 69 ms
    assert sides == [512, 1024]
    assert 0.999 < rate / 250e9 < 1.001


def test_the_smallest_matrices_are_tried_in_any_case() -> None:
    assert tried(1e6, 0.01)[0] == [512]


def test_where_sizes_are_dear_the_largest_that_fits_comes_next() -> None:
    def found(rate: float) -> list[int]:
        seen: list[int] = []

        def measured(n: int) -> float:
            seen.append(n)
            return rate * n

        microbenchmarks.fastest_size(measured, float, 3.0, [1, 2, 4, 8], leaps=True)
        return seen

    assert found(8) == [1, 8]
    assert found(4) == [1, 4, 8]  # the second one is faster than the first one told
    assert found(0.5) == [1]


def test_a_fast_device_gets_large_matrices() -> None:
    assert tried(50e12, 0.1)[0] == list(microbenchmarks.SIDES)
