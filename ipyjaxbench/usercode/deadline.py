"""A time within which code of the user's has to end."""

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from ipyjaxbench.host import Clock

_CLOCK = Clock.elapsed()


class OutOfTimeError(BaseException):
    """The time is over; no `except Exception` of the user's code stops it."""


@contextlib.contextmanager
def time_limit(seconds: float, is_users: Callable[[str], bool], turns: int = 0) -> Iterator[None]:
    """Raise at the first line of the user's code that begins too late.

    Where a debugger follows the code, nothing is raised: Python lets only one follow.

    Args:
        seconds: from now on.
        is_users: whether a file is the user's.
        turns: how often a line has to have begun besides, as those of a long loop do.

    Raises:
        OutOfTimeError: the time is over.
    """
    if sys.gettrace() is not None:
        yield
        return
    end = _CLOCK.now() + seconds * 1e9

    begun: Counter[tuple[CodeType, int]] = Counter()

    def on_line(frame: FrameType, _event: str, _value: Any) -> Any:
        line = (frame.f_code, frame.f_lineno)
        begun[line] += 1
        if _CLOCK.now() > end and begun[line] > turns:
            raise OutOfTimeError
        return on_line

    def on_call(frame: FrameType, _event: str, _value: Any) -> Any:
        file = frame.f_code.co_filename
        return on_line if is_users(file) else None

    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(None)
