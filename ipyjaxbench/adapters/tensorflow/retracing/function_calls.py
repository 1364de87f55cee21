"""Calls of what `tf.function` gave that find their trace."""

import functools
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from types import FrameType
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import polymorphic_function

from ipyjaxbench.adapters.shared.retracing import main_frame, site_of
from ipyjaxbench.adapters.tensorflow import functions
from ipyjaxbench.adapters.tensorflow.retracing.cache_lookup import has_unknown_shapes
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import CachedCall, OnHit
from ipyjaxbench.usercode import is_users_file


class FunctionCalls(AbstractContextManager["FunctionCalls"]):
    """Tells of each such call while the context is open, in all threads.

    TensorFlow has no hook for these: meanwhile its class has another ``__call__`` around its own
    (private). A version without that class reports no calls.
    """

    def __init__(self) -> None:
        self.on_hit: OnHit | None = None
        self._kind: Any = getattr(polymorphic_function, "Function", None)
        self._own: Any = None

    def __enter__(self) -> "FunctionCalls":
        own = None if self._kind is None else vars(self._kind).get("__call__")
        on_hit = self.on_hit
        if own is None or on_hit is None:
            return self

        @functools.wraps(own)
        def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            before = _traces(function)
            value = own(function, *args, **kwargs)
            if _traces(function) == before > 0:
                with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                    on_hit(partial(_found, function, args, kwargs, sys._getframe(1)))
            return value

        self._own = own
        self._kind.__call__ = call
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._kind.__call__ = self._own


def _traces(function: Any) -> int:
    count = getattr(function, "experimental_get_tracing_count", None)
    return count() if count is not None else 0


def _found(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType
) -> CachedCall | None:
    """Return the user's call; None for a library's, a part of a trace, and what is not known."""
    is_run = tf.executing_eagerly() and not tf.config.functions_run_eagerly()
    if not is_run or not is_users_file(functions.file_of(function)):
        return None
    xla = bool(getattr(function, "_jit_compile", None))
    if xla and has_unknown_shapes(function, _traces(function)):
        return None
    return CachedCall(function, args, kwargs, site_of(frame, main_frame()))
