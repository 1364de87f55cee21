"""The only reader of time."""

import dataclasses

import pytest

from ipyjaxbench.clock import Clock

MAKERS = {"elapsed": Clock.elapsed, "calendar": Clock.calendar, "cpu": Clock.cpu}


@pytest.mark.parametrize("name", MAKERS)
def test_a_clock_reads_whole_nanoseconds(name: str) -> None:
    clock = MAKERS[name]()
    assert isinstance(clock.now(), int)
    assert isinstance(clock.wall(), int)


@pytest.mark.parametrize("name", ["elapsed", "cpu"])
def test_a_clock_that_cannot_be_set_never_goes_back(name: str) -> None:
    now = MAKERS[name]().now
    readings = [now() for _ in range(1000)]
    assert readings == sorted(readings)


def test_the_calendar_clock_reads_nanoseconds_since_1970() -> None:
    moment = Clock.calendar().now()
    year = 1970 + moment / 1e9 / 365.2425 / 86400
    assert 2024 < year < 2200


def test_the_cpu_clock_counts_work_and_its_wall_goes_on() -> None:
    clock = Clock.cpu()
    busy, wall = clock.now(), clock.wall()
    sum(range(2_000_000))
    assert clock.now() > busy
    assert clock.wall() > wall


def test_the_cpu_clock_does_not_count_what_the_machine_did_before_the_process() -> None:
    # CPU time of this process is far from both the calendar's and the machine's time.
    assert Clock.cpu().now() < 1e9 * 3600 * 24


def test_budgets_are_held_against_the_same_wall_clock_whatever_is_measured() -> None:
    assert Clock.cpu().wall is Clock.calendar().wall is Clock.elapsed().wall


def test_a_clock_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Clock.elapsed().now = lambda: 0  # type: ignore[misc]


def test_a_clock_can_pause() -> None:
    assert Clock.elapsed().sleep(0.0) is None
