"""The timer of the operating system that sends this process a signal, and when it will do so."""

import signal

from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.host import Clock

_SLACK = 0.02  # seconds by which what is left may seem to differ: two clocks are read


class Alarm(State):
    """When it goes off: it goes on while calls are made, and is put back as if none had set it."""

    def __init__(self) -> None:
        self._clock = Clock.elapsed()
        super().__init__(None)

    def _read(self) -> tuple[float, float]:
        """Return when it goes off, 0.0 for never, and after how many seconds again and again."""
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        return (self._now() + left if left else 0.0), interval

    def changed(self) -> bool:
        """Whether it goes off at another time; one that went off meanwhile has not changed."""
        (when, interval), (before, old) = self._read(), self._before
        if interval != old:
            return True
        is_over = 0.0 < before <= self._now() + _SLACK
        return abs(when - before) > _SLACK and not (is_over and (interval or not when))

    def restore(self) -> None:
        """Have it go off when it would have; soon, where that is over."""
        when, interval = self._before
        left = max(when - self._now(), _SLACK) if when else 0.0
        signal.setitimer(signal.ITIMER_REAL, left, interval)

    def _now(self) -> float:
        return self._clock.wall() * 1e-9
