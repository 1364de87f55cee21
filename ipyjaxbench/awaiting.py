"""Lets code that is measured await, on the event loop that runs already.

A measurement is plain code. It runs in a greenlet, a stack of its own: where it has a coroutine
to finish it hands that to the stack of the event loop, which awaits it there. Nothing of asyncio
is patched. SQLAlchemy bridges its plain code and asyncio in the same way.
"""

import contextlib
import inspect
import signal
import threading
from collections.abc import Callable, Coroutine
from types import CodeType, FrameType
from typing import Any, TypeVar

from ipyjaxbench.errors import SnippetError

T = TypeVar("T")
#: The greenlets that wait for coroutines, or could.
_engines: set[Any] = set()
_NOBODY = (
    "await works where the magic stands in a cell or in an async function:"
    " in any other function, or from Python, nobody can await for it while an event loop runs"
)


def run(code: CodeType, names: dict[str, Any]) -> Any:
    """Execute or evaluate code, to the end of what it awaits.

    Args:
        code: compiled with `ast.PyCF_ALLOW_TOP_LEVEL_AWAIT`.
        names: its namespace.

    Returns:
        The value of an expression, None for statements.

    Raises:
        SnippetError: it awaits, and nobody can await for it here.
        Exception: whatever it raises.
    """
    __tracebackhide__ = True
    value = eval(code, names)
    return finished(value) if code.co_flags & inspect.CO_COROUTINE else value


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """The value of a coroutine, from plain code that `spawned` runs.

    Raises:
        SnippetError: something else runs it, so that nobody can await.
        BaseException: whatever the coroutine raised.
    """
    __tracebackhide__ = True
    if _engines:
        from greenlet import getcurrent

        if getcurrent() in _engines:
            value: T = getcurrent().parent.switch(coroutine)
            return value
    coroutine.close()
    raise SnippetError(_NOBODY)


async def spawned(work: Callable[..., T], *args: Any) -> T:
    """Run plain code, and await what it hands to `finished`.

    Args:
        work: the plain code.
        args: for it.

    Returns:
        What it returns.

    Raises:
        BaseException: whatever it raises. An interrupt reaches it as a KeyboardInterrupt, also
            while it waits for a coroutine.
    """
    __tracebackhide__ = True
    from greenlet import getcurrent, greenlet

    engine = greenlet(work)
    engine.gr_context = getcurrent().gr_context  # what is shown belongs to the same cell
    _engines.add(engine)
    interrupts = _Interrupts()
    try:
        coroutine = engine.switch(*args)
        while not engine.dead:
            try:
                value = await interrupts.passed_on(coroutine)
            except BaseException as error:  # noqa: BLE001  the plain code is to see it
                engine.parent = getcurrent()
                coroutine = engine.throw(type(error), error, error.__traceback__)
            else:
                engine.parent = getcurrent()
                coroutine = engine.switch(value)
    finally:
        interrupts.end()
        _engines.discard(engine)
    result: T = coroutine  # the last thing that comes is what was returned
    return result


def complete(work: Callable[..., T], *args: Any) -> T:
    """Run plain code that may await, on an event loop of its own where none runs.

    Raises:
        SnippetError: it awaits, and a loop runs already.
        BaseException: whatever it raises.
    """
    __tracebackhide__ = True
    import asyncio

    with contextlib.suppress(RuntimeError):  # there is none, which no error in the work is about
        asyncio.get_running_loop()
        raise SnippetError(_NOBODY)
    return asyncio.run(spawned(work, *args))


class _Interrupts:
    """Makes Ctrl-C a KeyboardInterrupt in the measurement, also while the event loop waits.

    Else it would come out of the loop itself, or as a cancelled task, and what was measured until
    then would be lost.
    """

    def __init__(self) -> None:
        import asyncio

        self._waiting: Coroutine[Any, Any, Any] | None = None
        self._came = False
        self._before: Any = None
        try:
            self._task = asyncio.current_task()
        except RuntimeError:  # another library's loop
            return
        handles = callable(signal.getsignal(signal.SIGINT))
        if handles and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)

    def end(self) -> None:
        """Give the user's handler back."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

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
            assert self._task is not None
            self._task.uncancel()
            raise KeyboardInterrupt from None
        finally:
            self._waiting = None

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self._waiting is None or self._waiting.cr_running or self._task is None:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        self._came = True
        self._task.get_loop().call_soon_threadsafe(self._task.cancel)
