"""Which argument is responsible for a fault, where JAX's own words do not say."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.diagnosis import provenance, return_types
from ipyjaxbench.adapters.jax.diagnosis.pitfalls import pitfall_of
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.arguments import is_leaf
from ipyjaxbench.adapters.shared.diagnosis.arguments import replace_argument
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call, is_a, is_of, message_of, unwrap

#: JAX's words where a value comes from no argument, as where `jnp` computes with shapes.
_NO_ARGUMENT = "became a tracer due to"


def blamed_arguments(call: Call, failed: tracing.NoChoiceError) -> list[str]:
    """Return the arguments whose values are asked for.

    JAX names them for the function that it traces. Otherwise they are searched for; and where
    that finds none, as within `vmap`, they are those that the failing line depends on.
    """
    error = failed.error
    if isinstance(error, return_types.NoDataError | RecursionError):
        return []
    if refused := _refused(call, error):
        return refused
    names = [*failed.blamed] or _searched(call, failed)
    if names or _NO_ARGUMENT in message_of(error):
        return names
    if pitfall_of(error) is None:  # it asks for no value: whatever the line depends on is no fault
        return []
    names = getattr(error, "asked", [])
    # What is assigned to a part of an array is no fault: the array is what stands first.
    return names[:1] if "item assignment" in message_of(error) else names


def _refused(call: Call, error: BaseException) -> list[str]:
    """Return arguments in a failing expression that are no data, or larger than numbers of JAX are.

    Python asks for no values there: it refuses what stands beside an array.
    """
    is_of_jax = type(error).__module__.partition(".")[0] in ("jax", "jaxlib")
    if not isinstance(error, TypeError | OverflowError | AttributeError) or is_of_jax:
        return []
    names = [n for place in origin.places(error)[:1] for n in provenance.names_in(place)]
    values = dict(call.arguments)
    return [name for name in names if name in values and _is_no_number(values[name])]


def _is_no_number(value: Any) -> bool:
    if is_of(value, int):
        return not -(2**63) <= value < 2**63
    return not callable(value) and not any(map(is_leaf, trees.leaves(value)))


def _searched(call: Call, failed: tracing.NoChoiceError) -> list[str]:
    """Return the argument without which, as a fixed value, the call would not trace."""
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
        for name, value in call.arguments:
            changed = replace_argument(call, name, _to_numpy(value))
            if name not in needed and tracing.traces(changed, {name, *needed}):
                return [name]
    except CODE_ERRORS:  # an argument that has no values cannot be tried
        return []
    return []


def _to_numpy(value: Any) -> Any:
    """Make arrays NumPy's: while JAX traces, only NumPy computes with values."""
    data = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)
    return trees.map_leaves(lambda leaf: np.array(leaf) if is_a(leaf, *data) else leaf, value)
