"""Gives up code that awaits, and in which no call returns any more."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_LOOKS = 10  # at the calls that are left, before they are given up


class StuckError(Exception):
    """A call that awaits has not returned for a while, as one that waits for itself.

    Attributes:
        seconds: for which nothing returned.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"did not return within {seconds:g} s")
        self.seconds = seconds


async def await_patiently(
    coroutine: Coroutine[Any, Any, T], seconds: float, count_left: Callable[[], int]
) -> T:
    """Return the value of a coroutine that makes calls, unless one of them takes too long.

    Args:
        coroutine: what makes them.
        seconds: for which one call may take.
        count_left: tells how many calls are not begun yet.

    Raises:
        StuckError: no call has returned for so many seconds.
        BaseException: whatever the coroutine raised.
    """
    __tracebackhide__ = True
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:  # another library's loop
        task = None
    if task is None:
        return await coroutine
    loop = asyncio.get_running_loop()
    is_given_up = False
    handle = loop.call_later(seconds / _LOOKS, lambda: look(-1, 0))

    def look(before: int, unchanged: int) -> None:
        nonlocal handle, is_given_up
        left = count_left()
        unchanged = unchanged + 1 if left == before else 0
        is_given_up = unchanged == _LOOKS
        if is_given_up:
            task.cancel()
        else:
            handle = loop.call_later(seconds / _LOOKS, look, left, unchanged)

    try:
        return await coroutine
    except asyncio.CancelledError:
        if not is_given_up:  # the user's Ctrl-C, or whoever holds the task
            raise
        task.uncancel()
        raise StuckError(seconds) from None
    finally:
        handle.cancel()
