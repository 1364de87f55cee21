"""What JAX looks at in one value: its type, where it lies, or what it is if it is static."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax.placement import device_name
from ipyjaxbench.adapters.jax.refs import is_ref, is_ref_type
from ipyjaxbench.adapters.jax.retracing.callee import Example, sharding_words
from ipyjaxbench.adapters.jax.retracing.value_token import value_token, words_of
from ipyjaxbench.adapters.shared.retracing import shorten
from ipyjaxbench.device import shorten_devices
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Leaf
from ipyjaxbench.usercode import fingerprint, token

NUMBERS = (bool, int, float, complex)
ARRAYS = (np.ndarray, jax.Array, jax.core.Tracer, Example)  # in a tree never static


def is_variable(value: Any) -> bool:
    """Whether a value is a variable of Flax NNX."""
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(value, nnx.Variable)


def _data(value: Any) -> Any:
    """Return the array in a variable of Flax; any other value as it is."""
    if not is_variable(value):
        return value
    read = getattr(value, "get_value", None)
    return value.value if read is None else read()


def _safe(leaf_of: Callable[[Any], Leaf]) -> Callable[[Any], Leaf]:
    """Have a function return a leaf of the type where the value's own code raises."""

    def safe_leaf_of(value: Any) -> Leaf:
        try:
            return leaf_of(value)
        except CODE_ERRORS:  # a user's object must not stop the user's call
            return Leaf("static", value=type(value).__name__, identity=id(value))

    return safe_leaf_of


@_safe
def _data_leaf(value: Any) -> Leaf:
    if isinstance(value, jax.core.Tracer | jax.ShapeDtypeStruct) or is_ref_type(value):
        kind = "Ref" if is_ref_type(value) else "array"
        weak = bool(getattr(getattr(value, "aval", value), "weak_type", False))
        abstract = _abstract(value)
        return Leaf(kind, str(value.dtype), tuple(value.shape), weak, abstract=abstract)
    if isinstance(value, jax.Array):
        return _array_leaf(value)
    if is_ref(value):
        return replace(_array_leaf(value), kind="Ref")
    if isinstance(value, np.ndarray | np.generic):
        is_data = value.dtype.kind not in "OSUMm"
        dtype = str(jax.dtypes.canonicalize_dtype(value.dtype)) if is_data else "object"
        return Leaf("array", dtype, value.shape, host=True)
    if isinstance(value, NUMBERS):
        return Leaf(type(value).__name__, value=repr(value), abstract=_abstract(value))
    return _static(value, _identity(value))


def argument_leaf(value: Any, role: str) -> Leaf:
    """Return that of a value among the arguments, by `Called.role`."""
    if role == "static" or (role == "arrays" and not isinstance(value, ARRAYS)):
        return static_leaf(value)
    leaf = _data_leaf(_data(value))
    is_number = role == "data" and isinstance(value, NUMBERS)
    return replace(leaf, value="") if is_number else leaf  # then it is no part of the key


@_safe
def static_leaf(value: Any) -> Leaf:
    """Return that of what is static: those of equal values are equal."""
    return _static(value, _identity(value))


def _abstract(value: Any) -> str:
    """Return what a trace takes a scalar for: a number for an array whose type gives way.

    Truth values do not give way, and shapes tell other arrays apart.
    """
    if isinstance(value, NUMBERS):
        dtype = str(jax.dtypes.canonicalize_dtype(np.dtype(type(value))))
        return dtype if isinstance(value, bool) else f"{dtype} weak"
    if value.shape:
        return ""
    weak = bool(getattr(getattr(value, "aval", value), "weak_type", False))
    return f"{value.dtype} weak" if weak else str(value.dtype)


@_safe
def captured_leaf(value: Any) -> Leaf:
    """Return that of what is no argument, and part of a trace."""
    if isinstance(value, NUMBERS):
        return Leaf("static", value=repr(value))
    if isinstance(value, FunctionType):
        return _static(value, fingerprint(value.__code__))
    if isinstance(value, jax.Array | np.ndarray):
        return Leaf("static", value=_data_leaf(value).words(), identity=token(value))
    if isinstance(value, str | bytes | type | ModuleType) or hasattr(type(value), "__array__"):
        return _static(value, 0)
    return _static(value, value_token(value))


def _static(value: Any, identity: int) -> Leaf:
    if value is None or isinstance(value, str | bytes):
        return Leaf("static", value=shorten(repr(value)), identity=hash(value))
    return Leaf("static", value=shorten(value_words(value)), identity=identity)


def value_words(value: Any) -> str:
    """Return a function's name; the class of an object that does not say what it is."""
    if isinstance(value, FunctionType) or callable(value):
        names = (getattr(value, name, None) for name in ("__qualname__", "__name__"))
        return next(filter(None, names), type(value).__name__)
    text = words_of(value)
    return f"{type(value).__name__} object" if " at 0x" in text else text


def _identity(value: Any) -> int:
    """Return what equal static values have in common: they share a trace."""
    try:
        return hash(value)
    except TypeError:
        return id(value)


def _array_leaf(value: jax.Array) -> Leaf:
    sharding = getattr(value, "sharding", None)
    devices = sorted(sharding.device_set, key=lambda d: d.id) if sharding is not None else []
    spec = getattr(sharding, "spec", None)
    split = "" if spec is None else str(spec)
    if split and len(devices) == 1:
        split = sharding_words(sharding)  # a mesh of one device, too, is part of the type
    return Leaf(
        "array",
        str(value.dtype),
        tuple(value.shape),
        bool(getattr(getattr(value, "aval", value), "weak_type", False)),
        device=shorten_devices([*map(device_name, devices)]),
        sharding=split,
        committed=bool(getattr(value, "committed", getattr(value, "_committed", False))),
        abstract=_abstract(value),
    )
