"""What calls change in place, kept as it is now so that it can be put back."""

import _random
import copy
import operator
import random
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.host import host_memory
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
    """

    nbytes = 0
    can_restore = True
    owner: object = None
    is_shared = False
    is_seen = True

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


class CopiedState(State, ABC):
    """Numbers of which a copy is made, where there is memory for it.

    Args:
        target: the object.
        budget: for copies.
        nbytes: of the copy.
    """

    def __init__(self, target: Any, budget: CopyBudget, nbytes: int) -> None:
        self._budget, self.nbytes = budget, nbytes
        self.can_restore = self._take(target)
        super().__init__(target)

    def _take(self, target: Any) -> bool:  # noqa: ARG002
        """Whether there is memory for the copy, which is taken."""
        return self._budget.take("host", self.nbytes, host_memory)

    def _read(self) -> Any:
        return self._copy() if self.can_restore else self._digest()

    @abstractmethod
    def _copy(self) -> Any:
        """Return a copy of the numbers."""

    def _digest(self) -> Any:
        """Return something small that differs where the numbers do, as far as that is possible."""
        return None

    @abstractmethod
    def _differs(self) -> bool:
        """Whether the numbers differ from those of the copy."""

    def changed(self) -> bool:
        """Whether the numbers are others now."""
        return self._differs() if self.can_restore else bool(self._digest() != self._before)

    def again(self) -> Self:
        """Return the same object as it is at this moment; its copy takes memory too."""
        return type(self)(self._target, self._budget)  # type: ignore[call-arg]


class Buffer(CopiedState):
    """The numbers of a `bytearray` or an `array.array`."""

    def __init__(self, values: Any, budget: CopyBudget) -> None:
        self._kind: Any = bytearray if issubclass(type(values), bytearray) else array
        super().__init__(values, budget, memoryview(values).nbytes)

    def _copy(self) -> Any:
        return self._kind.__getitem__(self._target, slice(None))

    def _digest(self) -> int:
        return len(self._target)

    def _differs(self) -> bool:
        return bytes(memoryview(self._target)) != bytes(memoryview(self._before))

    def restore(self) -> None:
        """Have it hold the old numbers."""
        self._kind.__setitem__(self._target, slice(None), self._before)


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
