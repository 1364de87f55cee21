"""What JAX looks at to find a trace, and a program, for a call."""

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import jax
import numpy as np

from ipyjaxbench import expression
from ipyjaxbench.signature import Leaf, Signature

#: Modules with partials of their own.
PARTIALS = ("equinox._module._prebuilt",)
_LONGEST = 40  # characters of a value
#: Settings that are part of the key, as far as people change them.
_SETTINGS = (
    "jax_enable_x64", "jax_default_matmul_precision", "jax_default_device", "jax_debug_nans",
    "jax_debug_infs", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion",
    "jax_default_prng_impl", "jax_threefry_partitionable", "jax_softmax_custom_jvp",
    "jax_disable_jit", "jax_debug_key_reuse",
)  # fmt: skip


def signature(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
    """The signature of a call.

    Args:
        function: what was jitted: a function, or a bound method.
        args: its positional arguments.
        kwargs: its named ones.

    Returns:
        The signature; it holds no array.
    """
    plain = plain_of(function)
    names = expression.labels(function, args, kwargs)
    given = [*zip(names, args, strict=True), *kwargs.items()]
    leaves = {path: _leaf(value) for name, arg in given for path, value in _leaves(name, arg)}
    return Signature(
        leaves=leaves,
        form=(*names, *(f"{name}=" for name in sorted(kwargs))),
        settings={n: str(getattr(jax.config, n)) for n in _SETTINGS if hasattr(jax.config, n)},
        # A partial is traced anew though the function in it is the same.
        function=_token(function if isinstance(function, partial) else plain),
        code=_code(getattr(plain, "__code__", None)),
    )


def plain_of(function: Any) -> Any:
    """What was jitted, by the user's own name."""
    kind = type(function)
    if kind is MethodType:
        return plain_of(function.__func__)
    if issubclass(kind, partial) or kind.__module__ in PARTIALS:
        return plain_of(function.func)
    inner = inspect.unwrap(function)
    return inner if inner is function else plain_of(inner)


def _code(code: CodeType | None) -> int:
    """Tells code apart; of lambdas, which have no name, by where they stand."""
    if code is None:
        return 0
    constants = tuple(repr(each) for each in code.co_consts if not isinstance(each, CodeType))
    line = code.co_firstlineno if code.co_name == "<lambda>" else 0
    return hash((code.co_code, code.co_names, constants, line))


_tokens: "WeakKeyDictionary[Any, int]" = WeakKeyDictionary()
_numbers = itertools.count(1)


def _token(function: Any) -> int:
    """Tells functions apart for good: `id` is that of another one when they are gone."""
    try:
        return _tokens.setdefault(function, next(_numbers))
    except TypeError:  # it cannot be hashed, or referred to
        return id(function)


def _leaves(name: str, argument: Any) -> Iterator[tuple[str, Any]]:
    for path, leaf in jax.tree_util.tree_leaves_with_path(argument, is_leaf=lambda x: x is None):
        yield name + jax.tree_util.keystr(path), leaf


def _leaf(value: Any) -> Leaf:
    if isinstance(value, jax.core.Tracer):
        return Leaf("array", str(value.dtype), tuple(value.shape), bool(value.aval.weak_type))
    if isinstance(value, jax.Array):
        return _of_array(value)
    if isinstance(value, np.ndarray | np.generic):
        dtype = str(jax.dtypes.canonicalize_dtype(value.dtype)) if _is_data(value) else "object"
        return Leaf("array", dtype, value.shape, host=True)
    if isinstance(value, jax.ShapeDtypeStruct):
        weak = bool(getattr(value, "weak_type", False))
        return Leaf("array", str(value.dtype), tuple(value.shape), weak)
    if isinstance(value, bool | int | float | complex):
        return Leaf(type(value).__name__, value=repr(value))
    if value is None or isinstance(value, str | bytes):
        return Leaf("static", value=_short(repr(value)))
    return Leaf("static", value=_short(_words(value)), identity=_identity(value))


def _words(value: Any) -> str:
    """Functions by their names, and objects that do not say what they are by their class."""
    if isinstance(value, FunctionType) or callable(value):
        return getattr(value, "__qualname__", None) or type(value).__name__
    text = repr(value)
    return f"{type(value).__name__} object" if " at 0x" in text else text


def _identity(value: Any) -> int:
    """Equal static values share a trace."""
    try:
        return hash(value)
    except TypeError:
        return id(value)


def _of_array(value: jax.Array) -> Leaf:
    aval = value.aval if hasattr(value, "aval") else value
    sharding = getattr(value, "sharding", None)
    devices = sorted(sharding.device_set, key=lambda d: d.id) if sharding is not None else []
    return Leaf(
        "array",
        str(value.dtype),
        tuple(value.shape),
        bool(getattr(aval, "weak_type", False)),
        device=", ".join(f"{d.platform}:{d.id}" for d in devices),
        sharding=str(getattr(sharding, "spec", "")) if len(devices) > 1 else "",
        committed=bool(getattr(value, "committed", getattr(value, "_committed", False))),
    )


def _is_data(value: Any) -> bool:
    return value.dtype.kind not in "OSUMm"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
