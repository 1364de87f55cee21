"""Where Python waits for TensorFlow's devices."""

from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops

from ipyjaxbench.adapters.tensorflow.asynchronous import may_run_ahead
from ipyjaxbench.steps import DeviceWaits, WaitPoint
from ipyjaxbench.usercode import is_of


class TensorFlowWaits(DeviceWaits):
    """Reads of tensors, where operations return before their work is done."""

    def points(self) -> tuple[WaitPoint, ...]:
        """Return what reads go through; it is private but for the last ones."""
        kind = getattr(ops, "EagerTensor", None)
        if not self.framework.runs_ahead():
            return ()
        return (
            WaitPoint(kind, "numpy"),
            WaitPoint(kind, "_numpy_internal"),
            WaitPoint(tf.test.experimental, "sync_devices"),
            WaitPoint(getattr(tf.experimental, "async_scope", None), "__exit__"),
        )

    def computes_in_call(self, array: Any) -> bool:  # noqa: ARG002
        """Whether operations have computed when they return."""
        return not may_run_ahead()

    def loader_advice(self, value: object) -> str:
        """Advise a queue ahead, and parallel work, for a dataset."""
        if not is_of(value, tf.data.Dataset):
            return ""
        return (
            "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE):"
            " batches are made beside the loop"
        )
