"""Copies of the user's functions, for which names of the session have other values."""

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ipyjaxbench.usercode import is_users_function


def is_beside(function: FunctionType, value: Any) -> bool:
    """Whether it is a function of the user's that reads the same names."""
    return is_users_function(value) and value.__globals__ is function.__globals__


def copy_with(function: FunctionType, values: Mapping[str, Any]) -> FunctionType:
    """Return a function, and those that it finds by name, for which names have other values."""
    around = dict(function.__globals__)
    for name, value in function.__globals__.items():
        if is_beside(function, value):
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
