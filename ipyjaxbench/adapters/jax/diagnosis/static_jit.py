"""A jitted function with static arguments, as the user's code would write it."""

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.names import Spelling


def static_jit(function: Any, names: Sequence[str]) -> str:
    """A function jitted with static arguments, as its code would write it.

    Args:
        function: the plain function.
        names: of the arguments.

    Returns:
        A call of `jax.jit`; a decorator where the function's name is that of what decorators
        made of it.
    """
    static = names[0] if len(names) == 1 else tuple(names)
    plain = function if isinstance(function, FunctionType) else None
    jit, name = Spelling(plain).of("jax.jit"), getattr(function, "__name__", "f")
    named = plain.__globals__.get(name) if plain is not None else None
    if plain is None or (
        getattr(named, "__code__", plain.__code__) is plain.__code__
        and (named is None or isinstance(named, FunctionType))
    ):
        return f"{jit}({name}, static_argnames={static!r})"
    return f"@partial({jit}, static_argnames={static!r})"
