"""The only reader of time."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ipyjaxbench.host.procfs import run_delay

_READINGS = 101


def _cpu_ns() -> int:
    """Return the CPU time of this process, user and system, in nanoseconds."""
    return time.process_time_ns()


@dataclass(frozen=True)
class Clock:
    """What is measured, what budgets are held against, how to pause, and CPU time.

    Args:
        now: the reading that samples are made of, in nanoseconds.
        wall: elapsed time for budgets, in nanoseconds; it never stands still.
        sleep: pauses for a number of seconds.
        spent: CPU time of this process, user and system, in nanoseconds.
        own: CPU time of the thread that asks, user and system, in nanoseconds.
        delayed: nanoseconds for which that thread was ready to run and others had the CPUs; it
            stands still where the system does not tell.

    Example:
        >>> clock = Clock.elapsed()
        >>> clock.now() <= clock.now()
        True
    """

    now: Callable[[], int]
    wall: Callable[[], int]
    sleep: Callable[[float], None]
    spent: Callable[[], int] = _cpu_ns
    own: Callable[[], int] = time.thread_time_ns
    delayed: Callable[[], int] = run_delay

    @cached_property
    def resolution(self) -> int:
        """Nanoseconds below which it shows nothing: what a reading costs, or its smallest step."""
        readings = [self.now() for _ in range(_READINGS)]
        steps = sorted(b - a for a, b in itertools.pairwise(readings))
        # A coarse clock stands still between its steps: then those are what it shows.
        return steps[len(steps) // 2] or next((step for step in steps if step > 0), 0)

    def turns(self, calls: int) -> Iterator[None]:
        """Give a loop so many turns; `operator.length_hint` tells how many are left."""
        return itertools.repeat(None, calls)

    def spin(self, nanoseconds: int) -> None:
        """Let time pass without sleeping, after which a CPU would be slower; other threads run."""
        end = self.wall() + nanoseconds
        while self.wall() < end:
            self.sleep(0)  # gives the interpreter's lock to callbacks that wait for it

    @classmethod
    def elapsed(cls) -> "Clock":
        """Return the default: elapsed time from the clock of highest resolution."""
        return cls(time.perf_counter_ns, time.perf_counter_ns, time.sleep)

    @classmethod
    def calendar(cls) -> "Clock":
        """Return time by the calendar's clock (``-t``), which may jump when it is set."""
        return cls(time.time_ns, time.perf_counter_ns, time.sleep)

    @classmethod
    def cpu(cls) -> "Clock":
        """Return the CPU time of the process, user and system, over all its threads (``-c``)."""
        return cls(_cpu_ns, time.perf_counter_ns, time.sleep)


#: What samples are read from, by the name that the options have for it.
CLOCKS: dict[str, Callable[[], Clock]] = {
    "elapsed": Clock.elapsed,
    "calendar": Clock.calendar,
    "cpu": Clock.cpu,
}
