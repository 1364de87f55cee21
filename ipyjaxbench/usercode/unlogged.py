"""Code that runs to be looked at logs nothing."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_changing = threading.Lock()
_quiet: list[int] = []  # threads, each as often as it has entered
_replaced: list[Any] = []  # what handles records of the others


@contextmanager
def unlogged() -> Iterator[None]:
    """Drop what this thread gives to Python's loggers meanwhile, whatever handlers they have."""
    thread = threading.get_ident()
    with _changing:
        if not _quiet:
            _replaced[:] = [logging.Logger.handle]
            logging.Logger.handle = _handle_others  # type: ignore[assignment, method-assign]
        _quiet.append(thread)
    try:
        yield
    finally:
        with _changing:
            _quiet.remove(thread)
            if not _quiet:
                logging.Logger.handle = _replaced[0]  # type: ignore[method-assign]


def _handle_others(logger: logging.Logger, record: logging.LogRecord) -> None:
    if threading.get_ident() not in _quiet:
        _replaced[0](logger, record)
