"""How a profiler's clock is held against ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ipyjaxbench.adapters.shared.clock_marks import MARK, ClockMarks
from ipyjaxbench.host import Clock

AHEAD = 1e12  # nanoseconds by which the profiler's clock is ahead


def made(slow: int = 0) -> tuple[ClockMarks, list[tuple[float, float]]]:
    """Marks, as a profiler sees them whose first mark ends before Python goes on."""
    clock = Clock.elapsed()
    seen: list[tuple[float, float]] = []

    @contextmanager
    def mark(name: str) -> Iterator[None]:
        assert name == MARK
        begun = clock.wall() + AHEAD
        yield
        seen.append((begun, clock.wall() + AHEAD))
        if len(seen) <= slow:
            clock.sleep(0.05)

    marks = ClockMarks(mark)
    marks.make()
    return marks, seen


@pytest.mark.parametrize("slow", [0, 1, 4])
def test_clocks_are_held_against_each_other_by_the_quickest_mark(slow: int) -> None:
    marks, seen = made(slow)
    # The marks that are slow end 50 ms before our clock is read: their middle is 25 ms off.
    assert marks.offset(reversed(seen)) == pytest.approx(-AHEAD, abs=5e6)


def test_where_marks_are_missing_nothing_is_known() -> None:
    marks, seen = made()
    assert marks.offset(seen[1:]) is None
    assert marks.offset([]) is None
