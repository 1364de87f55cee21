"""Whether TensorFlow's operations may still run when Python goes on; asking waits for none."""

from functools import cache
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context as tf_context

_ASK = ("TFE_ContextGetExecutorForThread", "TFE_ExecutorIsAsync", "TFE_DeleteExecutor")


def may_run_ahead() -> bool:
    """Whether operations may still run when Python goes on: on accelerators, or told to."""
    return runs_asynchronously() or has_accelerators()


def runs_asynchronously() -> bool:
    """Whether operations were told to run asynchronously in this thread.

    TensorFlow's own function makes an object that waits for all operations when it is let go.
    """
    handle = tf_context.context()._context_handle
    if handle is None or not asks_without_waiting():
        return not tf.config.experimental.get_synchronous_execution()
    return _is_async(handle)


@cache
def asks_without_waiting() -> bool:
    """Whether this version can be asked without waiting for operations."""
    return all(hasattr(pywrap_tfe, name) for name in _ASK)


def _is_async(handle: Any) -> bool:
    executor = pywrap_tfe.TFE_ContextGetExecutorForThread(handle)
    try:
        answer: bool = pywrap_tfe.TFE_ExecutorIsAsync(executor)
    finally:
        pywrap_tfe.TFE_DeleteExecutor(executor)
    return answer


@cache
def has_accelerators() -> bool:
    """Whether there are any; asking starts devices, which then stay what they are."""
    return any(device.device_type != "CPU" for device in tf.config.list_logical_devices())
