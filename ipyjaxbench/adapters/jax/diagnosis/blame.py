"""Which argument is responsible for a fault, where JAX's own words do not say."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.adapters.jax.diagnosis import provenance, return_types
from ipyjaxbench.adapters.jax.diagnosis.substitutes import values
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.arguments import is_leaf
from ipyjaxbench.adapters.jax.jit import is_jitted
from ipyjaxbench.usercode import Call, is_a, is_of, message_of, unwrap

#: JAX's words where a value comes from no argument, as where `jnp` computes with shapes.
_NO_ARGUMENT = "became a tracer due to"


def responsible(call: Call, failed: tracing.NoChoiceError) -> list[str]:
    """The arguments whose values are asked for.

    JAX names them for the function that it traces. Otherwise they are searched for; and where
    that finds none, as within `vmap`, those are told that the failing line depends on.
    """
    if isinstance(failed.error, return_types.NoDataError | RecursionError):
        return []
    if refused := _refused(call, failed.error):
        return refused
    found = [*failed.blamed] or _searched(call, failed)
    if found or _NO_ARGUMENT in message_of(failed.error):
        return found
    named: list[str] = getattr(failed.error, "asked", [])
    # What is assigned to a part of an array is no fault: the array is what stands first.
    return named[:1] if "item assignment" in message_of(failed.error) else named


def _refused(call: Call, error: Exception) -> list[str]:
    """Arguments in a failing expression that are no data, or larger than numbers of JAX are.

    Python asks for no values there: it refuses what stands beside an array.
    """
    if not isinstance(error, TypeError | OverflowError | AttributeError) or _is_of_jax(error):
        return []
    names = [n for place in origin.places(error)[:1] for n in provenance.names_in(place)]
    every = values(call)
    return [name for name in names if name in every and _is_no_number(every[name])]


def _is_of_jax(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in ("jax", "jaxlib")


def _is_no_number(value: Any) -> bool:
    if is_of(value, int):
        return not -(2**63) <= value < 2**63
    return not callable(value) and not any(map(is_leaf, trees.leaves(value)))


def _searched(call: Call, failed: tracing.NoChoiceError) -> list[str]:
    """The argument without which, as a fixed value, the call would not trace."""
    plain = unwrap(call.function)
    if plain is not call.function and is_jitted(call.function):
        call = replace(call, function=plain)  # jit would trace all again
        try:
            traced = tracing.trace(call)
            return [*traced.static, *traced.untraceable]
        except tracing.NoChoiceError:
            pass
    if any(is_of(leaf, jax.ShapeDtypeStruct) for leaf in trees.leaves(call.args)):
        return []
    needed = set(failed.static)
    try:
        for index, name in enumerate(call.labels):
            args = (*call.args[:index], _on_host(call.args[index]), *call.args[index + 1 :])
            if name not in needed and tracing.traces(replace(call, args=args), {name, *needed}):
                return [name]
        for name, value in call.kwargs.items():
            changed = replace(call, kwargs={**call.kwargs, name: _on_host(value)})
            if name not in needed and tracing.traces(changed, {name, *needed}):
                return [name]
    except Exception:  # noqa: BLE001  an argument that has no values cannot be tried
        return []
    return []


def _on_host(value: Any) -> Any:
    """While JAX traces, only NumPy computes with values; the code may change them in place."""
    data = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)
    return trees.map_leaves(lambda leaf: np.array(leaf) if is_a(leaf, *data) else leaf, value)
