"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
from collections.abc import Callable
from contextlib import suppress
from traceback import walk_stack
from types import FrameType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import functions
from ipyjaxbench.adapters.tensorflow.compile_events import listen, tracings
from ipyjaxbench.adapters.tensorflow.devices import may_run_ahead
from ipyjaxbench.adapters.tensorflow.retracing import cache_key
from ipyjaxbench.adapters.tensorflow.retracing.call_watch import TensorFlowCallWatch
from ipyjaxbench.graphs import line_of
from ipyjaxbench.retracing import CacheMiss, CallWatch, Retracing
from ipyjaxbench.usercode import is_users_file


class Learner:
    """Listens to traces for as long as the process lives; calls that find theirs are free.

    Args:
        learn: gets what was found.

    Attributes:
        listens: whether this version of TensorFlow tells of traces.
    """

    def __init__(self, learn: Callable[[CacheMiss], None]) -> None:
        self._learn = learn
        self.listens = listen(self._on_trace)

    def _on_trace(self, _: Any) -> None:
        with suppress(Exception):  # the user's call goes on whatever becomes of ours
            going_on = [*tracings(sys._getframe(1))]
            if len(going_on) != 1:  # an inner one belongs to the outermost
                return
            function, args, kwargs = going_on[0]
            if is_users_file(functions.file_of(function)):
                file, line = _line_of_call(sys._getframe(1))
                self._learn(
                    CacheMiss(
                        name=functions.display_name(function),
                        signature=cache_key.signature(function, args, kwargs),
                        placed=False,
                        line=line,
                        text=line_of(file, line),
                    )
                )


def _line_of_call(frame: FrameType) -> tuple[str, int]:
    """File and line of the user's code that made the call."""
    for each, line in walk_stack(frame):
        if is_users_file(each.f_code.co_filename):
            return each.f_code.co_filename, line
    return "", 0


class TensorFlowRetracing(Retracing):
    """Counts of traces, and callbacks for new graphs."""

    def call_watch(self) -> CallWatch:
        """Counts of traces, one call at a time."""
        return TensorFlowCallWatch(may_run_ahead)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether a graph is being made."""
        return not tf.executing_eagerly()

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """From TensorFlow's callbacks for new graphs."""
        self._learner = Learner(on_miss)
        return self._learner.listens
