"""How a profiler's clock is held against ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ipyjaxbench.adapters.shared.clock_marks import MARK, ClockMarks
from ipyjaxbench.host import Clock
from ipyjaxbench.testing import FakeClock

AHEAD = 1e12  # nanoseconds by which the profiler's clock is ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """Ours, of which each reading takes a microsecond."""
    clock = FakeClock(step=1_000)
    monkeypatch.setattr(Clock, "elapsed", lambda: clock)
    return clock


def made(clock: FakeClock, slow: int = 0) -> tuple[ClockMarks, list[tuple[float, float]]]:
    """Marks, as a profiler sees them whose first mark ends before Python goes on."""
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
def test_clocks_are_held_against_each_other_by_the_quickest_mark(
    clock: FakeClock, slow: int
) -> None:
    marks, seen = made(clock, slow)
    # The marks that are slow end 50 ms before our clock is read: their middle is 25 ms off.
    assert marks.offset(reversed(seen)) == -AHEAD


def test_where_marks_are_missing_nothing_is_known(clock: FakeClock) -> None:
    marks, seen = made(clock)
    assert marks.offset(seen[1:]) is None
    assert marks.offset([]) is None
