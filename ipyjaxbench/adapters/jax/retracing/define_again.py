"""What to type so that JAX traces a function anew."""

import functools
import itertools
import linecache
import re
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import jax

from ipyjaxbench.adapters.jax.retracing import callee, ufuncs
from ipyjaxbench.adapters.jax.retracing.user_call import KERAS_STEPS
from ipyjaxbench.adapters.shared.define_again import define_again
from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.usercode import (
    assignment_of,
    attribute,
    how_to_define,
    is_of_module,
    is_users_function,
    names_in,
    reads_itself,
)

#: What keeps the trace of a function that it is given.
_KEEPING = (
    "scan", "while_loop", "fori_loop", "cond", "switch", "checkpoint", "remat", "reduce",
    "reduce_window", "piecewise", "closure_convert", "odeint",
)  # fmt: skip
#: Likewise, as in ``x.at[0].apply(function)``; other things have an ``apply``, too.
_KEEPING_TOGETHER = frozenset(("at", "apply"))
#: What JAX makes anew in each call; what `jax.checkpoint` and `jax.jit` trace is kept by function.
_ANEW = {"grad", "value_and_grad", "vmap", "jacfwd", "jacrev", "hessian"}

_DEFINES = re.compile(r"\s*(async\s+)?def\s")


def how_to_define_again(function: Any, quote: str = "") -> str:
    """Return what to do for a jitted function of the same code that has no trace yet.

    Args:
        function: as it is called.
        quote: to put around names.
    """
    jitted = callee.jitted_in(function)
    _, (*owner, _), _ = callee.unbound(function, (None,))
    applied = ufuncs.function_of(owner[0]) if owner else None
    if applied is not None:
        again = how_to_define(applied, f"{quote}{callee.display_name(applied)}{quote}")
        return f"{again}, then make the ufunc of it anew"
    if getattr(callee.plain_of(function), "__module__", "") == KERAS_STEPS:  # its model holds it
        return f"call {quote}compile(){quote} on the model again"
    return _define_again(function, jitted, quote)


def _define_again(function: Any, jitted: Any, quote: str) -> str:
    if is_frozen(function):
        made = assignment_of(jitted)
        # What was lowered before, as in ``c = lowered.compile()``, holds the values of then.
        is_whole = ".lower(" in made or ".compile(" not in made
        typed = f"run {quote}{made}{quote}" if made and is_whole else "lower and compile it anew"
        return f"run the cell that defines its function again, then {typed}"
    inner = attribute(jitted, "__wrapped__") or jitted
    plain = callee.plain_of(function)
    name = f"{quote}{callee.display_name(plain)}{quote}"
    is_module = is_of_module(plain)  # to reload it would set back what was changed in it
    if keeps_parts(plain) or (is_module and getattr(jitted, "clear_cache", None) is None):
        return f"call {quote}jax.clear_caches(){quote}"  # of Equinox, too, which has no other
    if (anew := _made_anew(inner, plain)) and not reads_itself(assignment_of(jitted)):
        return _make_anew(jitted, anew, name, quote)
    if type(plain) is not FunctionType:  # an object that is called
        return f"call {quote}jax.jit{quote} on a new {name}"
    if is_module:
        return f"call {quote}clear_cache(){quote} on the jitted {name}"
    again = define_again(plain, jitted, name, "jax.jit", quote)
    if inner is not plain and callee.unbound(inner)[0] is plain:  # a method of an object
        return f"{again} and {quote}jax.jit{quote} its method again"
    if isinstance(function, functools.partial):
        return f"{again}, then make the partial of it anew"
    return again


def is_frozen(function: Any) -> bool:
    """Whether it is what ``f.lower(x).compile()`` gave, also within partials."""
    return isinstance(callee.jitted_in(function), jax.stages.Compiled)


def keeps_parts(plain: Any) -> bool:
    """Whether JAX may find a part of it again: it keeps the trace of what loops and the like run.

    A function that is made within it is another one each time.
    """
    reached = [
        each for each in find_reach([plain], loaded()[0]).functions if is_users_function(each)
    ]
    names = {name for each in reached for name in names_in(each.__code__)}
    others = [each for each in reached if each is not plain and "<locals>" not in each.__qualname__]
    keeps = not names.isdisjoint(_KEEPING) or names >= _KEEPING_TOGETHER
    return bool(others) and keeps


def _made_anew(inner: Any, plain: Any) -> list[str]:
    """Return what gives another function each time, of which JAX keeps no trace; else nothing.

    Args:
        inner: what was jitted.
        plain: the user's function in it.
    """
    if isinstance(inner, functools.partial):
        return ["partial"]
    names = [*callee.transformations(inner)]
    for _ in names:
        inner = inner.__wrapped__
    return names if inner is plain and _ANEW.issuperset(names) else []


def _make_anew(jitted: Any, anew: Sequence[str], name: str, quote: str) -> str:
    made = assignment_of(jitted)
    if all(f"{each}(" in made for each in anew):
        return f"run {quote}{made}{quote} again"
    words = (each if each == "partial" else f"{quote}jax.{each}{quote}" for each in anew)
    return f"call {quote}jax.jit{quote} on a new {' of '.join(words)} of {name}"


def typed_as(function: Any) -> str:
    """Return how the user says which arguments are static; "" where that is not known.

    JAX works out the other way itself.
    """
    plain = callee.plain_of(function)
    text = assignment_of(callee.jitted_in(function))
    if type(plain) is FunctionType:
        code = plain.__code__
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        decorators = itertools.takewhile(lambda line: not _DEFINES.match(line), lines)
        text += "".join(decorators)
    typed = [f"`{each}`" for each in ("static_argnums", "static_argnames") if each in text]
    return typed[0] if len(typed) == 1 else ""
