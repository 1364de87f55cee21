"""What is in functions, classes, objects and containers, found without running code of theirs."""

import ast
import functools
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.usercode.classes import class_dict, class_name, mro_of
from ipyjaxbench.usercode.objects import (
    attribute,
    attributes,
    is_exactly,
    is_of,
    items_of,
    look_up,
    slots,
    unwrap,
)
from ipyjaxbench.usercode.origin import (
    is_users_class,
    is_users_function,
    is_users_module,
    names_of_module,
)

_MOST_WRAPPERS = 100
#: Stands for what is not there.
MISSING: Any = object()


#: Finds something in an object, by the ends of its path.
Find = Callable[[Any], Iterable[tuple[str, Any]]]


def own_attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an object itself, those in slots among them."""
    return {**attributes(value), **slots(value)}


def part_of(owner: Any, key: Any, *, item: bool) -> Any:
    """Return an attribute without running code, or an item of one of Python's own containers.

    Of modules these are the user's alone; `MISSING` for what is not there, or would run code.
    """
    if item:
        return owner[key] if is_exactly(owner, dict, list, tuple) else MISSING
    if is_of(owner, ModuleType):
        return names_of_module(owner).get(key, MISSING) if is_users_module(owner) else MISSING
    found = own_attributes(owner)
    if key in found:
        return found[key]
    fields = attribute(type(owner), "_fields") if is_of(owner, tuple) else ()
    if is_exactly(fields, tuple) and key in fields:
        return tuple.__getitem__(owner, fields.index(key))
    return attribute(owner, key, MISSING)


def is_of_class(owner: Any, name: str) -> bool:
    """Whether an attribute is what the class of an object makes of it, as a method is."""
    return not is_of(owner, ModuleType, type, tuple) and name not in own_attributes(owner)


def is_descriptor(value: Any) -> bool:
    """Whether what stands in a class is bound to an object that is asked for it, as a method is."""
    return any("__get__" in class_dict(each) for each in mro_of(type(value)))


def is_data_descriptor(value: Any) -> bool:
    """Whether what stands in a class comes before an attribute of the object, as a property."""
    return any("__set__" in class_dict(each) for each in mro_of(type(value)))


def look_up_called(node: ast.expr, values: Mapping[str, object]) -> Any:
    """Return what a name or a dotted name calls, a method with its object; None for others."""
    found: Any = look_up(node, values)
    if not isinstance(node, ast.Attribute):
        return found
    owner = look_up(node.value, values)
    if is_of(found, staticmethod):
        return found.__func__
    if owner is None or not is_of_class(owner, node.attr) or not is_descriptor(found):
        return found
    if is_of(found, classmethod):
        return MethodType(found.__func__, type(owner))
    return MethodType(found, owner) if callable(found) else None


def contents_of(value: Any) -> tuple[int, Iterator[tuple[str, Any]]]:
    """Return how many items one of Python's containers has, and these, by the ends of paths."""
    if is_of(value, dict):
        items = enumerate(dict.items(value))
        return dict.__len__(value), ((_end(key, n), each) for n, (key, each) in items)
    base: Any = next(each for each in (list, tuple, deque) if is_of(value, each))
    return base.__len__(value), ((f"[{n}]", each) for n, each in enumerate(items_of(value, 0)))


def parts_of_partial(value: "functools.partial[Any]") -> tuple[int, Iterator[tuple[str, Any]]]:
    """Return how much a partial holds, and the function and what it is called with, likewise."""
    named = [
        (".func", value.func),
        *((f".args[{n}]", each) for n, each in enumerate(value.args)),
        *((f".keywords[{name!r}]", each) for name, each in value.keywords.items()),
    ]
    return len(named), iter(named)


def _end(key: Any, number: int) -> str:
    """Return the end of an item's path; where its key is a weak reference, its class counted."""
    if is_exactly(key, weakref.ref):
        return f"[{class_name(type(key()))} {number}]"
    return f"[{key!r}]"


def code_in(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a library's callable holds that can be code of the user's, by ends of its path."""
    for name, each in own_attributes(value).items() if callable(value) else ():
        if callable(each) or is_exactly(each, list, tuple):
            yield f".{name}", each


def code_beside(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the user's functions in a library's wrapper, beside the one that it wraps.

    They are its own rules, as those of `jax.custom_vjp`.
    """
    wrapped = function_in(value)
    for end, each in code_in(value) if type(value) not in (FunctionType, MethodType) else ():
        inner = function_in(each)
        if not end.startswith(".__") and is_users_function(inner) and inner is not wrapped:
            yield end, each


def class_values(kind: type, names: set[str]) -> Iterator[tuple[type, str, Any]]:
    """Yield what a user's class, and those of theirs that it extends, define and may be read.

    Each comes with the class that defines it, those that hide others first.

    Args:
        kind: the class.
        names: those that code uses. A library that a class extends calls methods by its own.
    """
    is_called_by_library = any(not is_users_class(each) for each in mro_of(kind)[:-1])
    for each in mro_of(kind):
        for name, value in class_dict(each).items() if is_users_class(each) else ():
            is_special = name.startswith("__") and function_in(value) is not None
            if is_special or name in names or (is_called_by_library and name[:1] != "_"):
                yield each, name, value


def function_in(value: Any) -> Any:
    """Return the plain function in what decorators, `jax.jit` and descriptors put around it."""
    value = _described(value)
    if type(value) is FunctionType or attribute(value, "__wrapped__", MISSING) is not MISSING:
        value = unwrap(value)
    return value if type(value) is FunctionType else None


def wrappers_in(value: Any) -> Iterator[FunctionType]:
    """Yield the user's functions that decorators put around a plain one, the outermost first."""
    value = _described(value)
    for _ in range(_MOST_WRAPPERS):
        inner = attribute(value, "__wrapped__", MISSING)
        if inner is MISSING:
            return
        if is_users_function(value):
            yield value
        value = inner


def _described(value: Any) -> Any:
    if is_of(value, staticmethod, classmethod):
        return value.__func__
    return value.fget if is_of(value, property) else value


def self_argument(value: Any, function: FunctionType, owner: Any) -> dict[str, Any]:
    """Return the object that a method gets, by the name of its parameter; none if it is static.

    Args:
        value: what stands in the class.
        function: the plain function in it.
        owner: the object; `MISSING` where it is not known.
    """
    names = function.__code__.co_varnames[: min(function.__code__.co_argcount, 1)]
    is_unbound = owner is MISSING or is_exactly(value, staticmethod)
    return {} if is_unbound else dict.fromkeys(names, owner)


def class_and_owner(value: Any) -> tuple[type, Any]:
    """Return a class and no object of it, or the class of an object and that."""
    return (value, MISSING) if is_of(value, type) else (type(value), value)


def defaults_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the defaults of parameters, which calls mostly leave as they are."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    yield from zip(names[len(names) - len(values) :], values, strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def is_plain_function(value: Any) -> bool:
    """Whether no framework made it: what they make has attributes, or a class of its own."""
    kind = type(value)
    return kind is BuiltinFunctionType or (kind is FunctionType and not value.__dict__)


def call_of(value: Any) -> Any:
    """Return what calls an object of a user's class, as the method that it is; else None."""
    kind = type(value)
    if is_exactly(value, FunctionType, MethodType, BuiltinFunctionType, type):
        return None
    call = attribute(kind, "__call__")
    return MethodType(call, value) if callable(call) and is_users_class(kind) else None
