"""Which jitted functions JAX has traced, and for how many signatures: what looking at one adds."""

from collections import Counter
from typing import Any

from jax._src.interpreters import partial_eval


def count_traces() -> Counter[str] | None:
    """Count the traces that JAX keeps of each jitted function; None where it does not show them.

    JAX reports no event for a function that is traced within another one. Its cache is private.

    Returns:
        The counts, by what a function's program has as ``debug_info.func_src_info``.
    """
    cache: Any = getattr(partial_eval, "trace_to_jaxpr", None)
    keys = getattr(cache, "cache_keys", None)
    if keys is None:  # before 0.10
        return None
    try:
        return Counter(arguments[1].func_src_info for _, _, arguments, *_ in keys())
    except (AttributeError, IndexError, TypeError, ValueError):  # another version keys them anew
        return None
