"""What a call gives without jit; what is to be written instead has to give that under jit."""

import contextlib
import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.isolation import JaxUndoLog
from ipyjaxbench.adapters.jax.own_work import no_disk_cache
from ipyjaxbench.adapters.shared.diagnosis.eager import MAX_NUMBERS, MAX_SECONDS, are_same
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import (
    ARRAY_FUNCTION_NAMES,
    SIDE_EFFECT_NAMES,
    Call,
    OutOfTimeError,
    ask,
    has_side_effects,
    is_a,
    is_of,
)

_ARRAYS = (jax.Array, np.ndarray, np.generic)


class EagerCall:
    """A call that is made without jit when its result is first asked for.

    It is made with copies of its data, within two seconds, and what it changes is put back.

    Args:
        call: it is not made where its arguments are large, or known by their shapes alone.

    Attributes:
        how: what the results are compared with, in words.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self.how = "without jit"

    @cached_property
    def failure(self) -> BaseException | None:
        """What the call raises without jit too; None where it does not, or was not made."""
        return self._outcome if isinstance(self._outcome, BaseException) else None

    def agrees(self, other: Call, static: Collection[str] = ()) -> bool | None:
        """Whether another call gives the same, without jit and under it: values, shapes and dtypes.

        Code that traces may give something else under jit: the text of a tracer is no number's.
        None where that cannot be computed.

        Args:
            other: the call; it is known to trace.
            static: its arguments that are fixed values under jit.
        """
        expected = self._outcome
        if expected is None or isinstance(expected, BaseException):
            return None
        # Without jit first: there, code that does not end can be stopped.
        for jitted in (False, True):
            actual = _made(other, _copied, static if jitted else None)
            if actual is None or isinstance(actual, BaseException):
                return None if actual is None else False
            try:
                with _alone(jit=True):  # to compare arrays compiles, too
                    is_same = _are_same_trees(expected[0], actual[0])
                if not is_same:
                    return False
            except CODE_ERRORS:  # objects of the user's may not be comparable
                return None
        return True

    @cached_property
    def _outcome(self) -> tuple[Any] | BaseException | None:
        if not _may_be_made(self._call):
            return None
        outcome = _made(self._call, _copied)
        if isinstance(outcome, TypeError) and "immutable" in str(outcome):
            # What assigns to a part of an array is code for NumPy.
            of_numpy = _made(self._call, _to_numpy)
            self.how = "with arrays of NumPy"
            return of_numpy if isinstance(of_numpy, tuple) else outcome
        return outcome


def _may_be_made(call: Call) -> bool:
    leaves = trees.leaves((call.args, dict(call.kwargs)))
    if any(is_a(leaf, jax.ShapeDtypeStruct, jax.core.Tracer) for leaf in leaves):
        return False
    if sum(np.size(leaf) for leaf in leaves if is_a(leaf, *_ARRAYS)) > MAX_NUMBERS:
        return False
    return not any(map(_acts, call_graph.functions(call)))


def _acts(function: FunctionType) -> bool:
    """Whether the user's code acts: `jnp.log` is no record of anything, `wandb.log` is."""
    if (function.__module__ or "").partition(".")[0] in ("jax", "numpy"):
        return False
    has_arrays = any(value is jnp or value is np for value in function.__globals__.values())
    names = SIDE_EFFECT_NAMES - ARRAY_FUNCTION_NAMES if has_arrays else SIDE_EFFECT_NAMES
    return has_side_effects([function.__code__], names)


def _made(
    call: Call, change: Callable[[Any], Any], static: Collection[str] | None = None
) -> tuple[Any] | BaseException | None:
    """Return the result in a tuple, or what was raised; None where there was no time.

    The call is made with changed copies of its data, and under jit where `static` is not None.
    """
    args, kwargs = trees.map_leaves(change, (call.args, dict(call.kwargs)))
    copied = replace(call, args=args, kwargs=kwargs)
    try:
        with JaxUndoLog(copied), _alone(jit=static is not None), tracing.limit_time(MAX_SECONDS):
            if static is None:
                return (jax.block_until_ready(call.function(*args, **kwargs)),)
            return (jax.block_until_ready(tracing.run(copied, static)),)
    except OutOfTimeError:
        return None
    except CODE_ERRORS as error:  # the user's code may raise anything
        return error


@contextlib.contextmanager
def _alone(*, jit: bool) -> Iterator[None]:
    """Hide what is printed, warned of and logged, and keep no compiled program."""
    with (
        jax.disable_jit(not jit),
        no_disk_cache(),
        contextlib.redirect_stdout(io.StringIO()),
        tracing.silent(),
    ):
        try:
            yield
        finally:
            jax.effects_barrier()  # what it prints at last is dropped too


def _copied(leaf: Any) -> Any:
    return leaf.copy() if is_of(leaf, np.ndarray) else leaf


def _to_numpy(leaf: Any) -> Any:
    return np.array(leaf) if is_a(leaf, jax.Array, np.ndarray) else leaf


def _are_same_trees(expected: Any, actual: Any) -> bool:
    (one, structure), (two, other) = trees.flatten(expected), trees.flatten(actual)
    return structure == other and are_same(one, two, _is_same)


def _is_same(expected: Any, actual: Any) -> bool:
    numbers = bool | int | float | complex | np.ndarray | np.generic | jax.Array
    if not (isinstance(expected, numbers) and isinstance(actual, numbers)):
        return ask(lambda value: value == actual, expected)
    a, b = jnp.asarray(expected), jnp.asarray(actual)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if jnp.issubdtype(a.dtype, jax.dtypes.extended):
        a, b = jax.random.key_data(a), jax.random.key_data(b)
    if not jnp.issubdtype(a.dtype, jnp.inexact):
        return bool((a == b).all())
    close = float(jnp.finfo(a.dtype).eps) ** 0.5
    return bool(jnp.allclose(a, b, rtol=close, atol=close, equal_nan=True))
