"""Calls that JAX makes of the function that it is given: `jax.jvp`, `jax.vjp`, `jax.linearize`."""

from typing import Any

import jax

from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.retracing import Args, Invocation

_IDS = frozenset(map(id, (jax.jvp, jax.vjp, jax.linearize)))  # all that a cell calls is asked for


def is_applying(function: Any) -> bool:
    """Whether it is one of these."""
    return id(function) in _IDS


def applied_call(function: Any, args: Args) -> Invocation | None:
    """Return the call of the jitted function among the arguments; None where that is no such one.

    Args:
        function: one of these.
        args: that it was called with.
    """
    applied, *values = args or (None,)
    if not callee.is_watched(applied):
        return None
    return applied, values[0] if function is jax.jvp else values, {}
