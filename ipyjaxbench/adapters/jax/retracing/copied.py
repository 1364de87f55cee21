"""What `copy.copy` makes of a jitted function: it has its programs, and none of its attributes."""

import copy
import inspect
from typing import Any

import jax

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Invocation, Kwargs
from ipyjaxbench.usercode import closure_values

#: The class of what `jax.jit` gives.
JIT_CLASS = type(jax.jit(len))


def of_original(function: Any, args: Args, kwargs: Kwargs) -> Invocation:
    """Return a call as it is; of a copy, that of a function with the attributes of the original.

    What was jitted stands in the copy's state (private), and the user's copy stays as it is.
    """
    if type(function) is not JIT_CLASS or "__wrapped__" in vars(function):
        return function, args, kwargs
    try:
        state = function.__getstate__()
        held = dict(closure_values(inspect.unwrap(state["cache_miss"])))
        whole = copy.copy(function)
        vars(whole).update(__wrapped__=state["fun"], _jit_info=held.get("jit_info"))
    except CODE_ERRORS:  # another version
        return function, args, kwargs
    return whole, args, kwargs
