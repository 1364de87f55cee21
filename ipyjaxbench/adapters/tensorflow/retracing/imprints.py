"""What tells TensorFlow's and Keras's objects apart, and the parts that programs depend on."""

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from ipyjaxbench import units
from ipyjaxbench.adapters.shared.imprints import (
    KERAS_OWN,
    MOST_COMPARED,
    imprint_identity,
    imprint_numpy,
    imprint_table,
    imprint_values,
)
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.adapters.tensorflow.retracing import callee
from ipyjaxbench.usercode import (
    Imprint,
    attributes,
    class_dict,
    is_exactly,
    is_of,
    is_users_class,
    is_users_function,
    module_of,
    mro_of,
    unwrap,
)

_WRAPPER = tf.__internal__.tracking.TrackableDataStructure
#: Of these the parts count, as of Python's own functions and containers.
_ENTERED = (type, ModuleType, callee.FUNCTION, _WRAPPER, dict, list, tuple, set)
_THEIRS = ("tensorflow", "keras")
_PLAIN = (bool, int, float, str)

_properties: "WeakKeyDictionary[type, frozenset[str]]" = WeakKeyDictionary()


def wrapped(value: Any) -> Any:
    """Return the list or dictionary in what TensorFlow keeps in place of one in a module."""
    if not is_of(value, _WRAPPER):
        return value
    wrapped = getattr(value, "__wrapped__", None)
    return attributes(value).get("_storage", value) if wrapped is None else wrapped


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the numbers, names and functions of what Keras makes, and what it is made of.

    Layers in a layer of the user's are found by the code that calls them.
    """
    if references.is_keras_setting(value):
        yield from _public_parts(value, *_PLAIN, type(None), FunctionType)
    elif references.is_layer(value):
        yield from _public_parts(value, *_PLAIN, FunctionType)
        yield from _compiled_parts(value)
        if not is_users_class(type(value)):
            for each in attributes(value).get("_layers", ()):
                yield f".get_layer({each.name!r})", each


def _public_parts(value: Any, *kinds: type) -> Iterator[tuple[str, Any]]:
    properties = _properties_of(type(value))
    for name, each in attributes(value).items():
        public = name.removeprefix("_")  # as users set it, which may be by a property
        if public in KERAS_OWN or (public != name and public not in properties):
            continue
        if type(each) in kinds or references.is_keras_setting(each):
            yield f".{public}", each


def _properties_of(kind: type) -> frozenset[str]:
    """Return the names of a class's properties; of many classes that takes long."""
    if (known := _properties.get(kind)) is None:
        own = (pair for each in mro_of(kind) for pair in class_dict(each).items())
        known = frozenset(name for name, value in own if type(value) is property)
        _properties[kind] = known
    return known


def _compiled_parts(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a model was compiled with, in containers of Python's."""
    held = attributes(model)
    if is_exactly(held.get("loss"), dict, list):
        yield ".loss", held["loss"]
    metrics = attributes(held.get("_compile_metrics"))
    for name in ("metrics", "weighted_metrics"):
        if is_exactly(found := metrics.get(f"_user_{name}"), dict, list):
            yield f".{name}", found


def imprint(value: Any) -> Imprint | None:
    """Return what tells data and TensorFlow's objects apart; None for all others.

    Variables are read when a program runs: which one it is counts, and not what is in it.
    """
    if isinstance(value, np.generic | np.ndarray):
        return imprint_numpy(value)
    if is_of(value, tf.TypeSpec, tf.TensorShape):
        return Imprint(str(value), str(value))
    if is_of(value, tf.DType):
        return Imprint(value.name, value.name)
    if is_of(value, ops.EagerTensor):
        return _of_tensor(value)
    kinds = mro_of(type(value))
    is_theirs = any(module_of(kind).partition(".")[0] in _THEIRS for kind in kinds)
    if not is_theirs or is_of(value, *_ENTERED) or is_users_function(unwrap(value)):
        return imprint_table(value)
    if references.is_variable(value):
        return imprint_identity(f"variable {_words(value)}", value, "object")
    return imprint_identity(kinds[0].__name__, value, "object")


def _of_tensor(value: Any) -> Imprint:
    """Return its values in short; of a large one which one it is, for it never changes."""
    words = _words(value)
    if value.dtype in (tf.resource, tf.variant, tf.string):
        return imprint_identity(words, value, "array")
    if value.dtype.size * value.shape.num_elements() > MOST_COMPARED:
        return imprint_identity(words, value, "array")
    return imprint_values(words, value.numpy())


def _words(value: Any) -> str:
    shape = tf.TensorShape(value.shape)
    axes = () if shape.rank is None else tuple(-1 if n is None else n for n in shape)
    return units.array(tf.as_dtype(value.dtype).name, axes)
