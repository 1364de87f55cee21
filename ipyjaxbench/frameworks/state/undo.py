"""What calls change in place, kept as it is now so that it can be put back."""

import _random
import copy
import math
import operator
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from ipyjaxbench.usercode import is_exactly

_NUMBERS = (bool, int, float, complex, str, bytes)


class State:
    """What one object holds; this one never changes.

    Args:
        target: the object.

    Attributes:
        nbytes: of the copy, where numbers were copied.
        can_restore: whether there is one, so that it can be put back.
        owner: of the memory, where several objects share it; None where none does.
        is_shared: whether other processes can have the same memory.
        is_seen: whether all of it shows; else to use the object may change it.
        is_read: whether it was small enough to be read; else nothing tells a change of it.
        goes_first: whether it is put back before the others, which hold what it is about.
        data_bytes: copies of what it leads to may take as many, and others are but looked at.
    """

    nbytes = 0
    can_restore = True
    owner: object = None
    is_shared = False
    is_seen = True
    is_read = True
    goes_first = False
    data_bytes = math.inf

    def __init__(self, target: Any) -> None:
        self._target = target
        self._before: Any = self._read()

    def _read(self) -> Any:
        """Return what the object holds now."""
        return ()

    @property
    def address(self) -> int:
        """Where the memory is, which objects of another kind may have too; 0 where not known."""
        return 0

    @property
    def parts(self) -> Iterable[object]:
        """What it holds, which may change in place as well."""
        return ()

    def changed(self) -> bool:
        """Whether the object holds something else now."""
        return not all_same(self._read(), self._before)

    def restore(self) -> None:
        """Put back what it held."""

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Have other objects put back in the place of some.

        Args:
            swap: gives for an object the one to be put back.
        """

    def again(self) -> Self:
        """Return the same object as it is at this moment."""
        now = copy.copy(self)
        now._before = now._read()
        return now

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield each name that stands for something else now ("" for all of it), and what came."""
        if self.changed():
            known = {*map(id, self.parts)}
            yield "", [each for each in self.again().parts if id(each) not in known]


class Held(NamedTuple):
    """What one object holds."""

    name: str  # of the user's variable by which the code reaches it first
    state: State  # what it holds
    key: int  # of the object, by which others that reach it know it


class DonatedArray(State):
    """An array that never changes, and that a call may give away: what holds it gets the copy.

    Args:
        array: it.
        copy: with memory of its own.
        is_gone: whether the array was given away.
    """

    def __init__(self, array: Any, copy: Any, is_gone: Callable[[], bool]) -> None:
        super().__init__(array)
        self.array, self.copy, self.is_gone = array, copy, is_gone
        self.nbytes = int(array.nbytes)


class GivenAway(State):
    """An array that a call may give away, and of which there was no memory for a copy.

    Args:
        array: it.
        is_gone: whether it was given away.
    """

    can_restore = False

    def __init__(self, array: Any, is_gone: Callable[[], bool]) -> None:
        super().__init__(array)
        self._is_gone = is_gone

    def changed(self) -> bool:
        """Whether it was given away."""
        return self._is_gone()


class Setting(State):
    """Something that is read and set by functions.

    Args:
        read: gives numbers and objects.
        write: sets them; None where they cannot be set.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], object] | None) -> None:
        self._get, self._set = read, write
        self.can_restore = write is not None
        super().__init__(None)

    def _read(self) -> Any:
        return self._get()

    def restore(self) -> None:
        """Set the old ones."""
        if self._set is not None:
            self._set(self._before)


class Contents(Setting):
    """Objects that are read and set by functions, of something that holds them."""

    @property
    def parts(self) -> Iterable[object]:
        """What it holds."""
        held: list[object] = self._before
        return held


class Unseen(State):
    """Something that each use may change, and that nothing shows, as random numbers in a kernel."""

    can_restore = is_seen = False


class TooLarge(State):
    """Something of which not all was looked at: there is too much of it."""

    is_read = False


class Holder(State):
    """Something that holds others and never changes by itself."""

    def __init__(self, target: Any, held: Iterable[object]) -> None:
        self._held = [*held]
        super().__init__(target)

    @property
    def parts(self) -> Iterable[object]:
        """What it holds."""
        return self._held


class NamedSettings(Setting):
    """Several settings that one function reads and another sets.

    Args:
        read: gives them by name.
        write: takes them as keyword arguments.
    """

    def __init__(self, read: Callable[[], Mapping[str, Any]], write: Callable[..., object]) -> None:
        def items() -> list[Any]:
            found = read()
            return [*found, *found.values()]

        def set_all(found: list[Any]) -> None:
            half = len(found) // 2
            write(**dict(zip(found[:half], found[half:], strict=True)))

        super().__init__(items, set_all)


class GeneratorState(Setting):
    """The state of a generator of random numbers: it is put back, whether a number was drawn."""

    @classmethod
    def from_random(cls, source: _random.Random) -> "GeneratorState":
        """Return that of `random.Random`, or of the class in C below it, by its own methods."""
        own: Any = random.Random if issubclass(type(source), random.Random) else _random.Random
        return cls(lambda: own.getstate(source), lambda state: own.setstate(source, state))

    def changed(self) -> bool:
        """Never: a number may be drawn in each call, and is put back anyway."""
        return False

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield one where a number was drawn."""
        now = self._read()
        try:
            is_drawn = bool(now != self._before)
        except ValueError:  # arrays of NumPy have no answer
            is_drawn = repr(now) != repr(self._before)
        if is_drawn:
            yield "", []


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
