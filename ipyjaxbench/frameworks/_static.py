"""The dictionaries and slots themselves in which objects keep what they hold; no code is run."""

import sys
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

from ipyjaxbench import looks
from ipyjaxbench.frameworks._walk import is_the_users_file

_MODULE: Any = vars(type(sys))["__dict__"]
#: By identity of the class, which is held: a metaclass may define equality.
_SLOTS: dict[int, tuple[type, dict[str, MemberDescriptorType]]] = {}


def slots(kind: type) -> dict[str, MemberDescriptorType]:
    """What a class and those that it inherits from name in `__slots__`."""
    if id(kind) not in _SLOTS:
        held = [looks.defined(each) for each in looks.line_of(kind)]
        members = {
            name: member
            for own in reversed([each for each in held if "__slots__" in each])
            for name, member in own.items()
            if type(member) is MemberDescriptorType
        }
        _SLOTS[id(kind)] = kind, members
    return _SLOTS[id(kind)][1]


def module_names(module: object) -> dict[str, Any]:
    """The dictionary itself that holds a module's names."""
    found: dict[str, Any] = _MODULE.__get__(module)
    return found


def is_users_class(kind: type) -> bool:
    """Whether the user wrote a class: it stands in no library."""
    if kind is SimpleNamespace:
        return True
    name = looks.module_of(kind)
    module = sys.modules.get(name)
    return name == "__main__" or (module is not None and is_users_module(module))


def is_users_module(module: object) -> bool:
    """Whether a module was written by the user."""
    file = module_names(module).get("__file__")
    return type(file) is str and is_the_users_file(file)
