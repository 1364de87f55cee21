"""Code of the user's ends when its time is over, at the next of its lines."""

import json
import sys
from typing import Any

import pytest

from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode import deadline
from ipyjaxbench.usercode.deadline import OutOfTimeError, time_limit

SECOND = 1_000_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(deadline, "_CLOCK", clock)
    return clock


def is_here(file: str) -> bool:
    return file == __file__


def work(clock: FakeClock, nanoseconds: int, done: list[str]) -> None:
    try:
        clock.advance(nanoseconds)
        done.append("a line after it")
    except Exception:
        pytest.fail("a handler of the code's stopped it")


def turn(times: int) -> int:
    count = 0
    for _ in range(times):
        count += 1
    return count


def test_a_line_that_begins_in_time_is_run_and_a_later_one_is_not(clock: FakeClock) -> None:
    done: list[str] = []
    with time_limit(2.0, is_here):
        work(clock, 2 * SECOND, done)
    assert done == ["a line after it"]
    with pytest.raises(OutOfTimeError), time_limit(2.0, is_here):
        work(clock, 2 * SECOND + 1, done)
    assert done == ["a line after it"]
    with time_limit(0.0, is_here):
        clock.advance(SECOND)
        assert json.loads(json.dumps({"a": [1]})) == {"a": [1]}  # code of others is not stopped


def test_a_line_may_begin_as_often_as_is_said_when_the_time_is_over(clock: FakeClock) -> None:
    # The line of a loop of two turns begins three times.
    with time_limit(-1.0, is_here, turns=3):
        assert turn(2) == 2
    with pytest.raises(OutOfTimeError), time_limit(-1.0, is_here, turns=3):
        turn(3)


def test_a_debugger_goes_on_following_the_code_and_nothing_is_raised(clock: FakeClock) -> None:
    def debugger(*_: Any) -> None:
        return None

    before, done = sys.gettrace(), list[str]()
    sys.settrace(debugger)
    try:
        with time_limit(0.0, is_here):
            during = sys.gettrace()
            work(clock, SECOND, done)
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert (during, after) == (debugger, debugger)
    assert done == ["a line after it"]
