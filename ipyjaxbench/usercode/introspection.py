"""What a callable is made of, and what a function names."""

import dis
import functools
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

from ipyjaxbench.usercode.code_objects import closure_values

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def named_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Each global and closed-over value that a function and those written in it name.

    Attributes called the same are none.

    Args:
        function: a plain one.

    Returns:
        Names and what they stand for, in the order in which they appear.
    """
    for name in _globals_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    yield from closure_values(function)


@cache
def _globals_in(code: CodeType) -> tuple[str, ...]:
    told = [each.argval for each in dis.get_instructions(code) if each.opname in _LOADS]
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(dict.fromkeys([*told, *(name for each in inner for name in _globals_in(each))]))


@functools.lru_cache(maxsize=4096)
def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the names that a function and those written in it use, attributes among them."""
    inner = [name for each in code.co_consts if type(each) is CodeType for name in names_in(each)]
    return tuple(dict.fromkeys([*code.co_names, *inner]))


def parts_of_callable(value: Any) -> tuple[Any, ...] | None:
    """Return what something that is called, other than a plain function, is made of.

    Args:
        value: anything; no code of it is run.

    Returns:
        None for what is no such thing.
    """
    kind = type(value)
    if kind is MethodType:
        return value.__self__, value.__func__
    if kind is BuiltinFunctionType:
        return (value.__self__,)
    if issubclass(kind, functools.partial):
        return value.func, value.args, value.keywords
    if issubclass(kind, staticmethod | classmethod):
        return (value.__func__,)
    if issubclass(kind, property):
        return value.fget, value.fset, value.fdel
    if issubclass(kind, functools.cached_property):
        return (value.func,)
    return (value.__wrapped__,) if issubclass(kind, functools._lru_cache_wrapper) else None
