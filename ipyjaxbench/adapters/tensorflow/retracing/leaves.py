"""The values among arguments, as TensorFlow tells them apart."""

import itertools
from collections.abc import Mapping
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf

from ipyjaxbench import units
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.retracing.cache_key import Leaf

_LONGEST = 40  # characters of a value
_COMPOSITES = (*references.COMPOSITES, tf.experimental.ExtensionType, tf.TensorArray)

_tokens: "WeakKeyDictionary[Any, int]" = WeakKeyDictionary()
_numbers = itertools.count(1)
_spelled: dict[tuple[int, str, complex], str] = {}


def token(value: Any) -> int:
    """Tells objects apart for good: `id` is that of another one when they are gone."""
    try:
        return _tokens.setdefault(value, next(_numbers))
    except Exception:  # noqa: BLE001  it cannot be hashed, compared, or referred to weakly
        return id(value)


class Leaves:
    """Gathers the values among arguments, as TensorFlow tells them apart.

    Args:
        function: whose arguments they are.
    """

    def __init__(self, function: int) -> None:
        self.leaves: dict[str, Leaf] = {}
        self._function = function
        self._variables: dict[int, str] = {}  # the path at which each was seen first

    def add(self, path: str, value: Any) -> None:
        """Keep a value, and what it holds."""
        leaf = self._of_value(path, value)
        if leaf is not None:
            self.leaves[path] = leaf
        elif isinstance(value, tf.data.Dataset | tf.data.Iterator):
            self.add(f"{path}.element_spec", value.element_spec)
        elif isinstance(value, tf.types.experimental.PolymorphicFunction):
            self.add_object(path, value)
        elif hasattr(value, "__wrapped__"):
            self.add(path, value.__wrapped__)
        else:
            parts = _parts(value)
            if parts is None:
                self.add_object(path, value)
                return
            self.leaves[path] = Leaf(type(value).__name__)
            for end, each in parts.items():
                self.add(path + end, each)

    def _of_value(self, path: str, value: Any) -> Leaf | None:
        """Of data, and of what is compared by its value; None for all else."""
        if isinstance(value, tf.TypeSpec | tf.Tensor):
            return _of_data(value)
        if references.is_variable(value):
            first = self._variables.setdefault(id(value), path)
            shared = "a variable of its own" if first == path else f"the same variable as {first}"
            return Leaf("variable", _dtype(value), _shape(value), value=shared)
        if isinstance(value, _COMPOSITES):
            return _of_data(tf.type_spec_from_value(value))
        if isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic):
            # 1, 1.0 and True are one literal: it is spelled as it came first.
            words = _spelled.setdefault((self._function, path, value), repr(value))
            return Leaf("static", value=words)
        if value is None or isinstance(value, str | bytes):
            return Leaf("static", value=units.cut(repr(value), _LONGEST), identity=hash(value))
        if hasattr(type(value), "__array__"):
            return _of_data(value.__array__())
        return None

    def add_object(self, path: str, value: Any) -> None:
        """Keep an object that is told apart from others, whatever is in it."""
        named = type(value) is FunctionType or isinstance(value, type | MethodType)
        words = value.__qualname__ if named else type(value).__name__
        if isinstance(value, tf.DType | tf.TensorShape):
            words = repr(value)
        self.leaves[path] = Leaf("static", value=units.cut(words, _LONGEST), identity=token(value))


def _parts(value: Any) -> Mapping[str, Any] | None:
    """What a container holds, by the end of its path; None for what is none."""
    if isinstance(value, Mapping):
        return {f"[{key!r}]": each for key, each in value.items()}
    fields = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    fields = fields or [each.name for each in getattr(type(value), "__attrs_attrs__", ())]
    if fields:
        return {f".{name}": getattr(value, name) for name in fields}
    flatten = getattr(value, "__tf_flatten__", None)
    if flatten is not None:
        value = flatten()[1]
    if not isinstance(value, list | tuple):
        return None
    return {f"[{i}]": each for i, each in enumerate(value)}


def _of_data(value: Any) -> Leaf:
    if isinstance(value, tf.TypeSpec) and not isinstance(value, tf.TensorSpec):
        return Leaf("static", value=units.cut(str(value), _LONGEST), identity=hash(value))
    return Leaf("array", _dtype(value), _shape(value))


def _dtype(value: Any) -> str:
    try:
        return str(tf.as_dtype(value.dtype).name)
    except TypeError:
        return str(value.dtype)


def _shape(value: Any) -> tuple[int, ...]:
    """Its axes; -1 for one that is not known."""
    shape = tf.TensorShape(value.shape)
    return () if shape.rank is None else tuple(-1 if n is None else n for n in shape)
