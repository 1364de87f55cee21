"""Who is at work, a magic or a function: errors and advice name what can be typed there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_caller: ContextVar[str] = ContextVar("caller", default="")


@contextmanager
def called_from(caller: str) -> Iterator[None]:
    """Have errors and advice name what can be typed there: "%fwtime", or "measure" in Python."""
    __tracebackhide__ = True
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> str:
    """Return the magic or the function that is at work; "" where it is not known."""
    return _caller.get()


def by_caller(magic: str, python: str) -> str:
    """Return one of two texts, by who is at work.

    Example:
        >>> with called_from("%fwtime"):
        ...     by_caller("-b 5", "budget=5")
        '-b 5'
    """
    return magic if caller().startswith("%") else python
