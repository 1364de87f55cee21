"""Waits for an event, as long as it takes on any machine, and no longer."""

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
_SECONDS = 60
_PAUSE = 0.01


def wait_until(known: Callable[[], _T], seconds: float = _SECONDS) -> _T:
    """Ask until the answer is true, and return it; fail where it is not after all that time."""
    limit = time.monotonic() + seconds
    while not (found := known()):
        assert time.monotonic() < limit, f"not so after {seconds:g} s"
        time.sleep(_PAUSE)
    return found
