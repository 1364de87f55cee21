"""How long cached calls are looked at."""

from collections.abc import Mapping, Sequence
from typing import Any

from ipyjaxbench.retracing import Signature, stale_calls
from ipyjaxbench.testing import FakeClock
from tests.retracing.fake import MS, Jitted, Watch


def test_a_look_that_was_held_up_once_is_not_counted_and_two_in_a_row_are() -> None:
    known = stale_calls._Function(None, len)
    at_first = known.left
    for taken in (3, 5, 10**9):  # another program had the CPU: the next is timed by its own clock
        known.count(taken)
    assert (known.left, known.is_slow) == (at_first - 3, True)
    known.count(7)  # it is quick again, as the wall shows too
    assert (known.left, known.is_slow) == (at_first - 3 - 5, False)
    for taken in (10**9, 4, 10**9, 10**9):  # held up, quick, held up, and slow by its own clock
        known.count(taken)
    assert (known.left, known.is_slow) == (at_first - 3 - 5 - 4 - 4, True)
    known.count(10**9)
    assert known.left < 0


class SlowWatch(Watch):
    """Takes long to say what a framework looks at."""

    def signature(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
        self._clock.advance(30 * MS)
        return Signature({}, function=id(function))


def test_where_looks_take_too_long_that_is_said_of_their_function_alone() -> None:
    clock = FakeClock()
    stale, slow, quick = stale_calls.StaleCalls(clock), Jitted("slow"), Jitted("quick")
    calls = [(SlowWatch(clock), slow)] * 5 + [(Watch(clock), quick)]
    found = [stale.find(watch, function, (3,), {}) for watch, function in calls]
    assert found == [((), is_cut) for is_cut in (False, False, False, True, True, False)]
