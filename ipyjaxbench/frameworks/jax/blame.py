"""Which argument is responsible for a fault, where JAX's own words do not say."""

import inspect
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.jax import results, tracing

#: JAX's words where a value comes from no argument, as where `jnp` computes with shapes.
_NO_ARGUMENT = "became a tracer due to"


def responsible(call: Call, failed: tracing.NoChoiceError) -> list[str]:
    """The arguments whose values are asked for.

    JAX names them for the function that it traces. Otherwise they are searched for; and where
    that finds none, as within `vmap`, those are told that the failing line depends on.
    """
    if isinstance(failed.error, results.NoDataError):
        return []
    found = [*failed.blamed] or _searched(call, failed)
    if found or _NO_ARGUMENT in str(failed.error):
        return found
    named: list[str] = getattr(failed.error, "asked", [])
    # What is assigned to a part of an array is no fault: the array is what stands first.
    return named[:1] if "item assignment" in str(failed.error) else named


def _searched(call: Call, failed: tracing.NoChoiceError) -> list[str]:
    """The argument without which, as a fixed value, the call would not trace."""
    plain = inspect.unwrap(call.function)
    if plain is not call.function and isinstance(call.function, jax.stages.Wrapped):
        call = replace(call, function=plain)  # jit would trace all again
        try:
            traced = tracing.trace(call)
            return [*traced.static, *traced.untraceable]
        except tracing.NoChoiceError:
            pass
    if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(call.args)):
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
    data = jax.Array | np.ndarray | np.generic | bool | int | float | complex
    return jax.tree.map(lambda leaf: np.array(leaf) if isinstance(leaf, data) else leaf, value)
