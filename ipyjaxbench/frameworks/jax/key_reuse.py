"""Random keys that a program uses twice, without JAX's global switch for finding them."""

import importlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks.jax import program
from ipyjaxbench.graph_parts import line_of

#: They make another key of one, and leave it to be used.
_LEAVE_IT = ("random_fold_in", "random_unwrap", "random_clone")


def reused(closed: Any) -> str | None:
    """Where a key is used twice.

    Args:
        closed: the program.

    Returns:
        The reason in words; None where none is, as far as is known.
    """
    return _by_rules_of_jax(closed) or next(_raw(closed.jaxpr), None)


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
                    place = program.place_of(equation.source_info)
                    yield f"line {place[1]}: {line_of(*place)}" if place[1] else "line not known"
    for equation in jaxpr.eqns:
        for inner in program.programs_in(equation):
            yield from _raw(inner)
