"""What calls change of TensorFlow's: values of variables."""

import random
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context as tf_context
from tensorflow.python.ops import stateful_random_ops

from ipyjaxbench.adapters.tensorflow.random_kernels import draws_from_seed, shuffles_anew
from ipyjaxbench.adapters.tensorflow.settings import settings
from ipyjaxbench.frameworks import (
    CopiedState,
    CopyBudget,
    Holder,
    MutableState,
    Restore,
    Setting,
    State,
    Unseen,
    added_states,
    attribute_states,
)
from ipyjaxbench.host import filter_by_type
from ipyjaxbench.usercode import attributes, module_of, name_of

#: Of what `v.ref()` gives, by which variables are keys.
_REFERENCES = "tensorflow.python.util.object_identity"
_TENSOR_ARRAYS = "TensorArray", "_EagerTensorArray", "ShouldUseWrapper"
_GENERATOR = "_GeneratorState"  # of a dataset, with the function that makes the generator


class Variable(CopiedState):
    """The value of a variable."""

    def __init__(self, variable: Any, budget: CopyBudget) -> None:
        # TensorFlow tells of no device how much is free: the host's stands for all.
        super().__init__(variable, budget, _nbytes(variable))

    def _copy(self) -> Any:
        return tf.identity(self._target.read_value())

    def _digest(self) -> int:
        return zlib.crc32(_bytes(self._target))

    def _differs(self) -> bool:
        now, before = self._target.read_value(), self._before
        return bool(now.shape != before.shape or _bytes(now) != _bytes(before))

    def restore(self) -> None:
        """Assign the old one."""
        self._target.assign(self._before)


class HashTable(CopiedState):
    """Keys and values of a table that calls insert into."""

    def __init__(self, table: Any, budget: CopyBudget) -> None:
        keys, values = table.export()
        super().__init__(table, budget, _nbytes(keys) + _nbytes(values))

    def _copy(self) -> tuple[Any, Any]:
        keys, values = self._target.export()
        return keys, values

    def _digest(self) -> int:
        return zlib.crc32(b"".join(map(_bytes, self._copy())))

    def _differs(self) -> bool:
        return [*map(_bytes, self._copy())] != [*map(_bytes, self._before)]

    def restore(self) -> None:
        """Have it hold the old keys and values alone."""
        table, (keys, values) = self._target, self._before
        table.remove(table.export()[0])
        table.insert(keys, values)


class DenseHashTable(CopiedState):
    """Buckets of a table that keeps keys which were removed, and empty ones, among its keys."""

    def __init__(self, table: Any, budget: CopyBudget) -> None:
        keys, values = table.export()
        super().__init__(table, budget, _nbytes(keys) + _nbytes(values))

    def _copy(self) -> list[Any]:
        # TensorFlow hands out the buckets themselves: tensors that the next call would change.
        return [each.numpy() for each in self._target.export()]

    def _digest(self) -> int:
        return zlib.crc32(b"".join(map(_bytes, self._target.export())))

    def _differs(self) -> bool:
        before = map(tf.constant, self._before)
        return [*map(_bytes, self._target.export())] != [*map(_bytes, before)]

    def restore(self) -> None:
        """Have it hold the old buckets, as one that is loaded from a checkpoint does."""
        keys, values = (np.array(each) for each in self._before)  # the table changes these, too
        handle = self._target.resource_handle
        tf.raw_ops.LookupTableImportV2(table_handle=handle, keys=keys, values=values)


def _nbytes(tensor: Any) -> int:
    return abs(int(tensor.shape.num_elements() or 0)) * int(tensor.dtype.size or 8)


def _bytes(tensor: Any) -> bytes:
    array = np.asarray(tensor.numpy(), object if tensor.dtype == tf.string else None)
    return repr(array.tolist()).encode() if array.dtype.hasobject else bytes(array.tobytes())


def _held_by(value: Any) -> Iterator[State]:
    """Yield what leads to variables, or draws, of an object of TensorFlow's that holds none."""
    if module_of(type(value)) == _REFERENCES:
        yield Holder(value, [getattr(value, "_wrapped", None)])
    elif issubclass(type(value), tf.train.ExponentialMovingAverage):
        yield Holder(value, [attributes(value).get("_averages")])
    elif issubclass(type(value), tf.data.Dataset):
        # Private: what a dataset is made of, and the functions that it calls.
        yield Holder(value, [*value._inputs(), *map(_function_of, value._functions())])
        if shuffles_anew(value):
            yield Unseen(value)
    elif name_of(type(value)) in _TENSOR_ARRAYS:  # written in place, outside of functions
        yield from attribute_states(value)
    elif name_of(type(value)) == _GENERATOR:
        yield Holder(value, [attributes(value).get("_generator")])


def _function_of(wrapper: Any) -> Any:
    return attributes(wrapper).get("_func")


class TensorFlowState(MutableState):
    """Values of variables, and the seeds that eager operations draw."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:
        """Remember the seeds that eager operations draw, and the state of generators.

        A kernel is cached with its seed and holds a state of its own. So that later calls do not
        advance kernels that the user's next operation will use, they draw other seeds.
        """
        if not self.framework.started():
            return None
        self.framework.drain()  # to read a generator raises what failed before, which is kept
        context = tf_context.context()
        drawn = vars(context).get("_rng")  # set by tf.random.set_seed
        state = drawn.getstate() if drawn is not None else None
        shared = stateful_random_ops.global_generator
        own = filter_by_type(values, tf.random.Generator)
        generators = own if shared is None else [shared, *own]
        states = [tf.identity(generator.state) for generator in generators]
        if drawn is not None and later:
            drawn.seed(random.Random(repr(state)).getrandbits(64))

        def restore() -> None:
            if drawn is not None:
                drawn.setstate(state)
            for generator, before in zip(generators, states, strict=True):
                generator.state.assign(before)

        return restore

    def states(self, value: Any, budget: CopyBudget) -> Sequence[State] | None:
        """Remember values of variables."""
        if not self.framework.started():
            return None
        kind = type(value)
        if issubclass(kind, tf.Variable):
            is_ready = tf.executing_eagerly() and value.is_initialized()
            numbers = [Variable(value, budget)] if is_ready else []
            return [*numbers, *added_states(value)]
        if issubclass(kind, tf.lookup.experimental.MutableHashTable) and tf.executing_eagerly():
            return [HashTable(value, budget)]
        if issubclass(kind, tf.lookup.experimental.DenseHashTable) and tf.executing_eagerly():
            return [DenseHashTable(value, budget)]
        if issubclass(kind, tf.queue.QueueBase) and tf.executing_eagerly():
            return [Setting(lambda: [int(value.size())], None)]
        if issubclass(kind, tf.__internal__.tracking.AutoTrackable):
            return None
        if issubclass(kind, tf.Tensor):
            return [*added_states(value)]
        is_theirs = module_of(kind).partition(".")[0] == "tensorflow"
        return [*_held_by(value)] if is_theirs else None

    def moves_unseen(self, function: Any) -> bool:
        """Whether it draws random numbers from a seed: kernels keep how many."""
        return self.framework.started() and draws_from_seed(function)

    def settings(self) -> Iterator[tuple[str, State]]:
        """Remember how functions run, are compiled and placed."""
        if self.framework.started():
            yield from settings()

    def changes_in_place(self, method: str) -> bool:
        """Whether it is one of those of variables."""
        return method in ("assign", "assign_add", "assign_sub")
