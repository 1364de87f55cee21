"""TensorFlow: eager on the CPU is synchronous; GPUs and the async executor are not."""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.adapters.tensorflow.asynchronous import (
    asks_without_waiting,
    has_accelerators,
    may_run_ahead,
)
from ipyjaxbench.adapters.tensorflow.compilation import tracing_seconds
from ipyjaxbench.adapters.tensorflow.devices import name_of
from ipyjaxbench.adapters.tensorflow.placement import named_parts
from ipyjaxbench.frameworks import Framework, Placement, Wait
from ipyjaxbench.host import host_memory
from ipyjaxbench.usercode import extends, is_of

_HERE = "ipyjaxbench.adapters.tensorflow"


class TensorFlow(Framework):
    """`tf.Tensor` and `tf.Variable`, eager."""

    name = "tensorflow"
    module = "tensorflow"
    capabilities: ClassVar = {
        "ArrayInspector": f"{_HERE}.arrays:TensorFlowArrays",
        "Caveats": f"{_HERE}.caveats:TensorFlowCaveats",
        "Compilation": f"{_HERE}.compilation:TensorFlowCompilation",
        "DeviceInventory": f"{_HERE}.devices:TensorFlowDevices",
        "DeviceWaits": f"{_HERE}.waits:TensorFlowWaits",
        "GraphTracer": f"{_HERE}.graphs.tracer:TensorFlowTracer",
        "MutableState": f"{_HERE}.state:TensorFlowState",
        "Profiler": f"{_HERE}.profiler:TensorFlowProfiler",
        "Retracing": f"{_HERE}.retracing.listener:TensorFlowRetracing",
        "TransferWatch": f"{_HERE}.transfers:TensorFlowTransfers",
    }

    def __init__(self) -> None:
        self._kinds = (tf.Tensor, tf.Variable)
        if tracing_seconds() is None:
            self.gaps += ("this version does not report how long tracing takes.",)
        if not asks_without_waiting():
            self.gaps += ("this version finds no asynchronous work that values do not show.",)
        self.started()

    def version(self) -> str:
        """Return TensorFlow's version."""
        return str(tf.__version__)

    def started(self) -> bool:
        """Whether the eager context exists; listing devices would make it."""
        context = tf_context._context
        return context is not None and context._context_handle is not None

    def owns(self, kind: type) -> bool:
        """Whether these are tensors and variables."""
        return extends(kind, *self._kinds)

    def parts(self, value: Any) -> Iterable[object] | None:
        """Return variables of modules and of Keras layers and models."""
        if is_of(value, tf.Module):
            return list(value.variables)
        if is_of(value, tf.types.experimental.PolymorphicFunction):
            return []  # it keeps handles of variables, which are no arrays
        keras: Any = sys.modules.get("keras")
        if keras is not None and is_of(value, keras.layers.Layer):
            return [variable.value for variable in value.weights]
        return None

    named_parts = staticmethod(named_parts)

    def placement(self, array: Any) -> Placement:
        """Return type, the last parts of the device's name, and bytes; 0 where it has failed."""
        shape = _shape_of(array)
        dtype = array.dtype
        return Placement(
            name="",
            framework=self.name,
            arrays=1,
            dtype=dtype.name.removesuffix("_ref"),
            shape=shape,
            devices=(name_of(array.device),),
            nbytes=0 if shape is None else abs(math.prod(shape)) * dtype.size,
        )

    def free_memory(self) -> int:
        """Return the host's: TensorFlow does not say how much a device has."""
        return host_memory()

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:  # noqa: ARG002
        """Wait for all devices where any of them runs ahead of Python."""
        return (lambda _: tf.test.experimental.sync_devices()) if may_run_ahead() else None

    def drain(self) -> None:
        """Wait for all devices where any of them runs ahead of Python.

        What an operation raises that was told to run asynchronously is kept: TensorFlow refuses to
        work until it is cleared.
        """
        if not self.runs_ahead():
            return
        try:
            tf.test.experimental.sync_devices()
        except tf.errors.OpError as error:
            tf_context.context().executor.clear_error()
            self.keep_failure(error)

    def runs_ahead(self) -> bool:
        """Whether it computes on accelerators, or the user has set it so."""
        return self.started() and tf.executing_eagerly() and may_run_ahead()

    def is_running(self) -> bool | None:
        """Return None where operations run ahead: only the time that waiting takes can show it."""
        return None if self.runs_ahead() else False

    def computes_on_host(self) -> bool:
        """Whether there are no accelerators: its asynchronous executor alone runs ahead then."""
        return self.started() and not has_accelerators()


def _shape_of(array: Any) -> tuple[int, ...] | None:
    """Return a shape; None where the operation has failed that was to compute the array."""
    try:
        return tuple(-1 if n is None else int(n) for n in array.shape)
    except tf.errors.OpError:
        return None
