"""The only reader of time."""

import dataclasses
import itertools
import time

import pytest

from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeClock

MAKERS = {"elapsed": Clock.elapsed, "calendar": Clock.calendar, "cpu": Clock.cpu}


@pytest.mark.parametrize("name", ["elapsed", "cpu"])
def test_a_clock_that_cannot_be_set_never_goes_back(name: str) -> None:
    now = MAKERS[name]().now
    readings = [now() for _ in range(1000)]
    assert readings == sorted(readings)


def test_the_cpu_clock_counts_work_and_its_wall_goes_on() -> None:
    clock = Clock.cpu()
    busy, wall = clock.now(), clock.wall()
    sum(range(2_000_000))
    assert clock.now() > busy
    assert clock.wall() > wall


STANDARD = {"elapsed": "perf_counter_ns", "calendar": "time_ns", "cpu": "process_time_ns"}


@pytest.mark.parametrize("name", STANDARD)
def test_a_clock_reads_what_its_name_says(name: str) -> None:
    """Between two readings of the standard library's clock for that."""
    theirs = getattr(time, STANDARD[name])
    before, mine, after = theirs(), MAKERS[name]().now(), theirs()
    assert before <= mine <= after
    assert isinstance(mine, int)


def test_budgets_are_held_against_the_same_wall_clock_whatever_is_measured() -> None:
    assert Clock.cpu().wall is Clock.calendar().wall is Clock.elapsed().wall


def test_a_clock_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Clock.elapsed().now = lambda: 0  # type: ignore[misc]


def test_a_clock_shows_no_less_than_a_reading_takes() -> None:
    moment = itertools.count(step=70)
    assert Clock(lambda: next(moment), time.perf_counter_ns, time.sleep).resolution == 70
    reading = itertools.count()  # of one that stands still between steps
    coarse = Clock(lambda: next(reading) // 30 * 1000, time.perf_counter_ns, time.sleep)
    assert coarse.resolution == 1000
    assert FakeClock().resolution == 0


def test_the_resolution_is_looked_at_once() -> None:
    clock = FakeClock(step=7)
    assert clock.now() == 7  # nothing was read before
    assert clock.resolution == 7
    before = clock.now()
    assert clock.resolution == 7
    assert clock.now() - before == 7
