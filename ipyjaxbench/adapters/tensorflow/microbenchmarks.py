"""The work with which the peaks of TensorFlow's devices are measured."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.shared.varied_numbers import varied_numbers
from ipyjaxbench.device import Probe, Run


class TensorFlowProbe(Probe):
    """TensorFlow, eager, on one device; ``wait`` is None where that never runs ahead."""

    dtypes = ("float32", "bfloat16", "float16", "float64", "int8")

    def __init__(self, device: str, wait: Callable[[], object] | None) -> None:
        self.device = device
        self.on_host = device.startswith("cpu")
        rounds = tf.config.experimental.tensor_float_32_execution_enabled()
        self.settings = "" if rounds or self.on_host else "TensorFloat-32 off"
        self._wait = wait

    def product(self, dtype: str, n: int) -> Run:
        """Multiply; numbers of 8 bits are summed up in 32."""
        x = self._numbers((n, n), dtype)
        if dtype == "int8":
            return self._run(lambda: tf.matmul(x, x, output_type=tf.int32), self.in_a_row)
        return self._run(lambda: tf.matmul(x, x), self.in_a_row)

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Add in place, which reads two arrays and writes one, and sum, which reads one."""
        x = self._ones((nbytes // 4,))
        with tf.device(self.device):
            variable = tf.Variable(x, trainable=False)
        times = self.in_a_row
        added = self._run(lambda: variable.assign_add(x, read_value=False), times)
        total = self._run(lambda: tf.reduce_sum(x), times)
        return (added, 3 * nbytes * times), (total, nbytes * times)

    def upload(self, nbytes: int) -> Run:
        """Make a new tensor each time."""
        here = np.ones(nbytes, np.uint8)
        return self._run(lambda: tf.constant(here))

    def download(self, nbytes: int) -> Run:
        """Make a new array each time."""
        return self._ones((nbytes,), "uint8").numpy  # type: ignore[no-any-return]

    def smallest_operation(self) -> Run:
        """Negate a number."""
        x = self._ones(())
        return self._run(lambda: tf.negative(x))

    def _numbers(self, shape: tuple[int, ...], dtype: str) -> Any:
        if self.on_host:
            return self._ones(shape, dtype)
        with tf.device(self.device):
            return tf.constant(
                np.resize(varied_numbers(dtype).astype(tf.as_dtype(dtype).as_numpy_dtype), shape)
            )

    def _ones(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        with tf.device(self.device):
            return tf.ones(shape, dtype)

    def _run(self, work: Run, times: int = 1) -> Run:
        wait = self._wait

        def run() -> object:
            with tf.device(self.device):
                for _ in range(times):
                    result = work()
            if wait is not None:
                wait()
            return result

        return run
