"""What a function names: its globals and closed-over values, not attributes called the same."""

import dis
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Each global and closed-over value that a function and those written in it name.

    Args:
        function: a plain one.

    Returns:
        Names and what they stand for, in the order in which they appear.
    """
    for name in _globals_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the cell is empty
            continue


@cache
def _globals_in(code: CodeType) -> tuple[str, ...]:
    told = [each.argval for each in dis.get_instructions(code) if each.opname in _LOADS]
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(dict.fromkeys([*told, *(name for each in inner for name in _globals_in(each))]))
