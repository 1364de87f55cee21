"""Looks at any object without running code of its class, and never raises.

An object may answer what it likes: with a catch-all ``__getattr__``, a property that raises, a
``__class__`` that lies, an ``__eq__`` that gives an array. What is asked here is answered by
Python itself.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeGuard, TypeVar

_Kind = TypeVar("_Kind")
# Not by attribute: a metaclass may define what stands there.
_MRO: Any = vars(type)["__mro__"]
_DEFINED: Any = vars(type)["__dict__"]


def asked(question: Callable[[Any], object], value: object) -> bool:
    """The answer to a question about a user's object; no, where asking raises.

    Example:
        >>> asked(callable, print), asked(lambda value: value.missing, 3)
        (True, False)
    """
    try:
        return bool(question(value))
    except Exception:  # noqa: BLE001  the object may raise anything
        return False


def is_of(value: object, kind: "type[_Kind]") -> TypeGuard[_Kind]:
    """Whether a value is of a class, by its real type: `isinstance` also asks for ``__class__``."""
    return issubclass(type(value), kind)


def attributes(value: object) -> dict[str, Any]:
    """An object's own attributes, as they stand in its ``__dict__``; empty where it has none.

    Example:
        >>> attributes(3)
        {}
    """
    kinds = (kind for kind in _line_of(value) if "__dict__" in _defined(kind))
    descriptor = next((_defined(kind)["__dict__"] for kind in kinds), None)
    # Any other is of the class's own making.
    if not isinstance(descriptor, GetSetDescriptorType | MemberDescriptorType):
        return {}
    found = descriptor.__get__(value)
    return found if type(found) is dict else dict(found or ())


def slots(value: object) -> dict[str, Any]:
    """What stands in the slots of an object, as far as they are filled."""
    found: dict[str, Any] = {}
    for kind in _line_of(value):
        members = _defined(kind).items() if "__slots__" in _defined(kind) else ()
        for name, member in members:
            if type(member) is MemberDescriptorType:
                with suppress(AttributeError):  # the slot is empty
                    found.setdefault(name, member.__get__(value))
    return found


def attribute(value: object, name: str, default: object = None) -> Any:
    """What stands under a name in an object or its classes; descriptors are not run.

    Example:
        >>> attribute("text", "missing", 0)
        0
    """
    try:
        return inspect.getattr_static(value, name, default)
    except Exception:  # noqa: BLE001  a class that is equal to others misleads Python
        return default


def _line_of(value: object) -> tuple[type, ...]:
    """The class of a value and those that it extends."""
    found: tuple[type, ...] = _MRO.__get__(type(value))
    return found


def _defined(kind: type) -> Mapping[str, Any]:
    """What a class defines itself."""
    found: Mapping[str, Any] = _DEFINED.__get__(kind)
    return found
