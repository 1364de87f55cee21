"""Random keys that a program uses twice, without JAX's global switch for finding them."""

import importlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jax

from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.graphs import line_of

#: They make another key of one, and leave it to be used.
_LEAVE_IT = ("random_fold_in", "random_unwrap", "random_clone")


def reused(closed: Any) -> str | None:
    """Where a key is used twice.

    Args:
        closed: the program.

    Returns:
        The reason in words; None where none is, as far as is known.
    """
    told = _by_rules_of_jax(closed)
    if told is not None:
        return next(_typed(closed.jaxpr), told)
    return next(_raw(closed.jaxpr), None)


def _by_rules_of_jax(closed: Any) -> str | None:
    """JAX's own rules, where this version has them in the place that is known."""
    try:
        rules = importlib.import_module("jax.experimental.key_reuse._core")
        check, error = rules.check_key_reuse_jaxpr, rules.KeyReuseError
    except (ImportError, AttributeError):
        return None
    try:
        check(closed.jaxpr)
    except error as found:
        return str(found).splitlines()[0]
    except Exception:  # noqa: BLE001  a rule that this version lacks says nothing of the program
        return None
    return None


def _typed(jaxpr: Any) -> Iterator[str]:
    """Lines on which a key is used for the second time; keys of a type of their own are seen."""
    used: Counter[Any] = Counter()
    for equation in jaxpr.eqns:
        if equation.primitive.name in _LEAVE_IT:
            continue
        keys = [v for v in equation.invars if not hasattr(v, "val") and _is_key(v)]
        used.update(keys)
        if any(used[key] > 1 for key in keys) and (line := _line(equation)):
            yield line
    for equation in jaxpr.eqns:
        for inner in program.programs_in(equation):
            yield from _typed(inner)


def _is_key(variable: Any) -> bool:
    dtype = getattr(variable.aval, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def _line(equation: Any) -> str:
    place = program.place_of(equation.source_info)
    return f"line {place[1]}: {line_of(*place)}" if place[1] else ""


def _raw(jaxpr: Any) -> Iterator[str]:
    """Keys of `jax.random.PRNGKey` are plain numbers, which each use wraps anew."""
    wrapped = {e.outvars[0]: e.invars[0] for e in jaxpr.eqns if e.primitive.name == "random_wrap"}
    used: Counter[Any] = Counter()
    for equation in jaxpr.eqns:
        if equation.primitive.name in _LEAVE_IT:
            continue
        for variable in equation.invars:
            source = wrapped.get(variable) if not hasattr(variable, "val") else None
            if source is not None and not hasattr(source, "val"):
                used[source] += 1
                if used[source] == 2:
                    yield _line(equation) or "line not known"
    for equation in jaxpr.eqns:
        for inner in program.programs_in(equation):
            yield from _raw(inner)
