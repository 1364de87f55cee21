"""What a function of the user's is and uses: variables, Keras layers, places in files."""

import sys
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.graphs import autograph_source
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import (
    PACKAGE,
    Call,
    attribute,
    is_of,
    is_users_file,
    is_users_function,
    named_below,
    package_of,
    unwrap,
)

COMPOSITES: tuple[type, ...] = (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)
_WRAPPER = "of_tensors"


def python_function(function: Any) -> tuple[Any, bool]:
    """Return what a `tf.function` was given, and whether AutoGraph reads it.

    Other callables are returned as they are. Where a version does not tell, AutoGraph reads it,
    which is TensorFlow's own choice.
    """
    if is_of(function, tf.types.experimental.PolymorphicFunction):
        return function.python_function, bool(getattr(function, "_autograph", True))
    return function, True


def innermost_function(value: Any) -> Any:
    """Return what a `tf.function` or another decorator was given."""
    value, _ = python_function(value)
    return unwrap(value) if is_of(value, FunctionType, MethodType) else value


def keras() -> Any | None:
    """Return Keras, where it is loaded and computes with TensorFlow."""
    module: Any = sys.modules.get("keras")
    backend = getattr(module, "backend", None)
    name_of = getattr(backend, "backend", None)
    return module if name_of is not None and name_of() == "tensorflow" else None


def is_variable(value: object) -> bool:
    """Whether it is a variable, of TensorFlow's or of Keras's."""
    module = keras()
    return is_of(value, tf.Variable) or (module is not None and is_of(value, module.Variable))


def used_values(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield each global and closed-over value that a function and those it uses name."""
    return named_below(function, _users_function)


def functions_of(function: Any) -> Iterator[FunctionType]:
    """Yield the plain functions that are called: this one, and those that it uses by name."""
    used = (value for _, value in used_values(function))
    yield from filter(None, map(_users_function, (function, *used)))


def is_tensorflows(call: Call) -> bool:
    """Whether a call without tensors is TensorFlow's all the same, by what it calls or uses."""
    owner = owner_of(call.function)
    if is_of(call.function, tf.types.experimental.PolymorphicFunction):
        return True
    arguments = (*call.args, *call.kwargs.values())
    if any(map(_is_of_tensorflow, (call.function, owner, type(owner), *arguments))):
        return True
    return any(_is_of_tensorflow(value) for _, value in used_values(call.function))


def owner_of(function: Any) -> Any:
    """Return the object of a method; None for what is none, or refuses to be asked."""
    try:
        return getattr(function, "__self__", None)
    except CODE_ERRORS:  # the object may raise anything
        return None


def place_of(op: Any) -> tuple[str, int]:
    """Return file and line of the user's code that an operation comes from; 0 if unknown."""
    for frame in reversed(op.traceback or ()):
        if frame.name == _WRAPPER and frame.filename.startswith(PACKAGE):
            break
        if is_users_file(frame.filename):
            return autograph_source.cell_file(frame.filename), frame.lineno
    return "", 0


def _is_of_tensorflow(value: Any) -> bool:
    if is_of(value, tf.Tensor, tf.Variable):
        return True
    root = package_of(value) if value is not None else ""
    return root == "tensorflow" or (root == "keras" and keras() is not None) or is_layer(value)


def is_layer(value: Any) -> bool:
    """Whether it is a layer or a model of Keras's."""
    module = keras()
    return module is not None and is_of(value, module.layers.Layer)


def is_model(value: object) -> bool:
    """Whether it is a model of Keras's."""
    module = keras()
    return module is not None and is_of(value, module.Model)


def is_keras_setting(value: object) -> bool:
    """Whether it is what Keras's layers and models are set up with: an optimizer, a loss."""
    if type(value).__module__ == "builtins":  # most are, and it is asked of very many
        return False
    module = keras()
    return module is not None and is_of(
        value,
        module.optimizers.Optimizer,
        module.optimizers.schedules.LearningRateSchedule,
        module.losses.Loss,
        module.metrics.Metric,
        module.regularizers.Regularizer,
        module.constraints.Constraint,
    )


def _users_function(value: Any) -> FunctionType | None:
    """Return the code of a function, method, `tf.function`, or layer, if it is the user's."""
    value = innermost_function(value)
    if is_of(value, MethodType):
        value = value.__func__
    if is_layer(value):
        value = attribute(type(value), "call")
    return value if is_users_function(value) else None
