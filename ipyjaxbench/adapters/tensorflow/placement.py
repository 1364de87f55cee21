"""Where TensorFlow's tensors and variables live, and what is inside of its containers."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops

from ipyjaxbench.adapters.tensorflow.devices import name_of
from ipyjaxbench.device.placement import Located, Weight
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.device.sharding import Shard, Sharding
from ipyjaxbench.usercode import objects

#: Tensors that are made of several, with what they call them.
_PARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (tf.RaggedTensor, ("flat_values", "nested_row_splits")),
    (tf.SparseTensor, ("indices", "values", "dense_shape")),
    (tf.IndexedSlices, ("values", "indices", "dense_shape")),
)


class TensorFlowArrays(ArrayInspector):
    """Tensors, and variables with their replicas; no list of tensors is kept."""

    def located(self, name: str, array: Any) -> Located:
        """One tensor or variable; a variable with a copy on each of several devices is one.

        Args:
            name: to tell it by.
            array: a tensor or variable.
        """
        place = self.framework.placement(array)
        copies = _copies(array)
        devices = tuple(name_of(each.device) for each in copies) or place.devices
        shape = place.shape or ()
        symbolic = isinstance(array, tf.Tensor) and not isinstance(array, ops.EagerTensor)
        return Located(
            name=name,
            framework="tensorflow",
            dtype=place.dtype,
            shape=shape,
            nbytes=0 if symbolic else place.nbytes,
            devices=() if symbolic else devices,
            layout="symbolic: a part of a graph, without numbers"
            if symbolic
            else _variable(name, array),
            sharding=_replicated(array, shape, devices) if len(copies) > 1 else None,
        )

    def weight(self, array: Any) -> Weight | None:
        """Device and bytes; of variables with their replicas."""
        if type(array) is not ops.EagerTensor:
            return super().weight(array)
        place = self.framework.placement(array)
        return Weight(place.devices, place.nbytes)

    def to_numpy(self, array: Any) -> Any | None:
        """A copy; dtypes that NumPy lacks become float32."""
        read = getattr(array, "numpy", None)  # symbolic tensors have none
        if read is None:
            return None
        host = read()
        return host if host.dtype.kind in "biufc" else host.astype("float32")


def _copies(array: Any) -> tuple[Any, ...]:
    """The variables that a distributed variable is made of, one for each replica."""
    if isinstance(array, tf.Variable) and isinstance(array, tf.distribute.DistributedValues):
        return tuple(getattr(array, "values", ()))
    return ()


def _replicated(array: Any, shape: tuple[int, ...], devices: tuple[str, ...]) -> Sharding:
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
    """With its own name, where the one to tell it by does not end in that."""
    if not isinstance(array, tf.Variable):
        return ""
    mine = array.name.partition(":")[0]
    is_told = mine == "Variable" or mine.rpartition("/")[2] == name.rpartition(".")[2]
    told = "variable" if is_told else f"variable {mine!r}"
    return told if array.trainable else f"{told}, not trainable"


def named_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Variables of modules by attributes, parts of tensors that are made of several."""
    if objects.is_of(value, tf.Module):
        return _in_module(value)
    for kind, names in _PARTS:
        if objects.is_of(value, kind):
            return ((name, getattr(value, name)) for name in names)
    distributed = objects.is_of(value, tf.distribute.DistributedValues)
    if distributed and not objects.is_of(value, tf.Variable):
        return ((f"values[{i}]", each) for i, each in enumerate(getattr(value, "values", ())))
    return None


def _in_module(module: tf.Module) -> Iterator[tuple[str, object]]:
    flatten: Any = getattr(module, "_flatten", None)
    if flatten is None:
        yield from ((each.name, each) for each in module.variables)
        return
    found = flatten(predicate=lambda each: isinstance(each, tf.Variable), with_path=True)
    for (first, *rest), variable in found:
        yield str(first) + "".join(_step(each) for each in rest), variable


def _step(key: object) -> str:
    """How a person would type it; an attribute and a key that is a name look the same."""
    is_name = isinstance(key, str) and key.isidentifier()
    return f".{key}" if is_name else f"[{key!r}]"
