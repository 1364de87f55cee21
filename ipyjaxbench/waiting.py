"""Waits for asynchronous work: all that was started before, and what one call starts."""

from collections.abc import Callable, Sequence
from typing import Any

from ipyjaxbench import stats
from ipyjaxbench.clock import Clock
from ipyjaxbench.frameworks import Framework, Wait, find_arrays

#: Work that its value does not show matters from this share of a call on.
_MATTERS = 0.05
#: Below that, a drain after a call that left the caches cold looks like work.
_FLOOR_NS = 15_000
_IDLE_READINGS = 11


class Drain:
    """Waits until nothing is running on any device that is in use, and knows what asking costs.

    Args:
        frameworks: whose devices to wait for.
        clock: to measure with.

    Attributes:
        waited: nanoseconds that work from before took to end.
        idle: nanoseconds that asking takes when there is nothing to wait for.
    """

    def __init__(self, frameworks: Sequence[Framework], clock: Clock) -> None:
        self._drains = [framework.drain for framework in frameworks]
        self._clock = clock
        for framework in frameworks:
            framework.prepare()
        self.waited = self()
        # Not the median: on a busy machine it would hide work that is really there.
        self.idle = int(stats.quantile([self() for _ in range(_IDLE_READINGS)], 0.25))

    def __call__(self) -> int:
        """Wait; return how long it took, in nanoseconds."""
        start = self._clock.wall()  # a clock of CPU time would read what asking costs the CPU
        for drain in self._drains:
            drain()
        return self._clock.wall() - start

    def pending(self, calls: Sequence[tuple[int, int]]) -> int:
        """Nanoseconds of work that went on after calls had come back.

        Args:
            calls: for each, its time and that of the drain after it, in nanoseconds.

        Returns:
            The median over the calls; 0 where it is too little to matter.
        """
        extra = stats.median([drained - self.idle for _, drained in calls])
        typical = stats.median([call for call, _ in calls])
        return int(extra) if extra > max(self.idle, _FLOOR_NS, _MATTERS * typical) else 0


def waiter_of(value: object, frameworks: Sequence[Framework]) -> Wait | None:
    """The cheapest function that waits for all arrays in values built like ``value``.

    Args:
        value: an example.
        frameworks: whose arrays to look for.

    Returns:
        The function, or None where there is nothing to wait for.
    """
    owned: dict[Framework, list[Any]] = {}
    for framework, array in find_arrays(value, frameworks):
        if not framework.alive(array):
            continue
        owned.setdefault(framework, []).append(array)
    waits = [wait for f, arrays in owned.items() if (wait := f.waiter(value, arrays))]
    return _all_of(waits)


def _all_of(waits: Sequence[Callable[[Any], object]]) -> Wait | None:
    if len(waits) <= 1:
        return waits[0] if waits else None

    def wait_for_all(value: Any) -> None:
        for wait in waits:
            wait(value)

    return wait_for_all


def each(waits: Sequence[Wait]) -> Wait:
    """Wait for each item of a tuple in its own way; one alone is handed over as it is."""
    if len(waits) == 1:
        return waits[0]

    def wait_for_each(values: Sequence[Any]) -> None:
        for wait, value in zip(waits, values, strict=True):
            wait(value)

    return wait_for_each
