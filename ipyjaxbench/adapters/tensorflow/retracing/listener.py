"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared.retracing import cache_miss
from ipyjaxbench.adapters.tensorflow import functions
from ipyjaxbench.adapters.tensorflow.compile_events import listen, tracings
from ipyjaxbench.adapters.tensorflow.retracing import cache_key
from ipyjaxbench.adapters.tensorflow.retracing.call_watch import TensorFlowCallWatch
from ipyjaxbench.adapters.tensorflow.retracing.callee import OF_MODELS, model_method_name
from ipyjaxbench.adapters.tensorflow.retracing.model_code import KerasModelCode, traced_method
from ipyjaxbench.adapters.tensorflow.retracing.origins import keep_origin, keeps_unseen
from ipyjaxbench.adapters.tensorflow.retracing.traced_code import TensorFlowTracedCode
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import TRACE_LOG, CacheMiss, CallWatch, Retracing
from ipyjaxbench.usercode import is_users_file


def _report(on_miss: Callable[[CacheMiss], None], concrete: Any) -> None:
    """Report the trace that has just ended, unless it is part of another one."""
    with suppress(*CODE_ERRORS):  # the user's call goes on whatever becomes of ours
        frame = sys._getframe(1)
        going_on = [*tracings(frame)]
        if going_on:
            keep_origin(concrete, going_on[0].function)
        ((function, args, kwargs),) = going_on
        if (method := traced_method(function)) is not None:
            _keep_trace_of_model(method, function, concrete)
        elif is_users_file(functions.file_of(function)):
            signature = cache_key.signature(function, args, kwargs)
            name, code = functions.display_name(function), TensorFlowTracedCode(function, concrete)
            unseen = keeps_unseen(function)
            on_miss(cache_miss(name, signature, frame, placed=False, code=code, unseen=unseen))


def _keep_trace_of_model(method: Any, function: Any, concrete: Any) -> None:
    """Keep what a Keras model read; it is no call of the user's that is reported."""
    made = getattr(method.__self__, OF_MODELS[method.__name__])
    signature = cache_key.model_trace_signature(method, made, function, concrete)
    TRACE_LOG.add_trace(model_method_name(method), signature, KerasModelCode(method))


class TensorFlowRetracing(Retracing):
    """Counts of traces, and callbacks for new graphs."""

    def call_watch(self) -> CallWatch:
        """Return a watch by counts of traces."""
        return TensorFlowCallWatch(self.framework)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether a graph is being made."""
        return not tf.executing_eagerly()

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """Report by TensorFlow's callbacks for new graphs; calls that find theirs are free."""
        return listen(partial(_report, on_miss))
