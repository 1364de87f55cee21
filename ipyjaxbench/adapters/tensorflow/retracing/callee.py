"""What a call is of: the function that TensorFlow made, or a Keras model."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.graphs import references

FUNCTION = tf.types.experimental.PolymorphicFunction
CONCRETE = tf.types.experimental.ConcreteFunction
#: Methods of a Keras model, and the attribute with the function that the model compiles for them.
OF_MODELS = {
    "fit": "train_function", "train_on_batch": "train_function",
    "evaluate": "test_function", "test_on_batch": "test_function",
    "predict": "predict_function", "predict_on_batch": "predict_function",
}  # fmt: skip


def is_compiled(function: Any) -> bool:
    """Whether it is what `tf.function` gave, also behind a method, a partial or a ``__call__``."""
    kind = type(function)
    if kind is partial:
        return is_compiled(function.func)
    if isinstance(function, FUNCTION | CONCRETE):
        return True
    if kind is MethodType:
        made = isinstance(function.__self__, FUNCTION)
        asks = made and function.__name__ == "get_concrete_function"
        return asks or is_compiled(function.__func__)
    return _decorated(function) is not None


def is_of_model(function: Any) -> bool:
    """Whether it is a method of a Keras model that runs a function which the model compiles."""
    if type(function) is not MethodType or function.__name__ not in OF_MODELS:
        return False
    keras = references.keras()
    return keras is not None and isinstance(function.__self__, keras.Model)


def resolved(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """The function that TensorFlow made, and what it is given with that."""
    kind = type(function)
    if kind is partial:
        given = {**function.keywords, **kwargs}
        return resolved(function.func, (*function.args, *args), given)
    if kind is MethodType:
        if isinstance(function.__self__, FUNCTION):  # get_concrete_function
            return function.__self__, args, kwargs
        return resolved(function.__func__, (function.__self__, *args), kwargs)
    if not isinstance(function, FUNCTION | CONCRETE):
        decorated = _decorated(function)
        if decorated is not None:
            return decorated, args, kwargs
    return function, args, kwargs


def _decorated(value: Any) -> Any | None:
    """The class's ``__call__`` where it was decorated; of a Keras layer, its ``call``."""
    kind = type(value)
    if isinstance(getattr(kind, "__call__", None), FUNCTION):  # noqa: B004
        return value.__call__
    if isinstance(getattr(kind, "call", None), FUNCTION):
        keras = references.keras()
        if keras is not None and isinstance(value, keras.layers.Layer):
            return value.call
    return None
