"""What TensorFlow looks at to find a trace for a call."""

import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.adapters.tensorflow.retracing.leaves import Leaves, token
from ipyjaxbench.retracing.cache_key import Leaf, Signature
from ipyjaxbench.usercode import call, code_objects, objects

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DATA = ("x", "y", "sample_weight", "validation_data")  # arguments of a Keras model's methods


def plain_of(function: Any) -> Any:
    """What the user wrote."""
    plain = objects.unwrapped(getattr(function, "python_function", function))
    return plain.__func__ if isinstance(plain, MethodType) else plain


def owner_of(function: Any) -> Any | None:
    """The object whose decorated method it is: TensorFlow makes a function for each object."""
    plain = objects.unwrapped(getattr(function, "python_function", function))
    target = getattr(getattr(plain, "__self__", None), "weakrefself_target__", None)
    return target() if target is not None else None


def file_of(function: Any) -> str:
    """Where it was written; empty where that is not known."""
    return getattr(getattr(plain_of(function), "__code__", None), "co_filename", "")


def name(function: Any) -> str:
    """What the user calls a function; a decorated ``__call__`` by its class."""
    plain, owner = plain_of(function), owner_of(function)
    found = getattr(plain, "__name__", None) or type(plain).__name__
    called = owner is not None and found in ("__call__", "call")
    return type(owner).__name__ if called else str(found)


def signature(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
    """The signature of a call.

    Args:
        function: what `tf.function` gave.
        args: its positional arguments.
        kwargs: its named ones.

    Returns:
        The signature; it holds no tensor. Arguments that were left out stand in it with their
        defaults, and by name or by position makes no difference: so it is for TensorFlow.
    """
    plain, owner = plain_of(function), owner_of(function)
    given = _given(getattr(function, "python_function", function), args, kwargs)
    code = getattr(plain, "__code__", None)
    found = Leaves(token(function))
    if owner is not None:
        found.add_object("self", owner)
    for each in given:
        found.add(each.path, each.value)
    return Signature(
        leaves=found.leaves,
        form=tuple(dict.fromkeys(each.form for each in given)),
        settings=_settings(),
        function=token(plain if owner is not None else function),
        code=code_objects.fingerprint(code) if code is not None else id(type(plain)),
        captured=_captured(plain),
    )


def _captured(plain: Any) -> dict[str, Leaf]:
    """What is built into a trace as it is: closed-over values and plain globals."""
    if type(plain) is not FunctionType:
        return {}
    found = Leaves(code_objects.fingerprint(plain.__code__))
    for name, value in code_objects.surroundings(plain, _PLAIN):
        if type(value) is FunctionType:
            code = code_objects.fingerprint(value.__code__)
            found.leaves[name] = Leaf("static", value=value.__qualname__, identity=code)
        elif isinstance(value, _PLAIN):
            found.add(name, value)
        else:
            found.add_object(name, value)
    return found.leaves


def of_model(
    method: Any, compiled: object, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Signature:
    """The signature of a call such as ``model.fit(x, y)``: its data alone.

    Args:
        method: of a Keras model.
        compiled: the function that the model makes for it.
        args: its positional arguments.
        kwargs: its named ones.
    """
    given = [each for each in _given(method, args, kwargs) if each.path in _DATA]
    found = Leaves(token(compiled))
    found.add_object("self", method.__self__)
    for each in given:
        found.add(each.path, each.value)
    code = getattr(compiled, "__code__", None)
    form = tuple(each.form for each in given)
    return Signature(found.leaves, form, _settings(), token(compiled), id(code))


class _Given(NamedTuple):
    """An argument.

    Attributes:
        path: its name; with its place among those that have no name of their own.
        value: what was given, or the default.
        form: as `Signature.form` has it.
    """

    path: str
    value: Any
    form: str


def _given(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[_Given]:
    """All arguments, those that were left out among them."""
    keras = references.keras()
    layer = keras is not None and isinstance(function, keras.layers.Layer)
    called = function.call if layer else function
    try:
        bound = inspect.signature(called).bind(*args, **kwargs)
    except (TypeError, ValueError):
        named = [*zip(call.labels(called, args, kwargs), args, strict=True), *kwargs.items()]
        return [_Given(name, value, name) for name, value in named]
    bound.apply_defaults()
    found: list[_Given] = []
    for parameter in bound.signature.parameters.values():
        name, value = parameter.name, bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            found += [_Given(f"{name}[{i}]", each, name) for i, each in enumerate(value)]
        elif parameter.kind is parameter.VAR_KEYWORD:
            found += [_Given(key, each, f"{key}=") for key, each in sorted(value.items())]
        else:
            found.append(_Given(name, value, name))
    return found


def _settings() -> dict[str, str]:
    """What surrounds a call, as far as it is part of the key."""
    strategy = tf.distribute.has_strategy()
    context = "cross-replica" if tf.distribute.in_cross_replica_context() else "replica"
    return {
        "eager": str(tf.executing_eagerly()),
        "tf.distribute context": context if strategy else "none",
    }
