"""Which of the names that changed a program depends on: it is traced with one put back at a time.

The names of the session stay as they are: a copy of the function reads the older values.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import jax

from ipyjaxbench.adapters.jax.retracing import programs
from ipyjaxbench.usercode import chains, is_of, is_users_function, unwrap

_MOST_TRIED = 8  # names


def needed_names(
    function: FunctionType,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    static: Collection[int | str],
    before: Mapping[str, Any],
    reached: Collection[str],
) -> tuple[str, ...] | None:
    """Return the names whose older values may give another program than today's.

    None if not known, as where code may read them that cannot be copied.

    Args:
        function: the plain one that was jitted.
        args: shapes in place of arrays.
        kwargs: likewise.
        static: positions and names of arguments that are static.
        before: what names around it stood for.
        reached: the paths of functions and classes that it reads.
    """
    own = {each.name for each in chains(function.__code__) if each.scope == "global"}
    tried = {name: value for name, value in before.items() if name in own}
    if len(tried) > _MOST_TRIED or not all(_is_copied(function, each) for each in reached):
        return None
    numbers = [each for each in static if isinstance(each, int)]
    names = [each for each in static if isinstance(each, str)]

    def program(values: Mapping[str, Any]) -> Any:
        copied = copy_with(function, values)
        jitted = jax.jit(copied, static_argnums=numbers, static_argnames=names)
        return programs.program_now(jitted, args, kwargs, static)

    def needed() -> Iterator[str]:
        yield from (name for name in before if name not in tried)
        today = program({})
        if programs.is_too_large(today, len(tried) + 2):
            yield from tried
            return
        for name, value in tried.items():
            if programs.is_same(today, program({name: value})) is not True:
                yield name
        if len(tried) > 1 and programs.is_same(today, program(tried)) is not True:
            yield ""  # all of them at once

    return tuple(needed())


def _is_copied(function: FunctionType, path: str) -> bool:
    """Whether the copy of a function finds a copy of another one, or one that is not the user's."""
    value = function.__globals__.get(path)
    if value is None or is_of(value, type):
        return False
    return _is_beside(function, value) or not is_users_function(unwrap(value))


def _is_beside(function: FunctionType, value: Any) -> bool:
    return is_users_function(value) and value.__globals__ is function.__globals__


def copy_with(function: FunctionType, values: Mapping[str, Any]) -> FunctionType:
    """Return a function, and those that it finds by name, for which names have other values."""
    around = dict(function.__globals__)
    for name, value in function.__globals__.items():
        if _is_beside(function, value):
            around[name] = _copy(value, around)
    around |= values
    return _copy(function, around)


def _copy(function: FunctionType, around: dict[str, Any]) -> FunctionType:
    copied = FunctionType(
        function.__code__, around, function.__name__, function.__defaults__, function.__closure__
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__dict__.update(function.__dict__)
    return copied
