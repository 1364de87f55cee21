"""What calls change in place, kept as it is now so that it can be put back."""

import operator
import random
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ipyjaxbench.frameworks.state import mappings
from ipyjaxbench.frameworks.state.room import Room
from ipyjaxbench.usercode import classes, objects

_MISSING: Any = object()  # what stands where there was nothing
_NUMBERS = (bool, int, float, complex, str, bytes)


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

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Each name in it that stands for something else now ("" for all of it), and what came."""
        if self.changed():
            known = {*map(id, self.parts)}
            yield "", [each for each in self.again().parts if id(each) not in known]


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
    """A dictionary of any class.

    Args:
        values: the dictionary.
    """

    def __init__(self, values: Any) -> None:
        self._values = values
        self._kind = self._kind_of(values)
        self._before = self._now()

    @staticmethod
    def _kind_of(values: Any) -> Any:
        return OrderedDict if issubclass(type(values), OrderedDict) else dict

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
        if not _are_identical(keys, old_keys):
            known = {*map(id, old_keys)}
            stay = [key for key in keys if id(key) in known]
            if not _are_identical(stay, old_keys):  # for the order all have to go
                known.clear()
            for key in [key for key in keys if id(key) not in known]:
                self._kind.__delitem__(self._values, key)
            found = [v for k, v in zip(keys, values, strict=True) if id(k) in known]
            values = found or [_MISSING] * len(old_values)
        for key, value, old in zip(old_keys, values, old_values, strict=True):
            if value is not old:
                self._kind.__setitem__(self._values, key, old)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Values."""
        keys, values = self._before
        self._before = keys, [*map(swap, values)]

    def again(self) -> "Entries":
        """Its entries now."""
        return type(self)(self._values)

    def _now(self) -> tuple[list[Any], list[Any]]:
        # Two lists: a dictionary of the entries would ask the keys for their hashes.
        return [*self._kind.keys(self._values)], [*self._kind.values(self._values)]


class Names(Entries):
    """Another place where values stand by name: attributes, globals, what a function closes over.

    Args:
        place: it.
    """

    def __init__(self, place: mappings.Place) -> None:
        super().__init__(place)

    @staticmethod
    def _kind_of(values: Any) -> Any:
        return type(values)

    @property
    def parts(self) -> list[Any]:
        """The values."""
        return self._before[1]

    @property
    def named(self) -> Iterator[tuple[str, Any]]:
        """Names and values."""
        return zip(*self._before, strict=True)

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Each name that stands for something else now, or for nothing, and for what."""
        before, now = dict(self.named), self._values.read()
        for name in {**before, **now}:
            if not all_same([now.get(name, _MISSING)], [before.get(name, _MISSING)]):
                yield name, [now[name]] if name in now else []

    def _now(self) -> tuple[list[Any], list[Any]]:
        found = self._values.read()
        return [*found], [*found.values()]


def names_of(value: object) -> Iterator[Names]:
    """Attributes of an object, in its dictionary and in slots.

    Args:
        value: the object; no code of it is run.
    """
    if objects.has_attributes(value):
        yield Names(mappings.Attributes(value))
    if classes.slots_of(type(value)):
        yield Names(mappings.Slots(value))


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
        """Never: a number may be drawn in each call, and is put back anyway."""
        return False

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """One where a number was drawn."""
        now = self._read()
        try:
            is_drawn = bool(now != self._before)
        except ValueError:  # arrays of NumPy have no answer
            is_drawn = repr(now) != repr(self._before)
        if is_drawn:
            yield "", []

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


def _are_identical(values: list[Any], others: list[Any]) -> bool:
    return len(values) == len(others) and all(map(operator.is_, values, others))
