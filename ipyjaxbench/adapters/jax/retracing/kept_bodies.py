"""Loops and branches outside of compiled functions: JAX keeps what it traced of their bodies."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compilation import unused_key
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.isolation import JaxUndoLog
from ipyjaxbench.adapters.jax.retracing import callee, programs
from ipyjaxbench.adapters.jax.retracing.traced_code import imprint
from ipyjaxbench.adapters.shared.copied_functions import copy_function
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import rolled_back, roots_of
from ipyjaxbench.retracing import Args, Change, KeptBody, Kwargs, stale_names
from ipyjaxbench.usercode import (
    Call,
    Muted,
    find_reads,
    how_to_define,
    is_of,
    is_users_function,
    unlogged,
    unwrap,
)

_RECOMPUTING = ("checkpoint", "remat")
_KEEPING = (
    jax.lax.scan, jax.lax.while_loop, jax.lax.fori_loop, jax.lax.cond, jax.lax.switch,
    jax.lax.reduce, jax.lax.reduce_window, jax.numpy.piecewise,
)  # fmt: skip
_IDS = frozenset(map(id, _KEEPING))  # every function that a cell calls is asked for


def keeps_bodies(function: Any) -> bool:
    """Whether JAX keeps the traces of functions that it runs, by what these are."""
    return id(function) in _IDS or callee.transformation_of(function) in _RECOMPUTING


def look_at_bodies(function: Any, args: Args, kwargs: Kwargs) -> Iterator[KeptBody]:
    """Yield the bodies of a call that was made, and what each reads now."""
    is_made = callee.transformation_of(function) in _RECOMPUTING
    given = [function] if is_made else [*args, *kwargs.values()]
    for body in (each for value in given for each in _functions_in(value)):
        reads = find_reads(body, {}, imprint)
        if reads.paths and not (reads.raised or reads.is_cut or reads.side_effects):
            yield KeptBody(callee.display_name(body), body, reads, is_given=not is_made)


def stale_body(body: KeptBody, function: Any, args: Args, kwargs: Kwargs) -> Change | None:
    """Return what may have changed since the body of a call was traced; None where nothing did.

    What the call finds is held against what the code of today gives.
    """
    try:
        same = _is_todays(body, function, args, kwargs)
    except CODE_ERRORS:  # what it read is gone, or it cannot be traced, or be compared
        return None
    new = f"was changed after {body.name} was traced"
    return Change("stale", stale_names(body.reads), new=new) if same is False else None


def how_to_renew_body(body: KeptBody) -> str:
    """Return what to type so that JAX traces it anew."""
    if not body.is_given:
        return "Call `jax.clear_caches()`"
    again = how_to_define(body.function, f"`{body.name}`")
    return f"{again[:1].upper()}{again[1:]}, or call `jax.clear_caches()`"


def _functions_in(value: Any) -> Iterator[Any]:
    values = value if is_of(value, list, tuple) else (value,)
    plain = (unwrap(each) for each in values if callable(each))
    yield from (each for each in plain if is_users_function(each))


def _is_todays(body: KeptBody, function: Any, args: Args, kwargs: Kwargs) -> bool | None:
    """Whether a call with a copy of a body, which JAX has not traced, gives the same program."""
    call = Call.from_function(function, *args, **kwargs)
    leaves, structure = trees.flatten((tuple(args), dict(kwargs)))
    at = [n for n, leaf in enumerate(leaves) if isinstance(leaf, jax.Array | np.ndarray)]
    anew: Any = nullcontext
    if not body.is_given:  # what `jax.checkpoint` gave: it has no other body
        anew = unused_key()
    elif not any(leaf is body.function for leaf in leaves):  # it is in a partial, or decorated
        return None

    def whole(places: dict[int, Any], *arrays: Any) -> Any:
        filled = places | dict(zip(at, arrays, strict=True))
        given, named = jax.tree.unflatten(
            structure, [filled.get(n, leaf) for n, leaf in enumerate(leaves)]
        )
        return function(*given, **named)

    arrays = [leaves[n] for n in at]
    plain = body.function
    copied = copy_function(plain, plain.__globals__, plain.__closure__)
    instead = {n: copied for n, leaf in enumerate(leaves) if leaf is plain}
    with Muted(), unlogged(), rolled_back(roots_of(call)) as left, JaxUndoLog(call):
        if left.cut or anew is None:
            return None
        with tracing.silent():
            kept = jax.make_jaxpr(partial(whole, {}))(*arrays)
            if programs.is_too_large(kept, 2):
                return None
            with anew():
                today = jax.make_jaxpr(partial(whole, instead))(*arrays)
            return programs.is_same(kept, today)
