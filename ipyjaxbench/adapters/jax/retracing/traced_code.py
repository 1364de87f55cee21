"""What a jitted function read while it was traced, and whether today's program is another one."""

import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import jax
import numpy as np

from ipyjaxbench import units
from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compilation import unused_key
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.shared.imprints import (
    MOST_COMPARED,
    imprint_identity,
    imprint_numpy,
    imprint_values,
)
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import TracedCode
from ipyjaxbench.usercode import (
    Call,
    Imprint,
    Reads,
    find_reads,
    is_users_function,
    label_arguments,
)

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_DATA = (bool, int, float, complex, np.ndarray, np.generic, jax.Array)


class JaxTracedCode(TracedCode):
    """A jitted function with what it is compiled with, and the shapes of its other arguments.

    It keeps no array and no object of the user's from being freed.
    """

    def __init__(self, called: Called) -> None:
        self._plain = _held(callee.plain_of(called.function))
        self._args = [*map(_held, called.args)]
        self._kwargs = {name: _held(value) for name, value in called.kwargs.items()}
        self._is_transformed = bool(called.transformation)

    def reads(self) -> Reads | None:
        """Return what the user's function, and those that it calls, read now."""
        plain, args, kwargs = self._call()
        if not is_users_function(plain):
            return None
        names = label_arguments(plain, args, kwargs)
        given = {**dict(zip(names, args, strict=True)), **kwargs}
        static = {name: value for name, value in given.items() if not _is_data(value)}
        return find_reads(plain, static, imprint)

    def is_another_program(self, compiled: Any) -> bool | None:
        """Trace it anew, aside, and hold the program against the one that is cached."""
        jitted, _, _ = callee.unbound(compiled)
        plain, args, kwargs = self._call()
        if self._is_transformed or not hasattr(jitted, "trace") or not hasattr(jax, "no_tracing"):
            return True  # no program can be asked for: what was read decides
        try:
            with jax.no_tracing(True):  # noqa: FBT003
                cached = jitted.trace(*args, **kwargs).jaxpr
        except CODE_ERRORS:  # it is not cached any more, or under another key
            return bool(getattr(jitted, "_cache_size", lambda: 1)())
        try:
            new = _trace_anew(plain, args, kwargs)
        except CODE_ERRORS:  # what it read is gone, or cannot be traced
            return True
        if len(new.in_avals) != len(cached.in_avals) or _shares_numpy(cached, new):
            return True  # they cannot be compared: what was read decides
        return not _same(cached, new)

    def _call(self) -> tuple[Any, list[Any], dict[str, Any]]:
        """Return the function and what it is called with; None for what was freed since."""
        args, kwargs = (
            [each() for each in self._args],
            {n: each() for n, each in self._kwargs.items()},
        )
        return self._plain(), args, kwargs


def _held(value: Any) -> Callable[[], Any]:
    """Return what gives a value back: data as their shapes, objects as long as others hold them."""
    if not callable(value) and _is_data(value):
        shape = trees.map_leaves(_shape, value)
        return lambda: shape
    try:
        return weakref.ref(value)
    except TypeError:  # text, and what else cannot be referred to
        return lambda: value


def _trace_anew(plain: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the program of today; functions that were jitted inside are traced anew, too."""
    call = Call.from_function(plain, *args, **kwargs)
    with tracing.silent(), (unused_key() or nullcontext)():
        return tracing.program_of(call)


def _shares_numpy(one: Any, other: Any) -> bool:
    """Whether both hold an array of NumPy's that can have changed in place since."""
    held = [id(each) for each in one.consts if isinstance(each, np.ndarray)]
    return any(id(each) in held for each in other.consts)


def _same(one: Any, other: Any) -> bool:
    texts = (_ADDRESS.sub("", str(each.jaxpr)) for each in (one, other))
    if len({*texts}) > 1 or len(one.consts) != len(other.consts):
        return False
    return all(map(_equal, one.consts, other.consts))


def _equal(one: Any, other: Any) -> bool:
    return one is other or bool(np.array_equal(np.asarray(one), np.asarray(other)))


def _shape(leaf: Any) -> Any:
    """Return an array without its data; what is static, and a number, as it is."""
    if isinstance(leaf, np.ndarray):
        return jax.ShapeDtypeStruct(leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype))
    if isinstance(leaf, jax.Array):
        weak = bool(getattr(getattr(leaf, "aval", leaf), "weak_type", False))
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=weak)
    return leaf


def _is_data(value: Any) -> bool:
    """Whether an argument is data, or a tree of nothing else."""
    leaves = trees.leaves(value)
    return all(isinstance(each, (*_DATA, jax.ShapeDtypeStruct)) for each in leaves)


def imprint(value: object) -> Imprint | None:
    """Return what tells an array from others; None for what is none."""
    if isinstance(value, np.generic | np.ndarray):
        return imprint_numpy(value)
    if not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
        return None
    words = units.array(str(value.dtype), value.shape)
    if value.is_deleted():
        return Imprint(words, (words, "deleted"), "array")
    is_near = value.nbytes <= MOST_COMPARED and value.is_fully_addressable
    if is_near and not jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
        return imprint_values(words, np.asarray(value))
    return imprint_identity(words, value, "array")
