"""What a jitted function read while it was traced, and whether today's program is another one."""

import re
import zlib
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ipyjaxbench import units
from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.shared.retracing import token
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

_MOST_COMPARED = 1 << 20  # bytes of an array whose values are compared; of others, its identity
_SAMPLED = 1 << 16  # bytes that are looked at of a larger one that may change in place
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_DATA = (bool, int, float, complex, np.ndarray, np.generic, jax.Array)


class JaxTracedCode(TracedCode):
    """A jitted function with the arguments that it is compiled with, and the shapes of others."""

    def __init__(self, function: Any, called: Called) -> None:
        self._jitted, _, _ = callee.unbound(function)
        self._called = called._replace(
            args=tuple(map(_abstract, called.args)),
            kwargs={name: _abstract(value) for name, value in called.kwargs.items()},
        )
        self._plain = callee.plain_of(called.function)

    def reads(self) -> Reads | None:
        """Return what the user's function, and those that it calls, read now."""
        if not is_users_function(self._plain):
            return None
        _, args, kwargs, _ = self._called
        names = label_arguments(self._plain, args, kwargs)
        given = {**dict(zip(names, args, strict=True)), **kwargs}
        static = {name: value for name, value in given.items() if not _is_data(value)}
        return find_reads(self._plain, static, imprint)

    def is_another_program(self) -> bool | None:
        """Trace it anew, aside, and hold the program against the one that is cached."""
        _, args, kwargs, transformation = self._called
        if transformation or not hasattr(self._jitted, "trace") or not hasattr(jax, "no_tracing"):
            return None
        try:
            with jax.no_tracing(True):  # noqa: FBT003
                cached = self._jitted.trace(*args, **kwargs).jaxpr
            new = _trace_anew(self._plain, args, kwargs, len(cached.in_avals))
        except CODE_ERRORS:  # it does not trace any more, or is not cached
            return None
        return None if new is None else not _same(cached, new)


def _trace_anew(plain: Any, args: Any, kwargs: Mapping[str, Any], inputs: int) -> Any:
    """Return the program of today; None where it has other inputs than the cached one.

    Functions that were jitted inside are traced anew, too: for a setting that is part of the key
    and of no program.
    """
    call = Call.from_function(plain, *args, **kwargs)
    other = "warn" if jax.config.jax_numpy_rank_promotion == "allow" else "allow"
    with tracing.silent(), jax.numpy_rank_promotion(other):
        closed = tracing.program_of(call)
    return closed if len(closed.in_avals) == inputs else None


def _same(one: Any, other: Any) -> bool:
    texts = (_ADDRESS.sub("", str(each.jaxpr)) for each in (one, other))
    if len({*texts}) > 1 or len(one.consts) != len(other.consts):
        return False
    return all(map(_equal, one.consts, other.consts))


def _equal(one: Any, other: Any) -> bool:
    return one is other or bool(np.array_equal(np.asarray(one), np.asarray(other)))


def _abstract(value: Any) -> Any:
    """Return an argument without its data: it would be kept from being freed."""
    return trees.map_leaves(_shape, value)


def _shape(leaf: Any) -> Any:
    if isinstance(leaf, jax.Array):
        return jax.ShapeDtypeStruct(
            leaf.shape, leaf.dtype, weak_type=bool(getattr(leaf, "weak_type", False))
        )
    return leaf


def _is_data(value: Any) -> bool:
    """Whether an argument is data, or a tree of nothing else."""
    leaves = trees.leaves(value)
    return all(isinstance(each, (*_DATA, jax.ShapeDtypeStruct)) for each in leaves)


def imprint(value: object) -> Imprint | None:
    """Return what tells an array from others; None for what is none."""
    if isinstance(value, np.generic):
        return Imprint(str(value), (str(value.dtype), value.tobytes()))
    if isinstance(value, np.ndarray):
        return _of_numpy(value)
    if not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
        return None
    words = units.array(str(value.dtype), value.shape)
    if value.is_deleted():
        return Imprint(words, (words, "deleted"), "array")
    is_near = value.nbytes <= _MOST_COMPARED and value.is_fully_addressable
    if is_near and not jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
        return Imprint(words, (words, zlib.crc32(np.asarray(value).tobytes())), "array")
    return Imprint(words, (words, token(value)), "array")


def _of_numpy(value: Any) -> Imprint:
    """Return its bytes in short; of a large one those of a part, and which one it is."""
    words = units.array(str(value.dtype), value.shape)
    if value.dtype.hasobject:
        return Imprint(words, (words, token(value)), "array")
    if value.nbytes <= _MOST_COMPARED:
        return Imprint(words, (words, zlib.crc32(value.tobytes())), "array")
    step = max(value.size * value.itemsize // _SAMPLED, 1)
    part = value.reshape(-1)[::step] if value.flags.c_contiguous else value.flat[:_SAMPLED]
    return Imprint(words, (words, token(value), zlib.crc32(part.tobytes())), "array")
