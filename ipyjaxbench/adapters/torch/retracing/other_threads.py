"""Other threads in calls of a compiled function: dynamo compiles for one thread at a time."""

import threading
from traceback import walk_stack
from types import FrameType
from typing import Any

from ipyjaxbench.adapters.torch.retracing import callee
from ipyjaxbench.usercode import current_frames


def threads_in(function: Any) -> set[int]:
    """Return the other threads that are in a call of a function, wherever in it."""
    return {thread for thread, frame in _others() if _is_in(function, frame)}


def threads_before(function: Any) -> set[int]:
    """Return the other threads that have called a function, and wait for dynamo or are in it."""
    callers = ((thread, callee.caller(frame)) for thread, frame in _others())
    return {thread for thread, frame in callers if frame is not None and _calls(function, frame)}


def _others() -> list[tuple[int, FrameType]]:
    own = threading.get_ident()
    return [each for each in current_frames().items() if each[0] != own]


def _is_in(function: Any, frame: FrameType) -> bool:
    return any(_calls(function, each) for each, _ in walk_stack(frame))


def _calls(function: Any, frame: FrameType) -> bool:
    call = callee.called_from(frame)
    called = callee.disabled_in(frame) if call is None else call[0]
    return called is not None and called is function
