"""Places that hold values by name and are no dictionaries, read and written as such."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from types import CellType, MemberDescriptorType
from typing import Any

from ipyjaxbench.usercode import (
    attributes,
    class_dict,
    dictionary_of,
    filled_slots,
    read_inline_values,
)


class Place(ABC):
    """Where values stand by name; no code of what holds them is run."""

    @abstractmethod
    def read(self) -> dict[str, Any]:
        """Return what stands there now."""

    @abstractmethod
    def __setitem__(self, name: str, value: Any) -> None: ...

    @abstractmethod
    def __delitem__(self, name: str) -> None: ...


class AttributeNames(Place):
    """An object's own attributes.

    Where the object has no ``__dict__`` yet, none is made, unless an attribute comes or goes.

    Args:
        owner: the object.
        only: the names that are looked at; None for all.
    """

    def __init__(self, owner: object, only: frozenset[str] | None = None) -> None:
        self._owner, self._only = owner, only

    def read(self) -> dict[str, Any]:
        """Return the attributes."""
        found, only = attributes(self._owner), self._only
        return found if only is None else {n: v for n, v in found.items() if n in only}

    def __setitem__(self, name: str, value: Any) -> None:
        if name in (read_inline_values(self._owner) or ()):
            object.__setattr__(self._owner, name, value)
        else:
            self._dictionary[name] = value

    def __delitem__(self, name: str) -> None:
        del self._dictionary[name]

    @property
    def _dictionary(self) -> dict[str, Any]:
        found = dictionary_of(self._owner)
        return {} if found is None else found


class SlotNames(Place):
    """The attributes of an object that its classes name in `__slots__`.

    Args:
        owner: the object.
        members: the descriptors.
    """

    def __init__(self, owner: object, members: dict[str, MemberDescriptorType]) -> None:
        self._owner, self._members = owner, members

    def read(self) -> dict[str, Any]:
        """Return those that are filled."""
        return filled_slots(self._owner, self._members)

    def __setitem__(self, name: str, value: Any) -> None:
        self._members[name].__set__(self._owner, value)

    def __delitem__(self, name: str) -> None:
        self._members[name].__delete__(self._owner)


class ClassNames(Place):
    """What stands in a class, but for what Python keeps there.

    Args:
        kind: the class; its metaclass has no say.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def read(self) -> dict[str, Any]:
        """Return data and methods."""
        held = class_dict(self._kind).items()
        return {n: v for n, v in held if not (n.startswith("__") and n.endswith("__"))}

    def __setitem__(self, name: str, value: Any) -> None:
        type.__setattr__(self._kind, name, value)

    def __delitem__(self, name: str) -> None:
        type.__delattr__(self._kind, name)


class CellName(Place):
    """A name that a function closes over.

    Args:
        name: by which the function knows it.
        cell: that holds its value.
    """

    def __init__(self, name: str, cell: CellType) -> None:
        self._name, self._cell = name, cell

    def read(self) -> dict[str, Any]:
        """Return the value; nothing where the cell is empty."""
        try:
            return {self._name: self._cell.cell_contents}
        except ValueError:
            return {}

    def __setitem__(self, name: str, value: Any) -> None:
        self._cell.cell_contents = value

    def __delitem__(self, name: str) -> None:
        del self._cell.cell_contents


class DictNames(Place):
    """Names in a dictionary.

    Args:
        names: the dictionary, such as a module's globals.
        used: those that are looked at; None for all.
    """

    def __init__(self, names: dict[str, Any], used: Iterable[str] | None = None) -> None:
        self._names, self._used = names, used if used is None else [*used]

    def read(self) -> dict[str, Any]:
        """Return the values of those that are there."""
        names, used = self._names, self._used
        return dict(names) if used is None else {n: names[n] for n in used if n in names}

    def __setitem__(self, name: str, value: Any) -> None:
        self._names[name] = value

    def __delitem__(self, name: str) -> None:
        del self._names[name]
