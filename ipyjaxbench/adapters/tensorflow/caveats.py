"""Settings of TensorFlow that change what a figure means."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.debug.lib import check_numerics_callback
from tensorflow.python.eager import context as tf_context
from tensorflow.python.framework import config
from tensorflow.python.profiler import profiler_v2

from ipyjaxbench.adapters.shared import matmul_precision
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.reports import GOOD_TO_KNOW, Note
from ipyjaxbench.timing import Caveats, CodeFacts
from ipyjaxbench.timing import validity_notes as notes


class TensorFlowCaveats(Caveats):
    """Debugging modes, a tape around the code, several workers, rounded products."""

    def __init__(self, framework: Framework) -> None:
        super().__init__(framework)
        #: What tiny products have shown.
        self._lost: dict[str, float | None] = {}

    def caveats(self, code: CodeFacts) -> Iterator[Note]:
        """Nothing before TensorFlow has started."""
        if not self.framework.started():
            return
        yield from self._rounded(code)
        yield from _modes(code)
        if _tape_is_on():
            yield notes.recorded("A tf.GradientTape", "time it outside of the tape")
        if getattr(profiler_v2, "_profiler", None) is not None:
            yield notes.watched("tf.profiler")
        yield from _processes()

    def _rounded(self, seen: CodeFacts) -> Iterator[Note]:
        """TensorFloat-32, which GPUs use unless it is turned off."""
        devices = [d for d in seen.devices("tensorflow", "float32") if d.startswith("gpu")]
        allowed = devices and tf.config.experimental.tensor_float_32_execution_enabled()
        if not allowed or not (seen.multiplies or _has_modules(seen)):
            return
        device, *_ = devices
        if device not in self._lost:
            self._lost[device] = _tiny_product(device)
        error = self._lost[device]
        if error is not None:
            advice = "tf.config.experimental.enable_tensor_float_32_execution(False)"
            yield notes.reduced_precision(device, "TensorFlow's default", error, advice)


def _has_modules(seen: CodeFacts) -> bool:
    return any(issubclass(type(f), tf.Module) for f in seen.functions)


def _modes(seen: CodeFacts) -> Iterator[Note]:
    kind = tf.types.experimental.PolymorphicFunction
    if tf.config.functions_run_eagerly() and any(isinstance(f, kind) for f in seen.compiled):
        yield notes.setting_on(
            "tf.config.run_functions_eagerly",
            "no graph is made, each operation of a tf.function runs by itself",
            "tf.config.run_functions_eagerly(False)",
        )
    if _checks_numerics():
        yield notes.setting_on(
            "tf.debugging.enable_check_numerics",
            "every result is checked",
            "tf.debugging.disable_check_numerics()",
        )
    if tf.debugging.get_log_device_placement():
        yield notes.setting_on(
            "tf.debugging.set_log_device_placement",
            "every operation is logged",
            "tf.debugging.set_log_device_placement(False)",
        )
    if _is_deterministic():
        yield notes.setting_on(
            "tf.config.experimental.enable_op_determinism",
            "some operations take a slower way",
            "restart without it",
            mark=GOOD_TO_KNOW,
        )


def _is_deterministic() -> bool:
    enabled = getattr(config, "is_op_determinism_enabled", None)
    return enabled is not None and bool(enabled())


def _checks_numerics() -> bool:
    state = getattr(check_numerics_callback, "_state", None)
    return getattr(state, "check_numerics_callback", None) is not None


def _tape_is_on() -> bool:
    """Whether the code was timed inside of a tape; each call then adds to it."""
    is_empty = getattr(pywrap_tfe, "TFE_Py_TapeSetIsEmpty", None)
    return is_empty is not None and not is_empty()


def _processes() -> Iterator[Note]:
    """The workers of a cluster, as the strategy that joined it has set it up."""
    told: Any = getattr(tf_context.context(), "_collective_ops_server_def", None)
    if told is None:
        return
    workers = sum(len(job.tasks) for job in told.cluster.job)
    if workers > 1:
        yield notes.processes(workers, told.task_index)


def _tiny_product(name: str) -> float | None:
    """Bits that a product loses on a device under the settings of this moment."""
    left, right, _ = matmul_precision.example()
    try:
        with tf.device(name):
            return matmul_precision.lost(tf.matmul(tf.constant(left), tf.constant(right)).numpy())
    except Exception:  # noqa: BLE001  the device cannot do it so: nothing is known
        return None
