"""What calls change in place, kept as it is now so that it can be put back."""

import operator
import random
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ipyjaxbench.frameworks.state.room import CopyBudget
from ipyjaxbench.usercode import is_exactly

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


class Buffer(State):
    """A `bytearray` or an `array.array`.

    Args:
        values: it.
        room: for its copy.
        free: bytes that may be taken.
    """

    def __init__(self, values: Any, room: CopyBudget, free: Callable[[], int]) -> None:
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


class DonatedArray(State):
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

    def again(self) -> "DonatedArray":
        """The same."""
        return self


class GeneratorState(State):
    """A generator of random numbers.

    Args:
        read: gives its state.
        write: sets it.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], object]) -> None:
        self._read, self._write, self._before = read, write, read()

    @classmethod
    def of_python(cls, source: random.Random) -> "GeneratorState":
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

    def again(self) -> "GeneratorState":
        """Its state now."""
        return GeneratorState(self._read, self._write)


def all_same(now: Iterable[Any], before: Iterable[Any]) -> bool:
    """Whether values are the same objects, or equal numbers or strings."""
    now, before = [*now], [*before]
    return are_identical(now, before) or (
        len(now) == len(before)
        and all(
            a is b or (type(a) is type(b) and is_exactly(a, *_NUMBERS) and a == b)
            for a, b in zip(now, before, strict=True)
        )
    )


def are_identical(values: list[Any], others: list[Any]) -> bool:
    """Whether values are the same objects."""
    return len(values) == len(others) and all(map(operator.is_, values, others))
