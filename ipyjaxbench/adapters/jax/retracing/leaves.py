"""The values among arguments, as JAX tells them apart: data, and what is static."""

import itertools
import sys
import weakref
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np

from ipyjaxbench import units
from ipyjaxbench.retracing.cache_key import Leaf
from ipyjaxbench.usercode.code_objects import fingerprint
from ipyjaxbench.usercode.objects import attributes, is_opaque

_LONGEST = 40  # characters of a value
_MOST = 20_000  # values of one call
_NUMBERS = (bool, int, float, complex)

_tokens: dict[int, tuple[Any, int]] = {}
_numbers = itertools.count(1)


def token(value: Any) -> int:
    """Tells objects apart for good: `id` is that of another one when they are gone."""
    if type(value) is MethodType:  # made anew each time that it is asked for
        return hash((token(value.__self__), token(value.__func__)))
    known = _tokens.get(id(value))
    if known is None or known[0]() is not value:
        try:
            known = _tokens[id(value)] = weakref.ref(value), next(_numbers)
        except TypeError:  # it cannot be referred to
            return id(value)
    return known[1]


def leaves(path: str, value: Any) -> Iterator[tuple[str, Leaf]]:
    """What an argument holds, each with its path; what is no data of it among that."""
    yield from itertools.islice(_leaves(path, value, frozenset()), _MOST)


def _leaves(path: str, value: Any, around: frozenset[int]) -> Iterator[tuple[str, Leaf]]:
    parts = None if id(value) in around else _parts(value)
    if parts is None:
        yield path, leaf(_data(value))
        return
    yield path, Leaf(type(value).__name__)
    names = {key.lstrip(".") for key, _ in parts}
    for key, part in parts:
        yield from _leaves(path + key, part, around | {id(value)})
    for name, held in attributes(value).items():
        if name not in names and not name.startswith("_"):
            yield f"{path}.{name}", captured(held)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """What stands right within a tree, each with the end of its path; None of what is no tree."""
    if value is None or _is_variable(value):
        return None
    try:
        found = jax.tree_util.tree_flatten_with_path(
            value, is_leaf=lambda x: x is not value or is_opaque(x)
        )[0]
    except Exception:  # noqa: BLE001  what cannot be flattened cannot be given to JAX either
        return None
    if len(found) == 1 and not found[0][0]:
        return None
    return [(jax.tree_util.keystr(key), part) for key, part in found]


def _is_variable(value: Any) -> bool:
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(value, nnx.Variable)


def _data(value: Any) -> Any:
    """The array in a variable of Flax."""
    if not _is_variable(value):
        return value
    read = getattr(value, "get_value", None)
    return value.value if read is None else read()


def leaf(value: Any) -> Leaf:
    """One value among the arguments; an object that fails when it is asked, by its type."""
    try:
        return _told(value)
    except Exception:  # noqa: BLE001  a user's object must not stop the user's call
        return Leaf("static", value=type(value).__name__, identity=id(value))


def captured(value: Any) -> Leaf:
    """One value that is part of a trace, and no argument of it."""
    try:
        return _captured(value)
    except Exception:  # noqa: BLE001  a user's object must not stop the user's call
        return Leaf("static", value=type(value).__name__, identity=id(value))


def _told(value: Any) -> Leaf:
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
    if isinstance(value, _NUMBERS):
        return Leaf(type(value).__name__, value=repr(value))
    return _static(value, _identity(value))


def _captured(value: Any) -> Leaf:
    if isinstance(value, _NUMBERS):
        return Leaf("static", value=repr(value))
    if isinstance(value, FunctionType):
        return _static(value, fingerprint(value.__code__))
    if isinstance(value, jax.Array | np.ndarray):
        return Leaf("static", value=leaf(value).words(), identity=token(value))
    if isinstance(value, str | bytes | type | ModuleType) or hasattr(type(value), "__array__"):
        return _static(value, 0)
    return _static(value, token(value))


def _static(value: Any, identity: int) -> Leaf:
    if value is None or isinstance(value, str | bytes):
        return Leaf("static", value=units.cut(repr(value), _LONGEST), identity=hash(value))
    return Leaf("static", value=units.cut(_words(value), _LONGEST), identity=identity)


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
