"""Random keys that a program uses twice, without JAX's global switch for finding them."""

import importlib
from collections.abc import Iterator
from typing import Any

import jax

from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.graphs import line_of

#: They make another key of one, and leave it to be used.
_LEAVE_IT = ("random_fold_in", "random_unwrap", "random_clone")


def find_reuse(closed: Any) -> str | None:
    """Return where a key is used twice, in words; None where none is, as far as is known."""
    reason = _reason_of_jax(closed)
    if reason is not None:
        return next(filter(None, _reuses(closed.jaxpr, typed=True)), reason)
    line = next(_reuses(closed.jaxpr, typed=False), None)
    return None if line is None else line or "line unknown"


def _reason_of_jax(closed: Any) -> str | None:
    """Return what JAX's own rules say, where this version has them in the place that is known."""
    try:
        rules = importlib.import_module("jax.experimental.key_reuse._core")
        check, error = rules.check_key_reuse_jaxpr, rules.KeyReuseError
    except (ImportError, AttributeError):
        return None
    try:
        check(closed.jaxpr)
    except error as reuse:
        return str(reuse).splitlines()[0]
    except Exception:  # noqa: BLE001  a rule that this version lacks says nothing of the program
        return None
    return None


def _reuses(jaxpr: Any, *, typed: bool) -> Iterator[str]:
    """Yield the line of each use of a key that was used before; empty where it is not known.

    Keys have a type of their own, or are plain numbers of `jax.random.PRNGKey`, which each use
    wraps anew.
    """
    wrapped = {e.outvars[0]: e.invars[0] for e in jaxpr.eqns if e.primitive.name == "random_wrap"}
    used: set[Any] = set()
    for equation in jaxpr.eqns:
        is_use = equation.primitive.name not in _LEAVE_IT
        inputs = program.variables(equation.invars) if is_use else []
        keys = [wrapped[v] for v in inputs if v in wrapped]
        for key in filter(_is_key, inputs) if typed else program.variables(keys):
            if key in used:
                yield _line(equation)
            used.add(key)
    for equation in jaxpr.eqns:
        for inner in program.programs_in(equation):
            yield from _reuses(inner, typed=typed)


def _is_key(variable: Any) -> bool:
    dtype = getattr(variable.aval, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def _line(equation: Any) -> str:
    place = program.place_of(equation.source_info)
    return f"line {place[1]}: {line_of(*place)}" if place[1] else ""
