"""Says how far a measurement is, when it takes long enough for anybody to wonder."""

import math
import threading
from collections.abc import Callable
from contextvars import copy_context

from ipyjaxbench import units
from ipyjaxbench.host.clock import Clock

_SILENT_NS = 1_000_000_000
_EVERY_NS = 250_000_000
_LONG_NS = 3_600_000_000_000
#: Seconds: what tells nothing by itself is asked after, from then on and so often.
_PATIENCE, _AGAIN = 2.0, 1.0


class Progress:
    """Four times a second at most; as a context also where nothing tells how far it is.

    Until the first news, a thread says how long it has taken so far. It sleeps but for an instant
    in each second, and is gone before anything is timed again and again.

    Args:
        show: takes one line, which replaces the one before.
        clock: to read.
        doing: what goes on until the first news.
        patience: seconds until that is said.
    """

    def __init__(
        self,
        show: Callable[[str], object],
        clock: Clock,
        doing: str = "running",
        patience: float = _PATIENCE,
    ) -> None:
        self._show = show
        self._clock = clock
        self._doing, self._patience = doing, patience
        self._start = clock.wall()
        self._next = self._start + _SILENT_NS
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Progress":
        wait = copy_context().run  # what is shown belongs to the cell that runs
        self._thread = threading.Thread(target=wait, args=(self._wait,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_waiting()

    def __call__(self, known: float, left: int) -> None:
        """Tell of the interval so far and of the time left.

        Args:
            known: relative half width of the interval; infinite while calls only warm up, and
                not a number where it is not looked at.
            left: nanoseconds of the budget.
        """
        self._stop_waiting()
        now = self._clock.wall()
        if now < self._next:
            return
        self._next = now + _EVERY_NS
        parts = []
        if math.isinf(known):
            parts.append("warming up")
        elif not math.isnan(known):
            width = units.percent(known) if known <= 1 else "over 100 %"
            parts.append(f"± {width} so far")
        if 0 < left < _LONG_NS:
            parts.append(f"{units.duration(left * 1e-9, 2)} left at most")
        self._show(f"measuring: {', '.join(parts)}" if parts else "measuring")

    def _wait(self) -> None:
        pause = self._patience
        while not self._over.wait(pause):
            seconds = (self._clock.wall() - self._start) * 1e-9
            self._show(f"{self._doing}: {units.duration(seconds, 2)} so far")
            pause = min(_AGAIN, self._patience)

    def _stop_waiting(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._over.set()
            thread.join()
