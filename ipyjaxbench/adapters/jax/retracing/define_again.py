"""What to type so that JAX traces a function anew."""

import functools
import linecache
from types import FunctionType
from typing import Any

from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.shared.define_again import define_again
from ipyjaxbench.usercode import attribute, is_of_module


def how_to_define_again(function: Any, quote: str = "") -> str:
    """Return what to do for a jitted function of the same code that has no trace yet.

    Args:
        function: as it is called.
        quote: to put around names.
    """
    jitted = callee.jitted_in(function)
    inner = attribute(jitted, "__wrapped__") or jitted
    plain = callee.plain_of(function)
    name = f"{quote}{callee.display_name(plain)}{quote}"
    if isinstance(inner, functools.partial):
        return f"call {quote}jax.jit{quote} on a new partial of {name}"
    if type(plain) is not FunctionType:  # an object that is called
        return f"call {quote}jax.jit{quote} on a new {name}"
    if is_of_module(plain):  # to reload it would set back what was changed in it
        return f"call {quote}clear_cache(){quote} on the jitted {name}"
    again = define_again(plain, name, "jax.jit", quote)
    if inner is not plain and callee.unbound(inner)[0] is plain:  # a method of an object
        return f"{again} and {quote}jax.jit{quote} its method again"
    if isinstance(function, functools.partial):
        return f"{again}, then make the partial of it anew"
    return again


def typed_as(function: Any) -> str:
    """Return how the user says which arguments are static; "" where that is not known.

    JAX works out the other way itself.
    """
    code = getattr(callee.plain_of(function), "__code__", None)
    text = "".join(linecache.getlines(code.co_filename)) if code is not None else ""
    typed = [f"`{each}`" for each in ("static_argnums", "static_argnames") if each in text]
    return typed[0] if len(typed) == 1 else ""
