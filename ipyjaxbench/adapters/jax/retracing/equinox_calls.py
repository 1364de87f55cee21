"""What Equinox makes of a call before JAX is given it (private; asked of itself)."""

import sys
from typing import Any

from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Kwargs
from ipyjaxbench.usercode import module_of

_JIT = "equinox._jit"


def as_kept(called: Called) -> Called:
    """Return a call as its trace is found: by position, all that can be."""
    function, args, kwargs, *_ = called
    if module_of(type(function)) != _JIT:
        return called
    try:
        bound = function._signature.bind(*args, **kwargs)
    except CODE_ERRORS:  # arguments that do not fit, or another version
        return called
    return called._replace(args=bound.args, kwargs=bound.kwargs)


def within_equinox(function: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Args, Kwargs]:
    """Return what a function that Equinox jitted calls (private): the same where it is another."""
    if module_of(type(function)) != _JIT:
        return function, args, kwargs
    names = ("_signature", "_dynamic_fun", "_static_fun", "donate_first", "donate_rest")
    try:
        parts = tuple(getattr(function, name) for name in names)
        prepare = sys.modules[_JIT]._preprocess
        return function._cached, prepare(parts, args, kwargs, return_static=True), {}
    except CODE_ERRORS:  # arguments that do not fit, or another version
        return function, args, kwargs
