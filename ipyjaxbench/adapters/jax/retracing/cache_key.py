"""What JAX looks at to find a trace, and a program, for a call: data, and what is static."""

import inspect
import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import jax
import numpy as np
from jax._src import config

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.retracing.callee import (
    Called,
    full_name,
    plain_of,
    transformation_of,
    transformations,
)
from ipyjaxbench.adapters.jax.retracing.equinox_calls import as_kept
from ipyjaxbench.adapters.jax.retracing.leaf import (
    ARRAYS,
    NUMBERS,
    argument_leaf,
    captured_leaf,
    is_variable,
    static_leaf,
    value_words,
)
from ipyjaxbench.adapters.jax.retracing.omitted import omitted_static
from ipyjaxbench.adapters.jax.retracing.static_data import StaticData, static_data
from ipyjaxbench.adapters.shared.retracing import shorten
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Leaf, Signature
from ipyjaxbench.usercode import (
    attributes,
    captured_values,
    fingerprint,
    is_exactly,
    is_of,
    is_opaque,
    label_arguments,
    living_token,
    wrappers_in,
)

_MAX_LEAVES = 20_000  # of one argument
_DATA = (*NUMBERS, str, bytes, type(None), np.ndarray, np.generic, jax.Array)
_PLAIN = (*NUMBERS, str, bytes, type(None))
#: Types whose own objects are no trees; those of a class that is made of one may be.
_LEAVES = (*_PLAIN, np.ndarray)
#: Settings that are part of the key, as far as people change them; where JAX does not list them.
_SETTINGS = (
    "jax_enable_x64", "jax_default_matmul_precision", "jax_default_device", "jax_debug_nans",
    "jax_debug_infs", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion",
    "jax_default_prng_impl", "jax_threefry_partitionable", "jax_softmax_custom_jvp",
    "jax_disable_jit", "jax_debug_key_reuse",
)  # fmt: skip
#: What people call to change those that are no options.
_CONTEXTS = {"abstract_mesh_context_manager": "jax.set_mesh", "mesh_context_manager": "with mesh"}


def signature(called: Called) -> Signature:
    """Return the signature of a call; it holds no array."""
    function, args, kwargs, *_ = called = as_kept(called)
    is_bound = type(function) is MethodType  # which has the attributes of its function
    names = label_arguments(function if is_bound else inspect.unwrap(function), args, kwargs)
    places = [*range(len(args)), *kwargs]
    pairs = [*zip(names, args, strict=True), *kwargs.items()]
    arguments = [(*pair, called.role(at)) for at, pair in zip(places, pairs, strict=True)]
    written = (plain_of(function), *wrappers_in(function))
    codes = [getattr(each, "__code__", None) for each in written]
    return Signature(
        leaves=dict(pair for argument in arguments for pair in leaves(*argument)),
        form=(*names, *(f"{name}=" for name in sorted(kwargs))),
        omitted=dict(pair for each in omitted_static(called) for pair in leaves(*each)),
        settings=_settings(),
        function=living_token(function),
        code=hash((*map(fingerprint, codes), *transformations(function))),
        captured={name: captured_leaf(value) for name, value in _captured(function)},
        transformation=called.transformation,
        options=called.options,
        full_name=full_name(plain_of(function)),
    )


def _settings() -> dict[str, str]:
    """Return the settings that are part of the key, as JAX lists them where it does (private)."""
    try:
        pairs = zip(config.trace_context_names(), config.trace_context(), strict=True)
        return {_CONTEXTS.get(name, name): _setting(value) for name, value in pairs}
    except CODE_ERRORS:  # another version, or a context of the user's own making
        return {n: str(getattr(jax.config, n)) for n in _SETTINGS if hasattr(jax.config, n)}


def _setting(value: Any) -> str:
    is_plain = value is None or isinstance(value, bool)  # as most are
    return (
        repr(value)
        if is_plain
        else shorten(value if isinstance(value, str) else value_words(value))
    )


def _captured(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield values baked into a trace: a self, a partial's, closed-over ones, plain globals."""
    kind = type(function)
    if kind is MethodType:
        yield "self", function.__self__
        yield from _captured(function.__func__)
    elif issubclass(kind, partial):
        yield from zip(_names(function.func), function.args)  # noqa: B905
        yield from function.keywords.items()
        yield from _captured(function.func)
    elif kind is FunctionType and not transformation_of(function):
        yield from captured_values(function, _DATA)
    elif getattr(function, "__wrapped__", function) is not function:
        yield from _captured(function.__wrapped__)


def _names(function: Any) -> list[str]:
    """Return the names of its parameters; none where Python does not know its signature."""
    try:
        return [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return []


def leaves(path: str, value: Any, role: str = "?") -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves of an argument with their paths, also what is no data, by `Called.role`."""
    yield from itertools.islice(_leaves(path, value, frozenset(), role), _MAX_LEAVES)


def _leaves(
    path: str, value: Any, enclosing: frozenset[int], role: str
) -> Iterator[tuple[str, Leaf]]:
    parts = None if id(value) in enclosing else _parts(value)
    if parts is None:
        yield path, argument_leaf(value, role)
        return
    static = static_data(value) if role == "data" else None
    yield path, _node(value, static)
    names = {key.lstrip(".") for key, _ in parts}
    # Small numbers share their identity: of parts that have names these tell.
    is_named = all(key.startswith(".") for key, _ in parts)
    leaves = {id(part) for _, part in parts if not (is_named and is_exactly(part, *_PLAIN))}
    for key, part in parts:
        yield from _leaves(path + key, part, enclosing | {id(value)}, role)
    for name, attribute in attributes(value).items():
        is_leaf = id(attribute) in leaves or isinstance(attribute, ARRAYS)
        if name not in names and not is_leaf and not name.startswith("_"):
            in_key = static is None or static.holds(attribute)
            is_compared = role != "?" and type(attribute) is FunctionType  # by identity
            leaf = static_leaf(attribute) if is_compared else captured_leaf(attribute)
            yield f"{path}.{name}", replace(leaf, in_key=in_key)


def _node(value: Any, static: StaticData | None) -> Leaf:
    kind = type(value).__name__
    if static is None:
        return Leaf(kind)
    return Leaf(kind, value=shorten(value_words(static.whole)), identity=hash((kind, static.whole)))


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """Return what is right within a tree, with the ends of paths; None for what is no tree."""
    # Most values are these: to have JAX look at each takes longer than all else.
    if is_of(value, jax.Array) or is_exactly(value, *_LEAVES) or is_variable(value):
        return None
    try:
        parts = trees.walk(jax.tree_util.tree_leaves_with_path, value,
                           is_leaf=lambda x: x is not value or is_opaque(x))  # fmt: skip
    except CODE_ERRORS:  # what cannot be flattened cannot be given to JAX either
        return None
    if len(parts) == 1 and not parts[0][0]:
        return None
    return [(jax.tree_util.keystr(key), part) for key, part in parts]
