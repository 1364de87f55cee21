"""Settings of TensorFlow that change what a figure means."""

import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.debug.lib import check_numerics_callback
from tensorflow.python.eager import context as tf_context
from tensorflow.python.framework import config
from tensorflow.python.profiler import profiler_v2

from ipyjaxbench.adapters.shared.matmul_precision import may_multiply, note_rounding
from ipyjaxbench.reports import GOOD_TO_KNOW, Note
from ipyjaxbench.timing import (
    Caveats,
    CodeFacts,
    note_processes,
    note_recorded,
    note_setting_on,
    note_watched,
)


class TensorFlowCaveats(Caveats):
    """Debugging modes, a tape around the code, several workers, rounded products."""

    def caveats(self, code: CodeFacts) -> Iterator[Note]:
        """Yield nothing before TensorFlow has started."""
        if not self.framework.started():
            return
        yield from self._stale_programs(code)
        yield from _note_rounding(code)
        yield from _modes(code)
        if _tape_is_on():
            yield note_recorded("A tf.GradientTape", "time it outside of the tape")
        if getattr(profiler_v2, "_profiler", None) is not None:
            yield note_watched("tf.profiler")
        yield from _processes()

    def _stale_programs(self, code: CodeFacts) -> Iterator[Note]:
        """Yield a note where a function that the code calls was traced with other values."""
        if "ipyjaxbench.retracing.trace_log" in sys.modules:  # else no trace was seen
            from ipyjaxbench.adapters.shared.stale_programs import note_stale_programs
            from ipyjaxbench.adapters.tensorflow.retracing.call_watch import TensorFlowCallWatch

            yield from note_stale_programs(TensorFlowCallWatch(self.framework), code)


def _note_rounding(code: CodeFacts) -> Iterator[Note]:
    """Yield a note on TensorFloat-32, which GPUs use unless it is turned off."""
    devices = [d for d in code.devices("tensorflow", "float32") if d.startswith("gpu")]
    allowed = devices and tf.config.experimental.tensor_float_32_execution_enabled()
    if allowed and may_multiply(code, tf.Module):
        advice = "tf.config.experimental.enable_tensor_float_32_execution(False)"
        what = "TensorFlow's default"
        yield from note_rounding(_multiply, devices[0], what, advice, by_default=True)


def _multiply(device: str, left: Any, right: Any) -> Any:
    with tf.device(device):
        return tf.matmul(tf.constant(left), tf.constant(right)).numpy()


def _modes(code: CodeFacts) -> Iterator[Note]:
    kind = tf.types.experimental.PolymorphicFunction
    if tf.config.functions_run_eagerly() and any(isinstance(f, kind) for f in code.compiled):
        yield note_setting_on(
            "tf.config.run_functions_eagerly",
            "tf.function builds no graph, operations run one by one",
            "tf.config.run_functions_eagerly(False)",
        )
    if _checks_numerics():
        yield note_setting_on(
            "tf.debugging.enable_check_numerics",
            "every result is checked",
            "tf.debugging.disable_check_numerics()",
        )
    if tf.debugging.get_log_device_placement():
        yield note_setting_on(
            "tf.debugging.set_log_device_placement",
            "every operation is logged",
            "tf.debugging.set_log_device_placement(False)",
        )
    if _is_deterministic():
        yield note_setting_on(
            "tf.config.experimental.enable_op_determinism",
            "some operations use slower algorithms",
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
    """Yield a note on the workers of a cluster, as the strategy that joined it has set it up."""
    server: Any = getattr(tf_context.context(), "_collective_ops_server_def", None)
    if server is None:
        return
    workers = sum(len(job.tasks) for job in server.cluster.job)
    if workers > 1:
        yield note_processes(workers, server.task_index)
