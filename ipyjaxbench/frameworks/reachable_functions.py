"""Finds the functions that code can reach. Looks, never calls."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.usercode import (
    ask,
    attribute,
    attributes,
    class_dict,
    closure_values,
    is_exactly,
    is_users_class,
    is_users_function,
    items_of,
    module_of,
    mro_of,
    names_in,
    package_of,
    unwrap,
)

_MAX_REACHED = 1000  # values at each step, and items of a container
#: Of the session: a shell leads to all names of the user's, whatever leads to it.
_SHELLS = frozenset(("IPython", "ipykernel"))
_NOT_ENTERED = (type, ModuleType, FunctionType, BuiltinFunctionType)


class Reach(NamedTuple):
    """What code can reach."""

    functions: list[object]  # callables and modules, each once
    #: what the user's own functions use besides: their globals and closures, by name.
    values: dict[str, object]


def find_reach(values: Iterable[object], frameworks: Sequence[Framework], depth: int = 6) -> Reach:
    """Follow the user's functions, and objects that hold some, to all that they can use.

    Args:
        values: what the names in the code stand for.
        frameworks: their own functions are not followed: what those use is not the user's choice.
        depth: how many steps to follow.
    """
    theirs = _SHELLS | {framework.module for framework in frameworks} - {"builtins"}
    functions: dict[int, object] = {}
    used: dict[str, object] = {}
    seen: set[int] = set()
    wrapped: dict[str, list[object]] = {}  # methods that were jitted, by their names
    named_in_code: set[str] = set()
    level = list(values)
    for _ in range(depth):
        following: list[object] = []
        for value in level[:_MAX_REACHED]:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if callable(value) or issubclass(type(value), ModuleType):
                functions[id(value)] = value
            if package_of(value) not in theirs:
                named = _used_by(value)
                used |= named if is_users_function(value) else {}
                following += [*named.values(), *_held_by(value)]
                named_in_code.update(_names_in(value))
                for name, method in _wrapped_methods(value):
                    wrapped.setdefault(name, []).append(method)
        used_methods = (wrapped.pop(name) for name in named_in_code & wrapped.keys())
        level = [*following, *chain.from_iterable(used_methods)]
    plain = {n: value for n, value in used.items() if not issubclass(type(value), _NOT_ENTERED)}
    return Reach(list(functions.values()), plain)


def _used_by(value: Any) -> dict[str, object]:
    """Return globals and closed-over values of a plain function, by name."""
    if type(value) is not FunctionType:
        return {}
    used = {n: value.__globals__[n] for n in _names_in(value) if n in value.__globals__}
    return {**used, **dict(closure_values(value))}


def _names_in(value: Any) -> Iterable[str]:
    return names_in(value.__code__) if type(value) is FunctionType else ()


def _wrapped_methods(value: Any) -> Iterator[tuple[str, object]]:
    """Yield methods of a user's object that are no plain functions, as those that are jitted."""
    for each in mro_of(type(value)):
        if is_users_class(each):
            for name, method in class_dict(each).items():
                if not issubclass(type(method), _NOT_ENTERED) and callable(method):
                    yield name, method


def _held_by(value: Any) -> list[object]:
    """Return what may be or hold a function: of methods, partials, containers, plain objects."""
    kind = type(value)
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if issubclass(kind, partial):
        return [value.func]
    if is_exactly(value, dict, list, tuple):
        return list(items_of(value, 0))[:_MAX_REACHED]
    if issubclass(kind, _NOT_ENTERED) or module_of(kind) == "builtins":
        return []
    methods = [f for f in class_dict(kind).values() if type(f) is FunctionType]
    return [*attributes(value).values(), *methods]


def find_eager_functions(
    values: Iterable[object],
    frameworks: Sequence[Framework],
    compilers: Sequence[Callable[[object], bool]],
) -> Iterator[object]:
    """Yield the user's functions that values lead to, but those that a framework compiles.

    Args:
        values: what the names in the code stand for.
        frameworks: the adapters in play.
        compilers: say of a value whether a framework reads its code to compile it.
    """
    reach = find_reach(values, frameworks).functions
    compiled = [f for f in reach if any(ask(compiles, f) for compiles in compilers)]
    inside = {*map(id, find_reach(map(_original, compiled), frameworks).functions)}
    yield from (f for f in reach if is_users_function(f) and id(f) not in inside)


def _original(function: Any) -> object:
    inner = attribute(function, "_torchdynamo_orig_callable")
    return unwrap(function) if inner is None else inner
