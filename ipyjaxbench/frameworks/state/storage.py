"""The dictionaries and slots themselves in which objects keep what they hold; no code is run."""

import functools
import sys
import weakref
from itertools import chain
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

from ipyjaxbench.frameworks.traversal import is_the_users_file
from ipyjaxbench.usercode import objects

_MODULE: Any = vars(type(sys))["__dict__"]
#: Names, as a slot itself holds its class; by the identity of that (a metaclass may define
#: equality) while it lives.
_SLOTS: dict[int, tuple["weakref.ref[type]", frozenset[str]]] = {}


def slots(kind: type) -> dict[str, MemberDescriptorType]:
    """What a class and those that it inherits from name in `__slots__`."""
    held = [objects.defined(each) for each in objects.line_of(kind)]
    if id(kind) not in _SLOTS:
        own = [each.items() for each in held if "__slots__" in each]
        found = chain.from_iterable(own)
        names = frozenset(name for name, each in found if type(each) is MemberDescriptorType)
        _SLOTS[id(kind)] = weakref.ref(kind, functools.partial(_forget, id(kind))), names
    names = _SLOTS[id(kind)][1]
    return {
        name: own[name]
        for own in reversed(held if names else [])
        for name in own
        if name in names and type(own[name]) is MemberDescriptorType
    }


def _forget(key: int, _: object) -> None:
    _SLOTS.pop(key, None)


def module_names(module: object) -> dict[str, Any]:
    """The dictionary itself that holds a module's names."""
    found: dict[str, Any] = _MODULE.__get__(module)
    return found


def is_users_class(kind: type) -> bool:
    """Whether the user wrote a class: it stands in no library."""
    if kind is SimpleNamespace:
        return True
    name = objects.module_of(kind)
    module = sys.modules.get(name)
    return name == "__main__" or (module is not None and is_users_module(module))


def is_users_module(module: object) -> bool:
    """Whether a module was written by the user."""
    file = module_names(module).get("__file__")
    return type(file) is str and is_the_users_file(file)
