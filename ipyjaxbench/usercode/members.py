"""What is in functions, classes, objects and containers, found without running code of theirs."""

from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.objects import (
    attribute,
    attributes,
    is_exactly,
    is_of,
    slots,
    unwrap,
)
from ipyjaxbench.usercode.origin import is_users_class, is_users_module, names_of_module

#: Stands for what is not there.
MISSING = object()


def class_values(kind: type, names: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield what a user's class, and those of theirs that it extends, define and may be read."""
    is_called_by_library = any(not is_users_class(each) for each in mro_of(kind)[:-1])
    for each in mro_of(kind):
        for name, value in class_dict(each).items() if is_users_class(each) else ():
            is_special = name.startswith("__") and function_in(value) is not None
            if is_special or name in names or (is_called_by_library and name[:1] != "_"):
                yield name, value


def function_in(value: Any) -> Any:
    """Return the plain function in what decorators, `jax.jit` and descriptors put around it."""
    if is_of(value, staticmethod, classmethod):
        value = value.__func__
    elif is_of(value, property):
        value = value.fget
    if type(value) is FunctionType or attribute(value, "__wrapped__", MISSING) is not MISSING:
        value = unwrap(value)
    return value if type(value) is FunctionType else None


def defaults_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the defaults of parameters, which calls mostly leave as they are."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    yield from zip(names[len(names) - len(values) :], values, strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def first_parameter(function: FunctionType) -> list[str]:
    """Return the name of a method's first parameter."""
    return [*function.__code__.co_varnames[: min(function.__code__.co_argcount, 1)]]


def call_of(value: Any) -> Any:
    """Return what calls an object of a user's class, as the method that it is; else None."""
    kind = type(value)
    if is_exactly(value, FunctionType, MethodType, BuiltinFunctionType, type):
        return None
    call = attribute(kind, "__call__")
    return MethodType(call, value) if callable(call) and is_users_class(kind) else None


def is_method(owner: Any, name: str, value: Any) -> bool:
    """Whether an attribute is a function that the class of an object defines."""
    if type(value) is not FunctionType or is_of(owner, ModuleType, type, tuple):
        return False
    return name not in attributes(owner) and name not in slots(owner)


def attribute_of(owner: Any, name: str) -> Any:
    """Return an attribute without running code."""
    if is_of(owner, ModuleType):
        return names_of_module(owner).get(name, MISSING) if is_users_module(owner) else MISSING
    found = {**attributes(owner), **slots(owner)}
    if name in found:
        return found[name]
    fields = attribute(type(owner), "_fields") if is_of(owner, tuple) else ()
    if is_exactly(fields, tuple) and name in fields:
        return tuple.__getitem__(owner, fields.index(name))
    return attribute(owner, name, MISSING)


def item_of(owner: Any, key: Any) -> Any:
    """Return an item of one of Python's own containers: others would run code."""
    return owner[key] if is_exactly(owner, dict, list, tuple) else MISSING
