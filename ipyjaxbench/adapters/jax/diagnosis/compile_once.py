"""What to write so that a number need not be static: one program then serves all its values."""

from collections.abc import Sequence
from itertools import islice

from ipyjaxbench.adapters.jax.diagnosis.fixes import Fixes
from ipyjaxbench.adapters.jax.diagnosis.rules import masks, sizes
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.graphs import Fix
from ipyjaxbench.usercode import Call

_RULES = (
    (masks.where_in_reduction_of_first,),
    (masks.slice_of_fixed_size,),
    (sizes.reshape_to_known_axes,),
)


def compile_once(call: Call, static: Sequence[str]) -> tuple[Fix, ...]:
    """Return the fix with which most numbers of a call need not be static; empty if there is none.

    Args:
        call: it traces where these arguments are static.
        static: arguments on whose values its program depends.
    """
    numbers = [name for name, value in call.arguments if name in static and type(value) is int]
    for traced in dict.fromkeys((tuple(numbers), *((number,) for number in numbers))):
        needed = [name for name in static if name not in traced]
        error = tracing.error_of(call, needed) if traced else None
        if error is not None and (found := fix_without_value(call, needed, error)):
            return found
    return ()


def fix_without_value(call: Call, static: Sequence[str], error: BaseException) -> tuple[Fix, ...]:
    """Return the fix for an error that asked for a number's value; empty if there is none."""
    rules = (*_RULES, (sizes.sizes_of_arguments(call),))
    return tuple(islice(Fixes(call, static, error, rules).find(), 1))
