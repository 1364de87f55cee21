"""What to write so that a function is not traced again, or is where its program is stale."""

import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.jax.retracing.define_again import typed_as
from ipyjaxbench.adapters.shared.retracing import (
    advise,
    defining,
    is_gone,
    is_number,
    is_of_class,
    renewing,
)
from ipyjaxbench.retracing import Change, ReadChange
from ipyjaxbench.usercode import is_exactly, is_of, is_of_library

#: In words, as f32[3] or key<fry>[]; JAX takes no array of objects or texts.
_ARRAY = re.compile(r"(?!object|str|bytes)(?:\w+|key<\w+>)\[[\d,]*\](?: weak)?")
_WHOLE = re.compile(r"-?\d+")
_DATA = (int, float, complex, np.ndarray, np.generic, jax.Array)
#: By kind of change; "typed" is how the user says that arguments are static.
_ADVICE = {
    "function": "Call jax.jit once and reuse its result: each new {name} object is traced again",
    "captured": "Pass {path} to {name} as an argument: captured values are baked into the trace",
    "captured object": "Call jax.jit once for each {path} and reuse its result: each new {name}"
    " object is traced again",
    "form": "Pass {path} the same way in every call: positionally, by keyword, or not at all",
    "role": "Give each jax.jit of {name} the same {typed}: {path} is static in only some",
    "type": "Always pass {path} as the same type (for instance with `jnp.asarray`)",
    "none": "Pass {path} in all calls or in none: with None it is another program",
    "scalar": "Always pass {path} as the same type (for instance with `jnp.asarray`)",
    "shape": "Use fewer distinct shapes: pad {path} to a fixed multiple (for instance with"
    " `jnp.pad`)",
    "rank": "Always pass {path} with the same number of axes",
    "key": "Make all keys for {path} alike: with `jax.random.key`, and of one implementation",
    "dtype": "Always pass {path} with the same dtype: `.astype(...)` before the call",
    "weak type": "Give {path} an explicit dtype (for instance `jnp.float32(...)`)",
    "static value": "Each new value of {path} needs its own trace: use few, and create objects"
    " once",
    "number": "Each new value of {path} needs its own trace: remove it from {static} if it"
    " can be an array",
    "committed": "Commit {path} once, before the first call: `jax.device_put(..., device)`",
    "device": "Keep {path} on one device: `jax.device_put(..., device)` before the first call",
    "sharding": "Keep one sharding for {path}: `jax.device_put(..., sharding)` before the first"
    " call",
    "option": "Call one jax.jit of {name} everywhere: one with other options compiles it again",
    "setting": "Set {path} once, before the first call",
    "stale": "Pass {path} to {name} as an argument, or {again}",
    "stale size": "Pass {path} to {name} as an argument ({typed} if a shape, an axis, a loop or an"
    " `if` depends on it), or {again}",
    "stale static": "Pass {path} to {name} as a static argument ({typed}), or {again}",
    "stale object": "{Again}, for today's {path}",
    "stale code": "{Again}",
    "structure": "Keep the same keys and lengths in every call",
    "class": "Pass {path} as the same class in every call: each class needs its own trace",
    "order": "Give {path} its keys in the same order in every call",
}


def fixes(name: str, why: Sequence[Change], function: Any, again: str) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function.

    Args:
        name: of the function.
        why: what changed.
        function: as it is called.
        again: what to do so that its definition runs again, where something is stale.
    """
    of_gone, why = defining(name, why), [each for each in why if not is_gone(each)]
    kinds = [(_kind(each, function), path) for each in why for path in each.paths()]
    kinds += [("stale code", "") for each in why if _is_own_code(each)]
    of_parts = renewing(why)
    if not kinds:
        return (*of_gone, *of_parts)
    fields = {
        "again": again,
        "Again": again[:1].upper() + again[1:],
    }
    typed = typed_as(function)
    fields["static"] = typed or "the static arguments"
    fields["typed"] = typed or "`static_argnames`"
    texts = {kind: _with(fields, text) for kind, text in _ADVICE.items()}
    told = advise(name, ((texts[kind], path) for kind, path in kinds if kind in texts))
    return (*of_gone, *told, *of_parts)


def _with(fields: Mapping[str, str], text: str) -> str:
    for name, value in fields.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _kind(change: Change, function: Any) -> str:
    if change.kind == "captured":
        return "captured" if _is_data(change.new.removeprefix("another ")) else "captured object"
    if change.kind == "stale":
        return _stale_kind(change, function)
    if change.kind in ("rank", "shape", "dtype") and _are_other_keys(change):
        return "key"
    if change.kind == "type" and "None" in (change.old, change.new):
        return "none"
    if change.kind == "type" and _is_static(change, function):
        return "static value"
    if is_of_class(change):
        return "class"
    are_numbers = change.kind == "static value" and is_number(change.old) and is_number(change.new)
    is_argument = change.path.isidentifier()  # a field that is static has another place for that
    return "number" if are_numbers and is_argument else change.kind


def _is_static(change: Change, function: Any) -> bool:
    """Whether it is, or is in, a static argument, which no array can be."""
    name = re.split(r"[.\[]", change.path)[0]
    return name in callee.static_arguments(callee.jitted_in(function))


def _are_other_keys(change: Change) -> bool:
    """Whether random keys are of another sort: they have no `.astype`, nor an axis to add."""
    old, new = (words.partition("[")[0] for words in (change.old, change.new))
    return old != new and {"key", "u32"} >= {each.partition("<")[0] for each in (old, new)}


def _is_own_code(change: Change) -> bool:
    """Whether it is the code of the function itself that is another."""
    return isinstance(change, ReadChange) and not change.path


def _stale_kind(change: Change, function: Any) -> str:
    """Return how it may be given to a jitted function, by what it was and is."""
    if is_of_library(callee.plain_of(function)):
        return "stale object"
    if not change.old:  # its trace was not seen
        names = getattr(callee.plain_of(function), "__globals__", {})
        is_data = all(is_of(names.get(path), *_DATA) for path in change.paths())
        return "stale" if is_data else "stale object"
    words = (change.old, change.now if isinstance(change, ReadChange) else "")
    if isinstance(change, ReadChange) and change.is_data is not None:
        return "stale" if change.is_data else "stale static"
    if all(map(_WHOLE.fullmatch, words)):
        return "stale size"
    if all(map(_is_data, words)):
        return "stale"
    return "stale static" if all(map(_is_hashable, words)) else "stale object"


def _is_data(words: str) -> bool:
    """Whether it is an array, a number, or a tree of numbers."""
    try:
        leaves = jax.tree.leaves(literal_eval(words))
    except (ValueError, SyntaxError):
        return bool(_ARRAY.fullmatch(words))
    return bool(leaves) and all(is_exactly(each, int, float, complex) for each in leaves)


def _is_hashable(words: str) -> bool:
    return words in ("True", "False", "None") or words.startswith(("'", '"'))
