"""The user's classes that code reaches, each with an object of it where there is one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ipyjaxbench.usercode.classes import class_name, mro_of
from ipyjaxbench.usercode.members import (
    MISSING,
    class_values,
    is_data_descriptor,
    own_attributes,
)
from ipyjaxbench.usercode.origin import is_users_class


class MetClass(NamedTuple):
    """A user's class that was met; its owner is `MISSING` where no object was."""

    path: str
    kind: type
    owner: Any
    depth: int


class MetClasses:
    """Keeps each class once for each of its objects."""

    def __init__(self) -> None:
        self._met: dict[tuple[int, int], MetClass] = {}

    def __len__(self) -> int:
        return len(self._met)

    def add(self, path: str, kind: type, owner: Any, depth: int) -> bool:
        """Keep a class if it is the user's, or extends one of theirs; return whether it is new."""
        key = id(kind), id(owner)
        if key in self._met or not any(is_users_class(each) for each in mro_of(kind)):
            return False
        self._met[key] = MetClass(path, kind, owner, depth)
        return True

    def values(self, names: set[str]) -> Iterator[tuple[MetClass, str, Any]]:
        """Yield what these classes define under names that code uses, each with its path.

        A library that a class extends calls methods by names of its own. What another definition,
        or an attribute of the object, hides is found by `super()`: it has the path of its class.
        """
        for met in [*self._met.values()]:
            own = {} if met.owner is MISSING else own_attributes(met.owner)
            known: set[str] = set()
            for kind, name, value in class_values(met.kind, names):
                is_hidden = name in known or (name in own and not is_data_descriptor(value))
                yield met, f"{class_name(kind) if is_hidden else met.path}.{name}", value
                known.add(name)
