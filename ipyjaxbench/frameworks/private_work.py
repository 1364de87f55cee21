"""Work that is done for a figure or a picture alone: the session has no part in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_private = ContextVar("private", default=False)


@contextmanager
def private_work() -> Iterator[None]:
    """Have what is traced and compiled meanwhile be none of the session's: nothing goes on with it.

    Other threads are the user's.
    """
    before = _private.set(True)
    try:
        yield
    finally:
        _private.reset(before)


def is_private() -> bool:
    """Whether what runs now is private work."""
    return _private.get()
