"""In a graph an iterator over a dataset has no end: Python that waits for one never returns."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

_MAX_ELEMENTS = 1000  # elements that are taken one by one
_MODULE = "tensorflow.python.data.ops.iterator_ops"


class EndlessError(Exception):
    """Python takes one element of a dataset after another."""


@contextmanager
def limit_iteration() -> Iterator[None]:
    """Raise where this thread takes very many elements; do nothing where that is hidden.

    The class is changed for so long: no public way shows how often it is asked.
    """
    kind: Any = getattr(sys.modules.get(_MODULE), "OwnedIterator", None)
    original = getattr(kind, "__next__", None)
    if original is None:
        yield
        return
    thread, taken = get_ident(), 0

    def following(self: Any) -> Any:
        nonlocal taken
        if get_ident() == thread:
            taken += 1
            if taken > _MAX_ELEMENTS:
                raise EndlessError(
                    f"Python took {_MAX_ELEMENTS:,} elements of a dataset, one by one"
                )
        return original(self)

    kind.__next__ = following
    try:
        yield
    finally:
        kind.__next__ = original
