"""Traced or cached, in TensorFlow."""

from collections.abc import Callable

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.devices import may_run_ahead
from ipyjaxbench.adapters.tensorflow.retracing.call_watch import TensorFlowCallWatch
from ipyjaxbench.adapters.tensorflow.retracing.listener import Learner
from ipyjaxbench.retracing.cache_key import CacheMiss
from ipyjaxbench.retracing.protocol import CallWatch, Retracing


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
