"""One measurement at a time on an event loop, except for those that another one measures."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

#: The measurement to which the code that runs now belongs.
_current: ContextVar[ExclusiveSection | None] = ContextVar("section", default=None)
_locks_of_loops: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()


class ExclusiveSection:
    """A context in which one measurement alone is made.

    The code that it measures may measure too: those inner measurements exclude each other.
    """

    def __init__(self) -> None:
        self._outer = ExclusiveSection.current()
        self._is_over = False
        self._inner_lock: asyncio.Lock | None = None
        self._lock: asyncio.Lock | None = None
        self._token: Token[ExclusiveSection | None] | None = None

    @staticmethod
    def current() -> ExclusiveSection | None:
        """Return the one to which the code that runs now belongs; tasks may outlive it."""
        section = _current.get()
        while section is not None and section._is_over:
            section = section._outer
        return section

    async def __aenter__(self) -> ExclusiveSection:
        __tracebackhide__ = True
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # another library's loop, of which nothing is known
            return self
        if self._outer is None:
            lock = _locks_of_loops.setdefault(loop, asyncio.Lock())
        else:
            lock = self._outer._inner_lock = self._outer._inner_lock or asyncio.Lock()
        await lock.acquire()
        self._lock, self._token = lock, _current.set(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_over = True
        if self._token is not None and self._lock is not None:
            _current.reset(self._token)
            self._lock.release()

    def is_current(self) -> bool:
        """Return whether the code that runs now belongs to it: its tasks do, and their tasks."""
        section = _current.get()
        while section is not None and section is not self:
            section = section._outer
        return section is self

    def is_elsewhere(self) -> bool:
        """Return whether a task runs now that does not belong to it."""
        import asyncio

        try:
            return asyncio.current_task() is not None and not self.is_current()
        except RuntimeError:  # a thread, which may be of the measured code
            return False
