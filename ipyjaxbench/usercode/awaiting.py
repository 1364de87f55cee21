"""Lets code that is measured await, on the event loop that runs already.

A measurement is plain code. It runs in a greenlet, a stack of its own: where it has a coroutine
to finish it hands that to the stack of the event loop, which awaits it there. Nothing of asyncio
is patched. SQLAlchemy bridges its plain code and asyncio in the same way.
"""

import inspect
import signal
import threading
from collections.abc import Callable, Coroutine
from types import CodeType, FrameType
from typing import Any, TypeVar

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.exclusive_section import ExclusiveSection

T = TypeVar("T")
#: The greenlets of `run_in_loop`: those that wait for coroutines, or could.
_greenlets: set[Any] = set()
_CANNOT_AWAIT = (
    "await works only in a cell or in an async function, with %autoawait on. While an event loop"
    " runs, it does not work in other functions, from Python, or below magics such as %%time."
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
    return finish(value) if code.co_flags & inspect.CO_COROUTINE else value


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the value of a coroutine, in plain code that `run_in_loop` runs.

    Raises:
        SnippetError: something else runs it, so that nobody can await.
        BaseException: whatever the coroutine raised.
    """
    __tracebackhide__ = True
    if _greenlets:
        from greenlet import getcurrent

        if getcurrent() in _greenlets:
            value: T = getcurrent().parent.switch(coroutine)
            return value
    coroutine.close()
    raise SnippetError(_CANNOT_AWAIT)


async def run_in_loop(work: Callable[..., T], *args: Any) -> T:
    """Run plain code, and await what it hands to `finish`.

    Tasks that do so at the same time take turns: each would disturb what the others measure.

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
    async with ExclusiveSection() as section:
        from greenlet import getcurrent, greenlet

        worker = greenlet(work)
        worker.gr_context = getcurrent().gr_context  # what is shown belongs to the same cell
        _greenlets.add(worker)
        interrupts = _Interrupts(section)
        try:
            coroutine = worker.switch(*args)
            while not worker.dead:
                try:
                    value = await interrupts.forward(coroutine)
                except BaseException as error:  # noqa: BLE001  the plain code is to see it
                    worker.parent = getcurrent()
                    coroutine = worker.throw(type(error), error, error.__traceback__)
                else:
                    worker.parent = getcurrent()
                    coroutine = worker.switch(value)
        finally:
            interrupts.end()
            _greenlets.discard(worker)
        result: T = coroutine  # the last thing that comes is what was returned
        return result


def run_in_new_loop(work: Callable[..., T], *args: Any) -> T:
    """Run plain code that may await, on an event loop of its own where none runs.

    Raises:
        SnippetError: it awaits, and a loop runs already.
        BaseException: whatever it raises.
    """
    __tracebackhide__ = True
    import asyncio

    if loop_runs():
        raise SnippetError(_CANNOT_AWAIT)
    return asyncio.run(run_in_loop(work, *args))


def loop_runs() -> bool:
    """Whether an event loop runs in this thread already."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Interrupts:
    """Makes Ctrl-C a KeyboardInterrupt in the measurement, also while the event loop waits.

    Else it would come out of the loop itself, or as a cancelled task, and what was measured until
    then would be lost.
    """

    def __init__(self, section: ExclusiveSection) -> None:
        import asyncio

        self._section = section
        self._waiting: Coroutine[Any, Any, Any] | None = None
        self._came = self._is_over = False
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
        self._is_over = True
        if self._before is None:
            return
        if signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self._before)
        if self._came:  # too late for the measurement: it is for the code behind it
            self._before(signal.SIGINT, None)

    async def forward(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine, and raise KeyboardInterrupt where Ctrl-C cancelled it."""
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
        is_measured = current is None or current is self._task or self._section.is_current()
        if self._is_over or self._task is None or not is_measured:
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
