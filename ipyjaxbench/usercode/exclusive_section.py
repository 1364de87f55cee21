"""One measurement at a time on an event loop, except for those that another one measures."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

#: The measurement to which the code that runs now belongs.
_current: ContextVar[Turn | None] = ContextVar("turn", default=None)
_of_loops: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()


class Turn:
    """The time in which one measurement alone is made.

    What it measures may measure in turn; those take turns among themselves.
    """

    def __init__(self) -> None:
        self._within = Turn.current()
        self._over = False
        self._inner: asyncio.Lock | None = None
        self._held: asyncio.Lock | None = None
        self._token: Token[Turn | None] | None = None

    @staticmethod
    def current() -> Turn | None:
        """That to which the code that runs now belongs; tasks may outlive it."""
        turn = _current.get()
        while turn is not None and turn._over:
            turn = turn._within
        return turn

    async def begin(self) -> None:
        """Wait until the others are done."""
        __tracebackhide__ = True
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # another library's loop, of which nothing is known
            return
        held = self._within._lock() if self._within else _of_loops.setdefault(loop, asyncio.Lock())
        await held.acquire()
        self._held, self._token = held, _current.set(self)

    def end(self) -> None:
        """Let the next one begin."""
        self._over = True
        if self._token is not None and self._held is not None:
            _current.reset(self._token)
            self._held.release()

    def has(self, other: Turn | None) -> bool:
        """Whether another one is this one, or is measured in it."""
        while other is not None and other is not self:
            other = other._within
        return other is self

    def is_here(self) -> bool:
        """Whether the code that runs now belongs to it: its tasks do, and their tasks."""
        return self.has(_current.get())

    def is_elsewhere(self) -> bool:
        """Whether a task runs now that does not belong to it."""
        import asyncio

        try:
            return asyncio.current_task() is not None and not self.is_here()
        except RuntimeError:  # a thread, which may be of the measured code
            return False

    def _lock(self) -> asyncio.Lock:
        import asyncio

        self._inner = self._inner or asyncio.Lock()
        return self._inner
