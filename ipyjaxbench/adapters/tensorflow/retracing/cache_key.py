"""What TensorFlow looks at to find a trace for a call: values as it tells them apart."""

import inspect
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.shared.retracing import shorten
from ipyjaxbench.adapters.tensorflow.functions import owner_of, plain_function
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Kwargs, Leaf, Signature
from ipyjaxbench.usercode import captured_values, fingerprint, label_arguments

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DATA = ("x", "y", "sample_weight", "validation_data")  # arguments of a Keras model's methods
_COMPOSITES = (*references.COMPOSITES, tf.TensorArray)
#: Of these the elements count.
_OF_DATA = (tf.data.Dataset, tf.data.Iterator, tf.data.DatasetSpec, tf.data.IteratorSpec)

_tokens: "WeakKeyDictionary[Any, int]" = WeakKeyDictionary()
_numbers = itertools.count(1)
_spelled: dict[tuple[int, str, complex], str] = {}


def signature(function: Any, args: Args, kwargs: Kwargs) -> Signature:
    """Return the signature of a call of what `tf.function` gave; it holds no tensor.

    Arguments that were left out are in it with their defaults, and by name or by position makes
    no difference: so it is for TensorFlow.
    """
    plain, owner = plain_function(function), owner_of(function)
    arguments = _arguments(getattr(function, "python_function", function), args, kwargs)
    code = getattr(plain, "__code__", None)
    return Signature(
        leaves=_leaves(token(function), owner, arguments),
        form=tuple(dict.fromkeys(argument.form for argument in arguments)),
        settings=_settings(),
        function=token(plain if owner is not None else function),
        code=fingerprint(code) if code is not None else id(type(plain)),
        captured=_captured(plain),
    )


def concrete_signature(concrete: Any, origin: Any, args: Args, kwargs: Kwargs) -> Signature:
    """Return the signature of a call of one trace: whatever it is given, it finds itself.

    It is that of the function that it is a trace of, if that is known, and like no other call.
    """
    whole = signature(concrete if origin is None else origin, args, kwargs)
    return replace(whole, settings={**whole.settings, "called as": "a concrete function"})


def _captured(plain: Any) -> dict[str, Leaf]:
    """Return what is built into a trace as it is: closed-over values and plain globals."""
    if type(plain) is not FunctionType:
        return {}
    leaves = _Leaves(fingerprint(plain.__code__))
    for name, value in captured_values(plain, _PLAIN):
        if type(value) is FunctionType:
            code = fingerprint(value.__code__)
            leaves[name] = Leaf("static", value=value.__qualname__, identity=code)
        elif isinstance(value, _PLAIN):
            leaves.add(name, value)
        else:
            leaves.add_object(name, value)
    return leaves


def leaves_of_trace(function: Any, concrete: Any) -> Mapping[str, Leaf]:
    """Return what a trace takes, as it has it: -1 stands for a size that may vary."""
    args, kwargs = concrete.structured_input_signature
    arguments = _arguments(getattr(function, "python_function", function), args, kwargs)
    return _leaves(token(function), None, arguments)


def model_signature(method: Any, compiled: object, args: Args, kwargs: Kwargs) -> Signature:
    """Return the signature of the data in a call of a Keras model, as in ``model.fit(x, y)``.

    The model compiles a function for the method.
    """
    data = [each for each in _arguments(method, args, kwargs) if each.path in _DATA]
    function = token(compiled)
    leaves = _leaves(function, method.__self__, data)
    code = id(getattr(compiled, "__code__", None))
    settings = {**_settings(), "method": method.__name__}
    return Signature(leaves, tuple(each.form for each in data), settings, function, code)


def model_trace_signature(method: Any, compiled: object, function: Any, concrete: Any) -> Signature:
    """Return what a trace takes that was made for a method of a Keras model, whoever called it."""
    whole = model_signature(method, compiled, (), {})
    return replace(whole, leaves=leaves_of_trace(function, concrete))


class _Argument(NamedTuple):
    """An argument; `form` is as `Signature.form` has it."""

    path: str
    value: Any
    form: str


def _arguments(function: Any, args: Args, kwargs: Kwargs) -> list[_Argument]:
    """Return all arguments, those that were left out among them."""
    keras = references.keras()
    is_layer = keras is not None and isinstance(function, keras.layers.Layer)
    called = function.call if is_layer else function
    try:
        bound = inspect.signature(called).bind(*args, **kwargs)
    except (TypeError, ValueError):
        named = [*zip(label_arguments(called, args, kwargs), args, strict=True), *kwargs.items()]
        return [_Argument(name, value, name) for name, value in named]
    bound.apply_defaults()
    arguments: list[_Argument] = []
    for parameter in bound.signature.parameters.values():
        name, value = parameter.name, bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments += [_Argument(f"{name}[{i}]", each, name) for i, each in enumerate(value)]
        elif parameter.kind is parameter.VAR_KEYWORD:
            arguments += [_Argument(key, each, f"{key}=") for key, each in sorted(value.items())]
        else:
            arguments.append(_Argument(name, value, name))
    return arguments


def _leaves(function: int, owner: object, arguments: Sequence[_Argument]) -> dict[str, Leaf]:
    """Return what arguments hold, and the object whose method is called, if any."""
    leaves = _Leaves(function)
    if owner is not None:
        leaves.add_object("self", owner)
    for argument in arguments:
        leaves.add(argument.path, argument.value)
    return leaves


def _settings() -> dict[str, str]:
    """Return what surrounds a call, as far as it is part of the key."""
    strategy = tf.distribute.has_strategy()
    context = "cross-replica" if tf.distribute.in_cross_replica_context() else "replica"
    return {
        "eager": str(tf.executing_eagerly()),
        "tf.distribute context": context if strategy else "none",
    }


def token(value: Any) -> int:
    """Return a number that tells objects apart for good, but for equal ones, as TensorFlow does.

    An `id` is used again by others.
    """
    try:
        return _tokens.setdefault(value, next(_numbers))
    except CODE_ERRORS:  # it cannot be hashed, compared, or referred to weakly
        return id(value)


class _Leaves(dict[str, Leaf]):
    """Gathers the values among the arguments of a function, as TensorFlow tells them apart."""

    def __init__(self, function: int) -> None:
        super().__init__()
        self._function = function
        self._variables: dict[int, str] = {}  # the path at which each was seen first

    def add(self, path: str, value: Any) -> None:
        """Keep a value, and what it holds."""
        leaf = self._value_leaf(path, value)
        if leaf is not None:
            self[path] = leaf
        elif isinstance(value, _OF_DATA):
            self.add(f"{path}.element_spec", _element_spec(value))
        elif isinstance(value, tf.types.experimental.PolymorphicFunction):
            self.add_object(path, value)
        elif hasattr(value, "__wrapped__"):
            self.add(path, value.__wrapped__)
        else:
            parts = _parts(value)
            if parts is None:
                self.add_object(path, value)
                return
            self[path] = Leaf(type(value).__name__)
            for end, each in parts.items():
                self.add(path + end, each)

    def _value_leaf(self, path: str, value: Any) -> Leaf | None:
        """Return that of data, and of what is compared by its value; None for all else."""
        if isinstance(value, tf.TypeSpec | tf.Tensor) and not _has_parts(value):
            return _data_leaf(value)
        if references.is_variable(value):
            first = self._variables.setdefault(id(value), path)
            shared = "a variable of its own" if first == path else f"the same variable as {first}"
            shared += "" if value.trainable else ", not trainable"
            return Leaf("variable", _dtype(value), _shape(value), value=shared)
        if isinstance(value, _COMPOSITES):
            return _data_leaf(tf.type_spec_from_value(value))
        if isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic):
            # 1, 1.0 and True are one literal: it is spelled as it came first.
            text = _spelled.setdefault((self._function, path, value), repr(value))
            return Leaf("static", value=text)
        if value is None or isinstance(value, str | bytes):
            return Leaf("static", value=shorten(repr(value)), identity=hash(value))
        if hasattr(type(value), "__array__"):
            return _data_leaf(value.__array__())
        return None

    def add_object(self, path: str, value: Any) -> None:
        """Keep an object that is told apart from others, whatever is in it."""
        named = type(value) is FunctionType or isinstance(value, type | MethodType)
        text = value.__qualname__ if named else type(value).__name__
        if isinstance(value, tf.DType | tf.TensorShape):
            text = repr(value)
        self[path] = Leaf("static", value=shorten(text), identity=token(value))


def _has_parts(value: Any) -> bool:
    return isinstance(value, _OF_DATA) or bool(_fields_of_extension(value))


def _element_spec(value: Any) -> Any:
    """Return the types of a dataset's elements, which some of TensorFlow's types keep private."""
    found = getattr(value, "element_spec", None)
    return getattr(value, "_element_spec", None) if found is None else found


def _parts(value: Any) -> Mapping[str, Any] | None:
    """Return what a container holds, by the ends of paths; None for what is none."""
    if isinstance(value, Mapping):
        return {f"[{key!r}]": each for key, each in value.items()}
    fields = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    fields = fields or [each.name for each in getattr(type(value), "__attrs_attrs__", ())]
    fields = fields or _fields_of_extension(value)
    if fields:
        return {f".{name}": getattr(value, name) for name in fields}
    flatten = getattr(value, "__tf_flatten__", None)
    if flatten is not None:
        value = flatten()[1]
    if not isinstance(value, list | tuple):
        return None
    return {f"[{i}]": each for i, each in enumerate(value)}


def _fields_of_extension(value: Any) -> list[str]:
    """Return the fields of an extension type, or of the type of one; its list of them is private.

    In a version without that list, the whole object is compared.
    """
    is_type = isinstance(value, tf.TypeSpec)
    is_extension = isinstance(value, tf.experimental.ExtensionType)
    fields = (
        getattr(type(value), "_tf_extension_type_fields", None) if is_extension or is_type else None
    )
    return [each.name for each in fields()] if fields is not None else []


def _data_leaf(value: Any) -> Leaf:
    if isinstance(value, tf.RaggedTensorSpec) and value.flat_values_spec is None:
        splits = tf.as_dtype(value.row_splits_dtype).name
        layout = f"ragged_rank={value.ragged_rank}, row_splits_dtype={splits}"
        return Leaf("ragged", _dtype(value), _shape(value), layout=layout)
    if isinstance(value, tf.SparseTensorSpec):
        return Leaf("sparse", _dtype(value), _shape(value))
    if isinstance(value, tf.TypeSpec) and not isinstance(value, tf.TensorSpec):
        return Leaf("static", value=shorten(str(value)), identity=hash(value))
    return Leaf("array", _dtype(value), _shape(value))


def _dtype(value: Any) -> str:
    try:
        return str(tf.as_dtype(value.dtype).name)
    except TypeError:
        return str(value.dtype)


def _shape(value: Any) -> tuple[int, ...]:
    """Return its axes; -1 for one that is not known."""
    shape = tf.TensorShape(value.shape)
    return () if shape.rank is None else tuple(-1 if n is None else n for n in shape)
