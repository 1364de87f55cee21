"""TensorFlow's tensors and variables one by one: where they live, and their replicas."""

from dataclasses import replace
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops

from ipyjaxbench.adapters.tensorflow.devices import name_of
from ipyjaxbench.device import ArrayInspector, ArrayPlacement, Shard, Sharding, Weight


class TensorFlowArrays(ArrayInspector):
    """Tensors, and variables with their replicas; no list of tensors is kept."""

    def locate(self, name: str, array: Any) -> ArrayPlacement:
        """Return one tensor or variable; a variable may have a copy on each of several devices."""
        placed = super().locate(name, array)
        if isinstance(array, tf.Tensor) and not isinstance(array, ops.EagerTensor):
            layout = "symbolic tensor of a graph, no values"
            return replace(placed, nbytes=0, devices=(), layout=layout)
        placed = replace(placed, layout=_variable(name, array))
        copies = tuple(name_of(each.device) for each in _copies(array))
        if not copies:
            return placed
        sharding = _replicated_sharding(array, placed.shape, copies) if len(copies) > 1 else None
        return replace(placed, devices=copies, sharding=sharding)

    def weight(self, array: Any) -> Weight | None:
        """Return device and bytes; of variables with their replicas."""
        if type(array) is not ops.EagerTensor:
            return super().weight(array)
        place = self.framework.placement(array)
        return Weight(place.devices, place.nbytes)

    def keeps_unseen(self, value: object) -> bool:
        """Whether it is a tape that has not given its gradients, or keeps what it recorded."""
        return isinstance(value, tf.GradientTape) and getattr(value, "_tape", None) is not None

    def to_numpy(self, array: Any) -> Any | None:
        """Return a copy; dtypes that NumPy lacks become float32."""
        read = getattr(array, "numpy", None)  # symbolic tensors have none
        if read is None:
            return None
        host = read()
        return host if host.dtype.kind in "biufc" else host.astype("float32")


def _copies(array: Any) -> tuple[Any, ...]:
    """Return the variables that a distributed variable is made of, one for each replica."""
    if isinstance(array, tf.Variable) and isinstance(array, tf.distribute.DistributedValues):
        return tuple(getattr(array, "values", ()))
    return ()


def _replicated_sharding(array: Any, shape: tuple[int, ...], devices: tuple[str, ...]) -> Sharding:
    whole = tuple((0, size) for size in shape)
    summed = array.synchronization == tf.VariableSynchronization.ON_READ
    how = array.aggregation.name.lower().replace("_", " ")
    return Sharding(
        shape=shape,
        shards=tuple(Shard(device, whole) for device in devices),
        mesh=(("replicas", len(devices)),) if summed else (),
        partial=(("replicas", how),) if summed else (),
    )


def _variable(name: str, array: Any) -> str:
    """Return that it is a variable, with its own name where ``name`` does not end in that."""
    if not isinstance(array, tf.Variable):
        return ""
    own = array.name.partition(":")[0]
    is_shown = own == "Variable" or own.rpartition("/")[2] == name.rpartition(".")[2]
    description = "variable" if is_shown else f"variable {own!r}"
    return description if array.trainable else f"{description}, not trainable"
