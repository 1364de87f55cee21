"""Values that stand by name, in attributes, globals and closures, kept so as to be put back."""

from abc import abstractmethod
from collections.abc import Collection, Iterator
from types import CellType, MemberDescriptorType
from typing import Any

from ipyjaxbench.frameworks.state.containers import KeyedState
from ipyjaxbench.frameworks.state.undo import all_same
from ipyjaxbench.usercode import (
    attributes,
    class_dict,
    dictionary_of,
    filled_slots,
    has_attributes,
    is_exactly,
    is_users_class,
    read_inline_values,
    slots_of,
)

_MISSING: Any = object()  # what stands where there was nothing


class Names(KeyedState):
    """A place where values stand by name; no code of what holds them is run.

    Args:
        target: the object, its class, or whatever else holds them.
        only: the names that are looked at; None for all.
    """

    def __init__(self, target: Any, only: Collection[str] | None = None) -> None:
        self._only = only
        super().__init__(target)

    @abstractmethod
    def _values(self) -> dict[str, Any]:
        """Return what stands there now."""

    def _named(self) -> dict[str, Any]:
        values, only = self._values(), self._only
        return values if only is None else {n: values[n] for n in only if n in values}

    def _read(self) -> tuple[list[Any], list[Any]]:
        values = self._named()
        return [*values], [*values.values()]

    @property
    def parts(self) -> list[Any]:
        """The values."""
        values: list[Any] = self._before[1]
        return values

    @property
    def named(self) -> Iterator[tuple[str, Any]]:
        """Names and values."""
        return zip(*self._before, strict=True)

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield each name that stands for something else now, or for nothing, and for what."""
        before, now = dict(self.named), self._named()
        for name in {**before, **now}:
            if not all_same([now.get(name, _MISSING)], [before.get(name, _MISSING)]):
                yield name, [now[name]] if name in now else []


class AttributeNames(Names):
    """An object's own attributes.

    Where the object has no ``__dict__`` yet, none is made, unless an attribute comes or goes.
    """

    def __init__(self, target: Any, only: Collection[str] | None = None) -> None:
        self._kind = type(target)
        super().__init__(target, only)

    def changed(self) -> bool:
        """Whether there are other attributes, or the object is of another class now."""
        return type(self._target) is not self._kind or super().changed()

    def restore(self) -> None:
        """Put class and attributes back."""
        if type(self._target) is not self._kind:
            object.__setattr__(self._target, "__class__", self._kind)
        super().restore()

    def _values(self) -> dict[str, Any]:
        return attributes(self._target)

    def _set(self, key: str, value: Any) -> None:
        if key in (read_inline_values(self._target) or ()):
            object.__setattr__(self._target, key, value)
        else:
            self._dictionary[key] = value

    def _delete(self, key: str) -> None:
        del self._dictionary[key]

    @property
    def _dictionary(self) -> dict[str, Any]:
        found = dictionary_of(self._target)
        return {} if found is None else found


class AddedNames(AttributeNames):
    """Attributes that users added to an object of a library, which names its own with `_`."""

    def _values(self) -> dict[str, Any]:
        return {name: v for name, v in super()._values().items() if not name.startswith("_")}


class SlotNames(Names):
    """The attributes of an object that its classes name in `__slots__`."""

    def __init__(self, target: object) -> None:
        self._members = slots_of(type(target))
        super().__init__(target)

    def _values(self) -> dict[str, Any]:
        return filled_slots(self._target, self._members)

    def _set(self, key: str, value: Any) -> None:
        self._members[key].__set__(self._target, value)

    def _delete(self, key: str) -> None:
        self._members[key].__delete__(self._target)


class MemberNames(SlotNames):
    """What an object keeps by name in memory of C's own, as Python's documentation calls members.

    Args:
        target: the object.
        kind: the class in C that it extends.
    """

    def __init__(self, target: object, kind: type) -> None:
        own = class_dict(kind).items()
        self._members = {n: each for n, each in own if is_exactly(each, MemberDescriptorType)}
        Names.__init__(self, target)


#: What Python itself keeps in a class, or makes when it is first asked.
_PYTHONS = frozenset((
    "__dict__", "__weakref__", "__slotnames__", "__annotations__", "__annotations_cache__",
    "__annotate_func__", "__static_attributes__", "__firstlineno__", "__abstractmethods__",
))  # fmt: skip


class ClassNames(Names):
    """Data and methods of a class, but for what Python keeps there; its metaclass has no say."""

    def _values(self) -> dict[str, Any]:
        return {n: v for n, v in class_dict(self._target).items() if not _is_special(n)}

    def _set(self, key: str, value: Any) -> None:
        type.__setattr__(self._target, key, value)

    def _delete(self, key: str) -> None:
        type.__delattr__(self._target, key)


class SpecialNames(ClassNames):
    """Special methods of a class, and what else Python looks up there."""

    def _values(self) -> dict[str, Any]:
        held = class_dict(self._target).items()
        return {n: v for n, v in held if _is_special(n) and n not in _PYTHONS}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class CellName(Names):
    """A name that a function closes over.

    Args:
        name: by which the function knows it.
        cell: that holds its value.
    """

    def __init__(self, name: str, cell: CellType) -> None:
        self._name = name
        super().__init__(cell)

    def _values(self) -> dict[str, Any]:
        try:
            return {self._name: self._target.cell_contents}
        except ValueError:  # the cell is empty
            return {}

    def _set(self, key: str, value: Any) -> None:  # noqa: ARG002
        self._target.cell_contents = value

    def _delete(self, key: str) -> None:  # noqa: ARG002
        del self._target.cell_contents


class RegistryNames(Names):
    """Settings that a library reads and sets by code of its own, of an object for attributes.

    Args:
        target: the object.
        only: those that are looked at.
    """

    def _values(self) -> dict[str, Any]:
        found = ((name, getattr(self._target, name, _MISSING)) for name in self._only or ())
        return {name: value for name, value in found if value is not _MISSING}

    def _set(self, key: str, value: Any) -> None:
        setattr(self._target, key, value)

    def _delete(self, key: str) -> None:
        delattr(self._target, key)


class DictNames(Names):
    """Names in a dictionary, such as a module's globals."""

    def _values(self) -> dict[str, Any]:
        return dict(self._target) if self._only is None else self._target

    def _set(self, key: str, value: Any) -> None:
        self._target[key] = value

    def _delete(self, key: str) -> None:
        del self._target[key]


def added_states(value: object) -> Iterator[Names]:
    """Yield attributes of an object that are the user's: all, where he wrote its class."""
    if is_users_class(type(value)):
        yield from attribute_states(value)
    elif any(not name.startswith("_") for name in attributes(value)):
        yield AddedNames(value)


def attribute_states(value: object) -> Iterator[Names]:
    """Yield the attributes of an object, in its dictionary and in slots; no code of it is run."""
    if has_attributes(value):
        yield AttributeNames(value)
    yield from slot_states(value)


def slot_states(value: object) -> Iterator[Names]:
    """Yield what stands in the slots of an object, if its class has some."""
    if slots_of(type(value)):
        yield SlotNames(value)
