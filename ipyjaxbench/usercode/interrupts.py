"""Ctrl-C while an event loop awaits what is measured."""

import signal
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

from ipyjaxbench.usercode.exclusive_section import Turn

T = TypeVar("T")


class Interrupts:
    """Makes Ctrl-C a KeyboardInterrupt in the measurement, also while the event loop waits.

    Else it would come out of the loop itself, or as a cancelled task, and what was measured until
    then would be lost.

    Args:
        turn: of the measurement.
    """

    def __init__(self, turn: Turn) -> None:
        import asyncio

        self._turn = turn
        self._waiting: Coroutine[Any, Any, Any] | None = None
        self._came = self._over = False
        self._before: Any = None
        try:
            self._task = asyncio.current_task()
        except RuntimeError:  # another library's loop
            return
        handles = callable(signal.getsignal(signal.SIGINT))
        if handles and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)

    def end(self) -> None:
        """Give the user's handler back, unless another one has taken the place since."""
        self._over = True
        if self._before is None:
            return
        if signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self._before)
        if self._came:  # too late for the measurement: it is for the code behind it
            self._before(signal.SIGINT, None)

    async def passed_on(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine."""
        __tracebackhide__ = True
        from asyncio import CancelledError

        self._waiting = coroutine
        try:
            return await coroutine
        except CancelledError:
            if not self._came:
                raise
            self._came = False
            if self._task is not None and self._task.cancelling():
                self._task.uncancel()
            raise KeyboardInterrupt from None
        finally:
            self._waiting = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        from asyncio import CancelledError, current_task

        try:
            current = current_task()
        except RuntimeError:
            current = None
        mine = current is None or current is self._task or self._turn.is_here()
        if self._over or self._task is None or not mine:
            self._before(number, frame)  # it is for code that is not measured
            return
        if current is self._task:
            raise KeyboardInterrupt
        if not self._came:
            self._came = True
            self._task.get_loop().call_soon_threadsafe(self._cancel)
        if current is not None:
            # A task of the measured code computes. A KeyboardInterrupt would end the loop.
            raise CancelledError

    def _cancel(self) -> None:
        """Have the coroutine that is waited for end, if it has not meanwhile."""
        if self._came and self._waiting is not None and self._task is not None:
            self._task.cancel()
