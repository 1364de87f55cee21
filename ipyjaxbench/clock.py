"""The only reader of time."""

import time
from collections.abc import Callable
from dataclasses import dataclass


def _cpu_ns() -> int:
    """CPU time of this process, user and system, in nanoseconds."""
    return time.process_time_ns()


@dataclass(frozen=True)
class Clock:
    """Three callables: what is measured, what budgets are held against, and how to pause.

    Args:
        now: the reading that samples are made of, in nanoseconds.
        wall: elapsed time for budgets, in nanoseconds; it never stands still.
        sleep: pauses for a number of seconds.

    Example:
        >>> clock = Clock.elapsed()
        >>> clock.now() <= clock.now()
        True
    """

    now: Callable[[], int]
    wall: Callable[[], int]
    sleep: Callable[[float], None]

    @classmethod
    def elapsed(cls) -> "Clock":
        """The default: elapsed time from the clock of highest resolution."""
        return cls(time.perf_counter_ns, time.perf_counter_ns, time.sleep)

    @classmethod
    def calendar(cls) -> "Clock":
        """Elapsed time by the calendar's clock (``-t``); it may jump when the clock is set."""
        return cls(time.time_ns, time.perf_counter_ns, time.sleep)

    @classmethod
    def cpu(cls) -> "Clock":
        """CPU time of the process, user and system, over all its threads (``-c``)."""
        return cls(_cpu_ns, time.perf_counter_ns, time.sleep)
