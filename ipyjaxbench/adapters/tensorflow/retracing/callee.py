"""What a call is of: the function that TensorFlow made, or a Keras model."""

from types import MethodType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared.retracing import unbound
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Invocation, Kwargs

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
    function, args, _ = unbound(function)
    is_made = isinstance(function, FUNCTION | CONCRETE) or decorated_call(function) is not None
    return is_made or _is_of_function(function, args)


def _is_of_function(function: Any, args: Args) -> bool:
    """Whether it is ``get_concrete_function`` of what `tf.function` gave."""
    is_method = bool(args) and isinstance(args[0], FUNCTION)
    return is_method and getattr(function, "__name__", "") == "get_concrete_function"


def model_call(function: Any, args: Args = (), kwargs: Kwargs | None = None) -> Invocation | None:
    """Return the call of a Keras model's method that runs a function which the model compiles.

    It may be behind a partial; None for what is no such method.
    """
    method, args, kwargs = unbound(function, args, kwargs, is_method=lambda _: False)
    if type(method) is not MethodType or method.__name__ not in OF_MODELS:
        return None
    keras = references.keras()
    is_of_model = keras is not None and isinstance(method.__self__, keras.Model)
    return (method, args, kwargs) if is_of_model else None


def model_method_name(method: Any) -> str:
    """Return the name of a model's method, as in ``Sequential.fit``."""
    return f"{type(method.__self__).__name__}.{method.__name__}"


def resolve(function: Any, args: Args, kwargs: Kwargs) -> Invocation:
    """Return the function that TensorFlow made, and all that it is called with."""
    function, args, kwargs = unbound(_of_object(function), args, kwargs)
    if isinstance(function, FUNCTION | CONCRETE):
        return function, args, kwargs
    if _is_of_function(function, args):
        return args[0], args[1:], kwargs
    decorated = decorated_call(function)
    return (function if decorated is None else decorated), args, kwargs


def decorated_call(value: Any) -> Any | None:
    """Return an object's ``__call__`` where it was decorated; of a Keras layer, its ``call``."""
    kind = type(value)
    if isinstance(getattr(kind, "__call__", None), FUNCTION):  # noqa: B004
        return value.__call__
    if isinstance(getattr(kind, "call", None), FUNCTION):
        keras = references.keras()
        if keras is not None and isinstance(value, keras.layers.Layer):
            return value.call
    return None


def _of_object(function: Any) -> Any:
    """Return the function that TensorFlow made for an object, of a method put together by hand.

    Where TensorFlow keeps it is private: the method itself is returned if that moved.
    """
    if type(function) is not MethodType or not isinstance(function.__func__, FUNCTION):
        return function
    try:
        return function.__func__._descriptor_cache.get(function.__self__, function)
    except CODE_ERRORS:  # another version, or an object that cannot be referred to
        return function
