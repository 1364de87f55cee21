"""The dictionaries and slots themselves in which objects keep what they hold; no code is run."""

import sys
from types import SimpleNamespace
from typing import Any

from ipyjaxbench.frameworks.traversal import is_the_users_file
from ipyjaxbench.usercode import objects

_MODULE: Any = vars(type(sys))["__dict__"]


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
