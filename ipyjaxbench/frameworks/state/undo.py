"""What calls change in place, kept as it is now so that it can be put back."""

import math
import operator
import random
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from types import CellType, MemberDescriptorType
from typing import Any

from ipyjaxbench.frameworks.state import mappings
from ipyjaxbench.usercode import objects

_MISSING: Any = object()  # what stands where there was nothing
_NUMBERS = (bool, int, float, complex, str, bytes)
_SMALL = 64 * 2**20  # bytes of copies that need no look at the free memory
_SHARE = 0.25  # of the free memory, for all copies


class Room:
    """How much may be copied: a quarter of what was free at first, on each device.

    Args:
        most: bytes that may be taken, however many are free.
        gives_away: the code gives arrays away that nothing else changes.
    """

    def __init__(self, most: float = math.inf, *, gives_away: bool = False) -> None:
        self._most = most
        self.gives_away = gives_away
        self._taken: dict[str, int] = {}
        self._limits: dict[str, float] = {}
        self._known: dict[object, object] = {}

    def is_new(self, owner: object, key: object = None) -> bool:
        """Whether memory is asked about for the first time: several arrays may share it.

        Args:
            owner: of the memory; it is held.
            key: that tells memory from other memory; the owner's identity where it is None.
        """
        key = id(owner) if key is None else key
        is_new = key not in self._known
        self._known[key] = owner
        return is_new

    def take(self, device: str, nbytes: int, free: Callable[[], int]) -> bool:
        """Whether so many bytes more fit on a device; they are counted then.

        Args:
            device: its name.
            nbytes: of a copy.
            free: bytes that may be taken there.
        """
        taken = self._taken.get(device, 0) + nbytes
        if taken > self._most:
            return False
        if taken > _SMALL:
            if device not in self._limits:
                self._limits[device] = _SHARE * (free() + self._taken.get(device, 0))
            if taken > self._limits[device]:
                return False
        self._taken[device] = taken
        return True


class State(ABC):
    """What one object holds.

    Attributes:
        nbytes: of the copy, where numbers were copied.
        can_restore: whether there is one, so that it can be put back.
        owner: of the memory, where several objects share it; None where none does.
    """

    nbytes = 0
    can_restore = True
    owner: object = None

    @property
    def parts(self) -> Iterable[object]:
        """What it holds, which may change in place as well."""
        return ()

    @abstractmethod
    def changed(self) -> bool:
        """Whether the object holds something else now."""

    @abstractmethod
    def restore(self) -> None:
        """Put back what it held."""

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Have other objects put back in the place of some.

        Args:
            swap: gives for an object the one to be put back.
        """
        _ = swap  # most hold no objects

    @abstractmethod
    def again(self) -> "State":
        """The same object as it is at this moment."""


class Items(State):
    """A list, a set or a deque, also of a class of the user's.

    Args:
        values: the container.
    """

    def __init__(self, values: Any) -> None:
        self._values = values
        # The methods of Python's own class: those of others may do more than that.
        self._kind: Any = next(k for k in (list, set, deque) if issubclass(type(values), k))
        self._before: list[Any] = [*self._kind.__iter__(values)]

    @property
    def parts(self) -> list[Any]:
        """Its items."""
        return self._before

    def changed(self) -> bool:
        """Whether it has other items."""
        if self._kind.__len__(self._values) != len(self._before):
            return True
        if self._kind is set:  # by identity: their own equality may be any code
            return {*map(id, self._kind.__iter__(self._values))} != {*map(id, self._before)}
        now = self._kind.__iter__(self._values)
        return not all(map(operator.is_, now, self._before)) and not all_same(
            self._kind.__iter__(self._values), self._before
        )

    def restore(self) -> None:
        """Have it hold these items in this order."""
        if self._kind is list:  # which keeps the memory that it has, as clearing it would not
            list.__setitem__(self._values, slice(None), self._before)
            return
        self._kind.clear(self._values)
        (self._kind.update if self._kind is set else self._kind.extend)(self._values, self._before)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Items."""
        self._before = [*map(swap, self._before)]

    def again(self) -> "Items":
        """Its items now."""
        return Items(self._values)


class Entries(State):
    """A dictionary of any class: the user's own, the attributes of an object, globals.

    Args:
        values: the dictionary, or attributes.
        only: the keys that are looked at; None for all.
    """

    def __init__(self, values: Any, only: frozenset[str] | None = None) -> None:
        self._values, self._only = values, only
        kinds: tuple[Any, ...] = (OrderedDict, dict, mappings.Attributes)
        self._kind = next(kind for kind in kinds if issubclass(type(values), kind))
        self._before = self._now()

    @property
    def parts(self) -> list[Any]:
        """Its keys and values."""
        keys, values = self._before
        return [*keys, *values]

    def changed(self) -> bool:
        """Whether it has other keys, values, or another order."""
        return not all(map(all_same, self._now(), self._before))

    def restore(self) -> None:
        """Have it hold these entries, in this order."""
        (keys, values), (old_keys, old_values) = self._now(), self._before
        if len(keys) != len(old_keys) or not all(map(operator.is_, keys, old_keys)):
            for key in keys:
                self._kind.__delitem__(self._values, key)
            values = [_MISSING] * len(old_values)
        for key, value, old in zip(old_keys, values, old_values, strict=True):
            if value is not old:
                self._kind.__setitem__(self._values, key, old)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Values."""
        keys, values = self._before
        self._before = keys, [*map(swap, values)]

    def again(self) -> "Entries":
        """Its entries now."""
        return Entries(self._values, self._only)

    def _now(self) -> tuple[list[Any], list[Any]]:
        # Two lists: a dictionary of the entries would ask the keys for their hashes.
        values, only = self._values, self._only
        if only is not None:
            found = [(k, v) for k, v in self._kind.items(values) if k in only]
            return [k for k, _ in found], [v for _, v in found]
        return [*self._kind.keys(values)], [*self._kind.values(values)]


class Attributes(Entries):
    """An object's attributes.

    Args:
        owner: the object; no code of it is run.
        only: the names that are looked at; None for all.
    """

    def __init__(self, owner: object, only: frozenset[str] | None = None) -> None:
        self._owner = owner
        super().__init__(mappings.Attributes(owner), only)

    def again(self) -> "Attributes":
        """Its attributes now."""
        return type(self)(self._owner, self._only)


class Slots(State):
    """The attributes that an object's class names in `__slots__`.

    Args:
        owner: the object; no code of it is run.
        members: the descriptors.
    """

    def __init__(self, owner: object, members: dict[str, MemberDescriptorType]) -> None:
        self._owner, self._members = owner, members
        self._before = [_slot(each, owner) for each in members.values()]

    @property
    def parts(self) -> Iterator[Any]:
        """Their values."""
        return (each for each in self._before if each is not _MISSING)

    def changed(self) -> bool:
        """Whether one has another value."""
        now = [_slot(each, self._owner) for each in self._members.values()]
        return not all_same(now, self._before)

    def restore(self) -> None:
        """Set those that have another one."""
        for member, value in zip(self._members.values(), self._before, strict=True):
            now = _slot(member, self._owner)
            if value is _MISSING and now is not _MISSING:
                member.__delete__(self._owner)
            elif now is not value:
                member.__set__(self._owner, value)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Values."""
        self._before = [v if v is _MISSING else swap(v) for v in self._before]

    def again(self) -> "Slots":
        """Their values now."""
        return Slots(self._owner, self._members)


class ClassAttributes(State):
    """What stands in a class, but for its methods.

    Args:
        kind: the class.
        values: of the names.
    """

    def __init__(self, kind: type, values: Callable[[], dict[str, Any]]) -> None:
        self._kind, self._now, self._before = kind, values, values()

    @property
    def parts(self) -> list[Any]:
        """Their values."""
        return [*self._before.values()]

    def changed(self) -> bool:
        """Whether a name has another value."""
        now = self._now()
        same = now.keys() == self._before.keys()
        return not (same and all(now[n] is v for n, v in self._before.items()))

    def restore(self) -> None:
        """Set those that have another one."""
        now = self._now()
        for name in now.keys() - self._before.keys():
            type.__delattr__(self._kind, name)
        for name, value in self._before.items():
            if now.get(name, _MISSING) is not value:
                type.__setattr__(self._kind, name, value)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Values."""
        self._before = {name: swap(value) for name, value in self._before.items()}

    def again(self) -> "ClassAttributes":
        """Their values now."""
        return ClassAttributes(self._kind, self._now)


class Cell(State):
    """What a function closes over.

    Args:
        cell: that holds it.
    """

    def __init__(self, cell: CellType) -> None:
        self._cell, self._before = cell, _contents(cell)

    @property
    def parts(self) -> Iterable[object]:
        """Its value."""
        return () if self._before is _MISSING else (self._before,)

    def changed(self) -> bool:
        """Whether it has another one."""
        return not all_same([_contents(self._cell)], [self._before])

    def restore(self) -> None:
        """Set the old one."""
        if self._before is not _MISSING:
            self._cell.cell_contents = self._before
        elif _contents(self._cell) is not _MISSING:
            del self._cell.cell_contents

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """The value."""
        self._before = self._before if self._before is _MISSING else swap(self._before)

    def again(self) -> "Cell":
        """Its value now."""
        return Cell(self._cell)


class Buffer(State):
    """A `bytearray` or an `array.array`.

    Args:
        values: it.
        room: for its copy.
        free: bytes that may be taken.
    """

    def __init__(self, values: Any, room: Room, free: Callable[[], int]) -> None:
        self._values, self._room, self._free = values, room, free
        self._kind: Any = bytearray if issubclass(type(values), bytearray) else array
        self.nbytes = memoryview(values).nbytes
        self.can_restore = room.take("host", self.nbytes, free)
        self._before: Any = (
            self._kind.__getitem__(values, slice(None)) if self.can_restore else None
        )
        self._count = len(values)

    def changed(self) -> bool:
        """Whether it holds other numbers."""
        if not self.can_restore:
            return len(self._values) != self._count
        return bytes(memoryview(self._values)) != bytes(memoryview(self._before))

    def restore(self) -> None:
        """Have it hold the old ones."""
        self._kind.__setitem__(self._values, slice(None), self._before)

    def again(self) -> "Buffer":
        """What it holds now."""
        return Buffer(self._values, self._room, self._free)


class Given(State):
    """An array that never changes, and that a call may give away.

    Args:
        array: it.
        copy: with memory of its own.
        is_gone: whether the array was given away.
    """

    def __init__(self, array: Any, copy: Any, is_gone: Callable[[], bool]) -> None:
        self.array, self.copy, self.is_gone = array, copy, is_gone
        self.nbytes = int(array.nbytes)

    def changed(self) -> bool:
        """Never: what holds it is made to hold the copy."""
        return False

    def restore(self) -> None:
        """There is nothing to write."""

    def again(self) -> "Given":
        """The same."""
        return self


class Draws(State):
    """A generator of random numbers.

    Args:
        read: gives its state.
        write: sets it.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], object]) -> None:
        self._read, self._write, self._before = read, write, read()

    @classmethod
    def of_python(cls, source: random.Random) -> "Draws":
        """Of `random.Random`, by its own methods."""
        return cls(
            lambda: random.Random.getstate(source), lambda s: random.Random.setstate(source, s)
        )

    def changed(self) -> bool:
        """Not told: a number may be drawn in each call, and is put back anyway."""
        return False

    def restore(self) -> None:
        """Set it back."""
        self._write(self._before)

    def again(self) -> "Draws":
        """Its state now."""
        return Draws(self._read, self._write)


def all_same(now: Iterable[Any], before: Iterable[Any]) -> bool:
    """Whether values are the same objects, or equal numbers or strings."""
    now, before = [*now], [*before]
    return len(now) == len(before) and all(
        a is b or (type(a) is type(b) and objects.is_exactly(a, *_NUMBERS) and a == b)
        for a, b in zip(now, before, strict=True)
    )


def _slot(member: MemberDescriptorType, owner: object) -> Any:
    try:
        return member.__get__(owner, type(owner))
    except AttributeError:  # it is empty
        return _MISSING


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return _MISSING
