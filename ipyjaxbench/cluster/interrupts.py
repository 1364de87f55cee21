"""Ctrl-C between steps: a rank that leaves a step alone would keep the others waiting in it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Has the first Ctrl-C wait until the ranks meet again; a second one ends the step at once."""

    def __init__(self) -> None:
        self._asked = 0

    def ask(self) -> None:
        """Ask the measurement to end, as Ctrl-C does; for threads, which no signal reaches."""
        self._asked += 1

    def check(self) -> None:
        """Raise what was asked for.

        Raises:
            KeyboardInterrupt: there was a Ctrl-C since the ranks met last.
        """
        __tracebackhide__ = True
        if self._asked:
            self._asked = 0
            raise KeyboardInterrupt

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer Ctrl-C; in another thread than the main one there is nothing to defer."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def defer(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  as signals call it
            __tracebackhide__ = True
            self._asked += 1
            if self._asked > 1:
                self._asked = 0
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, defer)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
