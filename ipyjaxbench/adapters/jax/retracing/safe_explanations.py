"""JAX's explanations of misses of its caches, where the user's own code is in the way."""

import sys
import threading
from contextlib import AbstractContextManager
from typing import Any

from jax._src.interpreters import partial_eval

_replacing = threading.Lock()


class SafeExplanations(AbstractContextManager["SafeExplanations"]):
    """Has JAX explain what it can: it prints static arguments, which may raise (private).

    That holds for the thread that opens it; JAX does for other threads what it does without.
    Several may be open, and are closed in any order.
    """

    def __init__(self) -> None:
        self._thread, self._is_open = threading.get_ident(), False
        self._explain: Any = None

    def __call__(self, *keys: Any) -> Any:
        """Stand in for JAX's function."""
        try:
            return self._explain(*keys)
        except Exception:  # of the user's `__repr__`
            if not self._is_open or self._thread != threading.get_ident():
                raise
            return sys.maxsize, 0, "explanation unavailable"

    def __enter__(self) -> "SafeExplanations":
        with _replacing:
            self._explain = _in_place()
            if self._explain is not None:  # else another version
                self._is_open = True
                partial_eval.diff_tracing_cache_keys = self
        return self

    def __exit__(self, *_: object) -> None:
        with _replacing:
            self._is_open = False
            while type(top := _in_place()) is SafeExplanations and not top._is_open:
                partial_eval.diff_tracing_cache_keys = top._explain


def _in_place() -> Any:
    return getattr(partial_eval, "diff_tracing_cache_keys", None)
