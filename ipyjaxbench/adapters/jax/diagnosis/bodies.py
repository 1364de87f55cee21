"""Functions that JAX always calls with tracers, so that none of their arguments can be static."""

from dataclasses import replace
from types import FrameType
from typing import Any

import jax

from ipyjaxbench.adapters.jax.diagnosis.pitfalls import COMPUTED_SHAPE, SHAPE_BY_VALUE
from ipyjaxbench.graphs import Pitfall
from ipyjaxbench.usercode import is_a, is_file_of

_FIXED_SIZE = (
    "Use jax.lax.dynamic_slice_in_dim(x, start, size) with a fixed size, or compute all and select"
    " with jnp.where."
)
_PYTHON_LOOP = f"{_FIXED_SIZE} Or loop in Python, where each number is known."
_CLOSURE = f"{_FIXED_SIZE} Or let the branches close over the number: operands are traced."
#: What calls such a function, what is said of that, and what helps.
_CALLERS = {
    "fori_loop": ("in the body of fori_loop", _PYTHON_LOOP),
    "while_loop": ("in the body of while_loop", _FIXED_SIZE),
    "scan": ("in the body of scan", _PYTHON_LOOP),
    "map": ("in the body of map", _PYTHON_LOOP),
    "associative_scan": ("in the body of associative_scan", _PYTHON_LOOP),
    "reduce": ("in the body of reduce", _FIXED_SIZE),
    "cond": ("in the branches of cond", _CLOSURE),
    "switch": ("in the branches of switch", _CLOSURE),
    "vmap": ("under vmap", _PYTHON_LOOP),
}


def caller_of(frame: FrameType) -> str:
    """Return which function of JAX called the code of a frame; empty if jit did, or none."""
    caller, outer = "", frame.f_back
    while outer is not None and not is_file_of(outer.f_code.co_filename, "jax"):
        outer = outer.f_back
    while outer is not None and is_file_of(outer.f_code.co_filename, "jax"):
        name = outer.f_code.co_qualname.partition(".")[0]
        caller = name if name in _CALLERS else caller  # the outermost: fori_loop calls scan
        outer = outer.f_back
    return caller


def is_of_vmap(leaf: Any) -> bool:
    """Whether a tracer stands in for one row of an array."""
    return is_a(leaf, jax.core.Tracer) and getattr(leaf, "batch_dim", None) is not None


def pitfall_in(caller: str, pitfall: Pitfall | None) -> Pitfall | None:
    """Return a pitfall in the words that fit where this function of JAX calls the code."""
    if not caller or pitfall is None:
        return pitfall
    where, advice = _CALLERS[caller]
    pitfall = SHAPE_BY_VALUE if pitfall is COMPUTED_SHAPE else pitfall
    is_possible = "static" not in pitfall.advice and "outside jit" not in pitfall.advice
    return replace(
        pitfall,
        because=pitfall.because.replace("under jit", where),
        advice=pitfall.advice if is_possible else advice,
    )
