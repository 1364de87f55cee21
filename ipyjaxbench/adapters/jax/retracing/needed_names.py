"""Which of the names that changed a program depends on: it is traced with one put back at a time.

The names of the session stay as they are: a copy of the function reads the older values.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

import jax

from ipyjaxbench.adapters.jax.retracing import programs
from ipyjaxbench.adapters.shared.copied_functions import copy_with, is_beside
from ipyjaxbench.usercode import chains, is_of, is_users_function, unwrap

_MOST_TRIED = 8  # names


class CopiedCall:
    """A call of a function whose copies can be traced while names stand for other values.

    Args:
        function: what was jitted.
        plain: the user's function in it.
        args: shapes in place of arrays.
        kwargs: likewise.
        static: positions and names of arguments that are static.
        reached: the paths of functions and classes that it reads.
    """

    def __init__(
        self,
        function: Any,
        plain: FunctionType,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        static: Collection[int | str],
        reached: Collection[str],
    ) -> None:
        self._function, self._plain = function, plain
        self._args, self._kwargs = args, kwargs
        self._positions = [each for each in static if isinstance(each, int)]
        self._names = [each for each in static if isinstance(each, str)]
        beside: list[Any] = [plain.__globals__.get(each) for each in reached]
        copied = [plain, *(each for each in beside if is_beside(plain, each))]
        read = chain.from_iterable(chains(each.__code__) for each in copied)
        self._own = {each.name for each in read if each.scope == "global"}
        self._is_whole = function is plain and all(_is_copied(plain, each) for each in beside)

    def needed(self, before: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the names whose older values may give another program than today's.

        None if not known, as where code may read them that cannot be copied.

        Args:
            before: what names around it stood for.
        """
        tried = self._tried(before)
        return None if tried is None else tuple(self._needed(before, tried))

    def _needed(self, before: Mapping[str, Any], tried: Mapping[str, Any]) -> Iterator[str]:
        yield from (name for name in before if name not in tried)
        today = self._program({})
        if programs.is_too_large(today, len(tried) + 2):
            yield from tried
            return
        for name, value in tried.items():
            if programs.is_same(today, self._program({name: value})) is not True:
                yield name
        if len(tried) > 1 and programs.is_same(today, self._program(tried)) is not True:
            yield ""  # all of them at once

    def gives(self, program: Any, before: Mapping[str, Any]) -> bool | None:
        """Whether the older values of names, all of them, give a program; None if not known."""
        if programs.is_too_large(program, 2):
            return None
        return programs.is_same(program, self._program(before))

    def not_data(self, numbers: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the names that the code cannot do with traced, as for an `if` or a shape.

        None if not known.

        Args:
            numbers: what names around it stand for.
        """
        tried = self._tried(numbers)
        if tried is None or tried.keys() != numbers.keys():
            return None
        takes = {name: self._takes(name, value) for name, value in tried.items()}
        if None in takes.values():
            return None
        return tuple(name for name, is_taken in takes.items() if not is_taken)

    def _takes(self, name: str, value: Any) -> bool | None:
        def with_name(function: FunctionType, value: Any, *args: Any, **kwargs: Any) -> Any:
            return copy_with(function, {name: value})(*args, **kwargs)

        static = [0, *(each + 2 for each in self._positions)]
        jitted = jax.jit(with_name, static_argnums=static, static_argnames=self._names)
        fixed: list[int | str] = [*static, *self._names]
        # What the function changes is put back because it is an argument.
        given = (self._function, value, *self._args)
        try:
            new = programs.program_now(jitted, given, self._kwargs, fixed)
        except (TypeError, IndexError):  # as JAX's errors of this kind are
            return False
        return None if new is None else True

    def _tried(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        tried = {name: value for name, value in values.items() if name in self._own}
        return tried if self._is_whole and len(tried) <= _MOST_TRIED else None

    def _program(self, values: Mapping[str, Any]) -> Any:
        copied = copy_with(self._function, values, self._plain)
        jitted = jax.jit(copied, static_argnums=self._positions, static_argnames=self._names)
        static: list[int | str] = [*self._positions, *self._names]
        return programs.program_now(jitted, self._args, self._kwargs, static)


def _is_copied(function: FunctionType, value: Any) -> bool:
    """Whether the copy of a function finds a copy of another one, or one that is not the user's."""
    if value is None or is_of(value, type):
        return False
    return is_beside(function, value) or not is_users_function(unwrap(value))
