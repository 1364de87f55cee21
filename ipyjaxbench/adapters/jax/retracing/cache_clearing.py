"""Whether `jax.clear_caches` was called: what it drops of JAX's own it drops of a cache of ours."""

from collections.abc import Callable
from typing import Any

from jax._src import util

from ipyjaxbench.errors import CODE_ERRORS


def _kept_mark() -> Callable[[], object]:
    """Return a function that gives the same object until JAX's caches are cleared (private)."""
    try:
        cache: Any = util.cache
        kept: Callable[[], object] = cache(trace_context_in_key=False)(object)
        kept()
    except CODE_ERRORS:  # another version: then it is never known
        return lambda: None
    return kept


_mark = _kept_mark()
_marks: dict[int, object] = {}  # that there were when functions were traced last, by their tokens


def note_trace(function: int) -> bool:
    """Note that a function is traced, by its token; return whether caches were cleared before."""
    cleared = were_cleared(function)
    _marks[function] = _mark()
    return cleared


def were_cleared(function: int) -> bool:
    """Whether JAX's caches were cleared since a function was traced; False if that is unknown."""
    return function in _marks and _marks[function] is not _mark()
