"""Places that hold values and are no dictionaries, seen as such."""

import inspect
from collections.abc import ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from types import CellType
from typing import Any

from ipyjaxbench.usercode import inline_values, objects


class Attributes(MutableMapping[str, Any]):
    """An object's own attributes, as a dictionary that can be written to.

    Where the object has no ``__dict__`` yet, none is made, unless an attribute comes or goes.

    Args:
        owner: the object; no code of it is run.
    """

    def __init__(self, owner: object) -> None:
        self._owner = owner

    def __getitem__(self, name: str) -> Any:
        return objects.attributes(self._owner)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name in (inline_values.read(self._owner) or ()):
            object.__setattr__(self._owner, name, value)
        else:
            self._dictionary[name] = value

    def __delitem__(self, name: str) -> None:
        del self._dictionary[name]

    def __iter__(self) -> Iterator[str]:
        return iter(objects.attributes(self._owner))

    def __len__(self) -> int:
        return len(objects.attributes(self._owner))

    def keys(self) -> KeysView[str]:
        """Their names."""
        return objects.attributes(self._owner).keys()

    def values(self) -> ValuesView[Any]:
        """What they are now."""
        return objects.attributes(self._owner).values()

    def items(self) -> ItemsView[str, Any]:
        """Names and what they are now."""
        return objects.attributes(self._owner).items()

    @property
    def _dictionary(self) -> dict[str, Any]:
        found = objects.dictionary(self._owner)
        return {} if found is None else found


class Cell(MutableMapping[str, Any]):
    """What a function closes over, as a dictionary of one name.

    Args:
        name: by which the function knows it.
        cell: that holds it.
    """

    def __init__(self, name: str, cell: CellType) -> None:
        self._name, self._cell = name, cell

    def __getitem__(self, name: str) -> Any:
        return self._cell.cell_contents

    def __setitem__(self, name: str, value: Any) -> None:
        self._cell.cell_contents = value

    def __delitem__(self, name: str) -> None:
        del self._cell.cell_contents

    def __iter__(self) -> Iterator[str]:
        try:
            _ = self._cell.cell_contents
        except ValueError:  # nothing stands there yet
            return
        yield self._name

    def __len__(self) -> int:
        return len([*self])


class Slots(MutableMapping[str, Any]):
    """The attributes of an object that its classes name in `__slots__`, as a dictionary.

    Args:
        owner: the object; no code of it is run.

    Attributes:
        members: the descriptors of all that it may have, by name.
    """

    def __init__(self, owner: object) -> None:
        self._owner = owner
        self.members = {
            name: member
            for kind in objects.line_of(type(owner))
            if "__slots__" in objects.defined(kind)
            for name, member in objects.defined(kind).items()
            if inspect.ismemberdescriptor(member)
        }

    def __getitem__(self, name: str) -> Any:
        try:
            return self.members[name].__get__(self._owner)
        except AttributeError:  # the slot is empty
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        self.members[name].__set__(self._owner, value)

    def __delitem__(self, name: str) -> None:
        self.members[name].__delete__(self._owner)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.members if name in self)

    def __len__(self) -> int:
        return len([*self])
