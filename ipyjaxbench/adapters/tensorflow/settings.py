"""TensorFlow's settings for the whole process: read, and put back where a call changed them."""

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.frameworks import Holder, Setting, State

#: What is read and set by functions.
_PAIRS: tuple[tuple[str, Callable[[], Any], Callable[[Any], object]], ...] = (
    ("tf.config.functions_run_eagerly()", tf.config.functions_run_eagerly,
     tf.config.run_functions_eagerly),
    ("tf.config.get_soft_device_placement()", tf.config.get_soft_device_placement,
     tf.config.set_soft_device_placement),
    ("tf.debugging.get_log_device_placement()", tf.debugging.get_log_device_placement,
     tf.debugging.set_log_device_placement),
    ("tf.summary.experimental.get_step()", tf.summary.experimental.get_step,
     tf.summary.experimental.set_step),
    ("tf.config.optimizer.get_jit()", tf.config.optimizer.get_jit, tf.config.optimizer.set_jit),
    ("tensor_float_32_execution_enabled()",
     tf.config.experimental.tensor_float_32_execution_enabled,
     tf.config.experimental.enable_tensor_float_32_execution),
)  # fmt: skip


def settings() -> Iterator[tuple[str, State]]:
    """Yield how functions run and are compiled, where operations are placed, and the logger."""
    for name, read, write in _PAIRS:
        yield name, _setting(read, write)
    # Private: what is public tells the defaults too, and takes none back.
    options = getattr(tf_context.context(), "_optimizer_experimental_options", None)
    if options is not None:
        yield "options of the optimizer of graphs", _options(options)
    yield "tf.get_logger()", Holder(None, [tf.get_logger()])


def _setting(read: Callable[[], Any], write: Callable[[Any], object]) -> Setting:
    return Setting(lambda: [read()], lambda values: write(*values))


def _options(options: dict[str, Any]) -> Setting:
    def write(values: list[Any]) -> None:
        half = len(values) // 2
        options.clear()
        # That also has functions forget those that they were called with.
        before = dict(zip(values[:half], values[half:], strict=True))
        tf.config.optimizer.set_experimental_options(before)

    return Setting(lambda: [*options, *options.values()], write)
