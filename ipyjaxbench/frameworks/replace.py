"""Puts another function in the place of one that a class or module has, until a context ends."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any


def replace_attribute(
    stack: ExitStack, owner: Any, name: str, make: Callable[[Callable[..., Any]], Any]
) -> bool:
    """Replace a function, method or property; what it was comes back when the stack is closed.

    Args:
        stack: closed when the replacement is to end.
        owner: the class or module.
        name: of the attribute.
        make: gets the function (of a property, what reads it) and returns what takes its place.

    Returns:
        Whether there is one that can be replaced.
    """
    old = getattr(owner, name, None)
    if old is None:
        return False
    own = vars(owner).get(name)
    is_property = isinstance(old, property)
    replaced = make(old.fget if is_property else old)
    try:
        setattr(owner, name, property(replaced) if is_property else replaced)
    except (AttributeError, TypeError):  # it cannot be changed
        return False
    if own is None:
        stack.callback(delattr, owner, name)
    else:
        stack.callback(setattr, owner, name, own)
    return True
