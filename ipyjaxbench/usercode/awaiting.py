"""Lets code that is measured await, on the event loop that runs already.

A measurement is plain code. It runs in a greenlet, a stack of its own: where it has a coroutine
to finish it hands that to the stack of the event loop, which awaits it there. Nothing of asyncio
is patched. SQLAlchemy bridges its plain code and asyncio in the same way.
"""

import inspect
from collections.abc import Callable, Coroutine
from types import CodeType
from typing import Any, TypeVar

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.exclusive_section import Turn
from ipyjaxbench.usercode.interrupts import Interrupts

T = TypeVar("T")
#: The greenlets that wait for coroutines, or could.
_engines: set[Any] = set()
_NOBODY = (
    "await works where the magic stands in a cell or an async function, with %autoawait on:"
    " in any other function, below another magic such as %%time, or from Python, nobody can await"
    " for it while an event loop runs"
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
    turn = Turn()
    await turn.begin()
    try:
        return await _bridged(turn, work, *args)
    finally:
        turn.end()


async def _bridged(turn: Turn, work: Callable[..., T], *args: Any) -> T:
    __tracebackhide__ = True
    from greenlet import getcurrent, greenlet

    engine = greenlet(work)
    engine.gr_context = getcurrent().gr_context  # what is shown belongs to the same cell
    _engines.add(engine)
    interrupts = Interrupts(turn)
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

    if loop_runs():
        raise SnippetError(_NOBODY)
    return asyncio.run(spawned(work, *args))


def loop_runs() -> bool:
    """Whether an event loop runs in this thread already."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
