"""Says how far a measurement is, when it takes long enough for anybody to wonder."""

import math
from collections.abc import Callable

from ipyjaxbench import units
from ipyjaxbench.clock import Clock

_SILENT_NS = 1_000_000_000
_EVERY_NS = 250_000_000
_LONG_NS = 3_600_000_000_000


class Progress:
    """From the second second on, four times a second at most.

    Args:
        show: takes one line, which replaces the one before.
        clock: to read.
    """

    def __init__(self, show: Callable[[str], object], clock: Clock) -> None:
        self._show = show
        self._clock = clock
        self._next = clock.wall() + _SILENT_NS

    def __call__(self, known: float, left: int) -> None:
        """Tell of the interval so far and of the time left.

        Args:
            known: relative half width of the interval; infinite while it is not known.
            left: nanoseconds of the budget.
        """
        now = self._clock.wall()
        if now < self._next:
            return
        self._next = now + _EVERY_NS
        found = "warming up" if math.isinf(known) else f"± {units.percent(known)} so far"
        rest = f", {units.duration(left * 1e-9, 2)} left at most" if 0 < left < _LONG_NS else ""
        self._show(f"measuring: {found}{rest}")
