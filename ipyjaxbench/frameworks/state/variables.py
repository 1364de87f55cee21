"""What the user calls an object that the code reaches."""

from types import BuiltinFunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.usercode import is_exactly, name_of


def variable_of(name: str, value: Any, names: object) -> str:
    """Return the user's variable that something named is of; a method is of its object.

    Args:
        name: under which the code knows it.
        value: what that stands for.
        names: the user's namespace; else it is not known.
    """
    owner = name.rpartition(".")[0]
    if owner and callable(value):  # as in ``opt.step``
        return owner
    if not is_exactly(value, MethodType, BuiltinFunctionType):
        return name
    of = value.__self__
    if type(of) is ModuleType or not isinstance(names, dict):
        return name
    known = (n for n, each in [*names.items()] if each is of and not n.startswith("_"))
    return next(known, f"{name}.__self__")


def name_of_class(kind: type, name: str, names: object) -> str:
    """Return a class's own name where that can be typed; else that of its object."""
    own = name_of(kind)
    return own if not isinstance(names, dict) or names.get(own) is kind else name
