"""What was read from the clock: of the first call, of one call, of a sample, of queued calls."""

import sys
from typing import Any, NamedTuple


class TimedCall(NamedTuple):
    """One call, looked at closely; all in nanoseconds."""

    returned: int  # until Python went on
    waited: int  # until what it gave was computed
    left: int | None  # for how long something was running after that; None: not asked
    spent: int  # CPU time, over all threads
    compiled: bool  # whether something was compiled in it

    @property
    def whole(self) -> int:
        """Nanoseconds until its work had ended; until its value was ready, if nobody asked."""
        return self.waited + (self.left or 0)


class Sample(NamedTuple):
    """Several calls, timed as one."""

    calls: int  # how many
    ns: int  # nanoseconds of all of them
    spent: int  # nanoseconds of CPU time, over all threads
    compiled: bool = False  # whether something was compiled in them


class QueuedTime(NamedTuple):
    """Calls that were not waited for one by one; in nanoseconds."""

    returned: int  # until Python went on after the last
    waited: int  # until all devices were idle


class First(NamedTuple):
    """The first call."""

    taken: int  # nanoseconds until Python went on
    left: int  # for how many more something was running; 0 where nothing was
    value: Any  # of the last expression; None where there is none


def is_held(first: First) -> bool:
    """Whether anything but ``first`` holds its value, so that it outlives it."""
    fresh = First(0, 0, object())
    return sys.getrefcount(first.value) > sys.getrefcount(fresh.value)
