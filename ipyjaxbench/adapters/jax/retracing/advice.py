"""What to write so that a function is not traced again."""

import re
from collections.abc import Sequence

from ipyjaxbench.adapters.shared.retracing import STALE, advise, is_number
from ipyjaxbench.retracing import Change

_ARRAY = re.compile(r"\w+\[[\d,]*\]")  # in words, as f32[3]
#: By kind of change.
_ADVICE = {
    "function": "Call jax.jit once and reuse its result: each new {name} object is traced again",
    "captured": "Pass {path} to {name} as an argument: captured values are baked into the trace",
    "form": "Pass {path} the same way in every call: positionally, by keyword, or not at all",
    "role": "Give each jax.jit of {name} the same `static_argnames`: {path} is static in only some",
    "type": "Always pass {path} as the same type (for instance with `jnp.asarray`)",
    "scalar": "Always pass {path} as the same type (for instance with `jnp.asarray`)",
    "shape": "Use fewer distinct shapes: pad {path} to a fixed multiple (for instance with"
    " `jnp.pad`)",
    "rank": "Always pass {path} with the same number of axes",
    "dtype": "Always pass {path} with the same dtype: `.astype(...)` before the call",
    "weak type": "Give {path} an explicit dtype (for instance `jnp.float32(...)`)",
    "static value": "Each new value of {path} needs its own trace: use few, and create objects"
    " once",
    "number": "Each new value of {path} needs its own trace: remove it from `static_argnames` if it"
    " can be an array",
    "committed": "Commit {path} once, before the first call: `jax.device_put(..., device)`",
    "device": "Keep {path} on one device: `jax.device_put(..., device)` before the first call",
    "sharding": "Keep one sharding for {path}: `jax.device_put(..., sharding)` before the first"
    " call",
    "option": "Call one jax.jit of {name} everywhere: one with other options compiles it again",
    "setting": "Set {path} once, before the first call",
    "stale": STALE,
    "stale object": "Run the cell, or reload the module, that defines {name}, for today's {path}",
    "structure": "Keep the same keys and lengths in every call",
}


def fixes(name: str, why: Sequence[Change]) -> tuple[str, ...]:
    """Return what to write, by what changed in calls of this function."""
    kinds = ((_kind(change), path) for change in why for path in change.paths())
    return advise(name, ((_ADVICE[kind], path) for kind, path in kinds if kind in _ADVICE))


def _kind(change: Change) -> str:
    is_data = is_number(change.old) or _ARRAY.match(change.old)
    if change.kind == "stale" and change.old and not is_data:
        return "stale object"  # which a jitted function does not take, unless it is static
    are_numbers = change.kind == "static value" and is_number(change.old) and is_number(change.new)
    is_argument = change.path.isidentifier()  # a field that is static has another place for that
    return "number" if are_numbers and is_argument else change.kind
