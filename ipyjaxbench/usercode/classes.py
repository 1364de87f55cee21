"""What classes are and define, as Python itself answers: no code of theirs is run."""

import functools
import struct
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MemberDescriptorType
from typing import Any, Generic, TypeVar

_Known = TypeVar("_Known")
_MADE = 1 << 9  # flag of a class that a `class` statement made

# Not by attribute: a metaclass may define what stands there.
#: A class and those that it extends.
mro_of: Callable[[type], tuple[type, ...]] = vars(type)["__mro__"].__get__
#: What a class defines itself.
class_dict: Callable[[type], Mapping[str, Any]] = vars(type)["__dict__"].__get__
flags_of: Callable[[type], int] = vars(type)["__flags__"].__get__
#: The name of a class.
class_name: Callable[[Any], str] = vars(type)["__name__"].__get__
_module: Callable[[type], Any] = vars(type)["__module__"].__get__
_base: Callable[[type], Any] = vars(type)["__base__"].__get__
_size: Callable[[type], int] = vars(type)["__basicsize__"].__get__
_item_size: Callable[[type], int] = vars(type)["__itemsize__"].__get__
#: Where objects have a pointer to their attributes, and one to what refers to them weakly; 0: none.
_POINTERS = tuple(vars(type)[name].__get__ for name in ("__dictoffset__", "__weakrefoffset__"))
_POINTER_BYTES = struct.calcsize("P")


class PerClass(Generic[_Known]):
    """What is known of classes while they live, by their identity: they may define equality."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[type], _Known]] = {}

    def get(self, kind: type) -> _Known | None:
        """Return what is known of a class; None where nothing is."""
        found = self._known.get(id(kind))
        return None if found is None else found[1]

    def set(self, kind: type, known: _Known) -> None:
        """Remember it; what holds the class must not be among it."""
        old = self._known.get(id(kind))
        ref = (
            weakref.ref(kind, functools.partial(self._forget, id(kind))) if old is None else old[0]
        )
        self._known[id(kind)] = ref, known

    def _forget(self, key: int, _: object) -> None:
        self._known.pop(key, None)


#: Names, and at which place of the line: a slot itself holds its class.
_SLOTS: PerClass[tuple[tuple[str, int], ...]] = PerClass()


def slots_of(kind: type) -> dict[str, MemberDescriptorType]:
    """Return what a class and those that it extends name in `__slots__`, its own first."""
    line, places = mro_of(kind), _SLOTS.get(kind)
    if places is None:
        owners = [(i, own) for i, own in enumerate(map(class_dict, line)) if "__slots__" in own]
        found: dict[str, int] = {}
        for i, own in owners:
            for name, member in own.items():
                if type(member) is MemberDescriptorType:
                    found.setdefault(name, i)
        places = tuple(found.items())
        _SLOTS.set(kind, places)
    return {name: class_dict(line[place])[name] for name, place in places}


def filled_slots(value: object, members: Mapping[str, MemberDescriptorType]) -> dict[str, Any]:
    """Return what stands in some slots of an object, as far as they are filled."""
    found: dict[str, Any] = {}
    for name, member in members.items():
        with suppress(AttributeError):  # the slot is empty
            found[name] = member.__get__(value)
    return found


def unnamed_dictionary(value: object) -> dict[str, Any] | None:
    """Return the ``__dict__`` of an object whose class has that of another class under this name.

    So has one made by ``type(name, bases, dict(vars(other)))``, as TensorFlow does.

    Example:
        >>> kind = type("Copied", (), dict(vars(type("Other", (), {}))))
        >>> unnamed_dictionary(kind())
        {}
    """
    import ctypes

    read = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
        ("PyObject_GenericGetDict", ctypes.pythonapi)
    )
    try:
        found: dict[str, Any] = read(value)
    except AttributeError:
        return None
    return found


def solid_base(kind: type) -> type:
    """Return the class that lays out the memory of a class's objects: it is written in C.

    It is `object` where they have attributes and slots alone. Python itself calls it so.

    Example:
        >>> solid_base(OverflowError), solid_base(type("Mine", (), {}))
        (<class 'BaseException'>, <class 'object'>)
    """
    while kind is not object and not _lays_out(kind, base := _base(kind)):
        kind = base
    return kind


def _lays_out(kind: type, base: type) -> bool:
    """Whether a class has its objects hold more than its base does, beside attributes and slots."""
    own = class_dict(kind)
    slots = own.values() if "__slots__" in own else ()
    pointers = sum(type(each) is MemberDescriptorType for each in slots)
    pointers += sum(offset(kind) != 0 and offset(base) == 0 for offset in _POINTERS)
    more = _size(kind) - _size(base)
    return _item_size(kind) != _item_size(base) or more > pointers * _POINTER_BYTES


def is_made(kind: type) -> bool:
    """Whether a `class` statement made a class."""
    return bool(flags_of(kind) & _MADE)


def module_of(kind: type) -> str:
    """Return the name of the module in which a class was written, or ""."""
    found = class_dict(kind).get("__module__") if is_made(kind) else _module(kind)
    return found if type(found) is str else ""
