"""What calls change of NumPy's: the numbers of arrays, and generators."""

import math
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ipyjaxbench.frameworks import (
    CopyBudget,
    GeneratorState,
    MutableState,
    Restore,
    State,
    attribute_states,
)
from ipyjaxbench.host import filter_by_type, host_memory

_PAGE = 4096  # bytes


class Numbers(State):
    """The numbers of an array that owns its memory.

    Args:
        array: any dtype.
        room: for a copy.
    """

    def __init__(self, array: Any, room: CopyBudget) -> None:
        # No view is kept: `resize` moves the memory, and a view would go on with the old one.
        self._array, self._room, self.owner = array, room, array
        self.nbytes = array.nbytes
        self.can_restore = room.take("host", self.nbytes, host_memory)
        self._digest: Any = None
        if self.can_restore:
            self._before = self._now.copy(order="K")
        else:
            self._digest = _digest(self._now)

    @property
    def _now(self) -> Any:
        """The array without what a class of its own adds."""
        return np.ndarray.view(self._array, np.ndarray)

    @property
    def parts(self) -> list[Any]:
        """The objects in it, where it holds objects."""
        if not self.can_restore or self._before.dtype != np.dtype(object):
            return []
        found: list[Any] = self._before.ravel().tolist()
        return found

    def changed(self) -> bool:
        """Whether a bit or the shape differs."""
        now = self._now
        if not self.can_restore:
            return bool(self._digest != _digest(now))
        if now.shape != self._before.shape:
            return True
        if now.dtype.hasobject:
            return [*map(id, now.flat)] != [*map(id, self._before.flat)]
        return not np.array_equal(_bits(now), _bits(self._before))

    def restore(self) -> None:
        """Write the old numbers, in the old shape."""
        if self._now.shape != self._before.shape:
            np.ndarray.resize(self._array, self._before.shape, refcheck=False)
        np.copyto(self._now, self._before, casting="no")

    def again(self) -> "Numbers":
        """The numbers now."""
        return Numbers(self._array, self._room)


class Form(State):
    """The shape of an array, and whether it may be written.

    Args:
        array: it, or a view.
    """

    def __init__(self, array: Any) -> None:
        self._array = array
        self._before = array.shape, array.flags.writeable

    def changed(self) -> bool:
        """Whether one is another now."""
        return bool((self._array.shape, self._array.flags.writeable) != self._before)

    def restore(self) -> None:
        """Set the old ones; an array of another size gets its shape with its numbers."""
        array, (shape, writeable) = self._array, self._before
        if array.flags.writeable != writeable:
            array.flags.writeable = writeable
        if array.shape != shape and array.size == math.prod(shape):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy would rather have a new array
                array.shape = shape

    def again(self) -> "Form":
        """As it is now."""
        return Form(self._array)


def states(value: Any, room: CopyBudget) -> list[State] | None:
    """What calls can change of an array or a generator of NumPy's.

    Args:
        value: anything.
        room: for copies.

    Returns:
        Nothing for what never changes; None for what is none of NumPy's.
    """
    kind = type(value)
    if issubclass(kind, np.generic | np.dtype | np.ufunc):
        return []
    if issubclass(kind, np.ndarray):
        return [*_of_array(value, room)]
    random: Any = sys.modules.get("numpy.random")  # it is loaded on demand: leave it so
    if random is not None and issubclass(kind, random.Generator):
        value = value.bit_generator
        kind = type(value)
    if random is not None and issubclass(kind, random.BitGenerator):
        return [GeneratorState(lambda: value.state, lambda state: setattr(value, "state", state))]
    if random is not None and issubclass(kind, random.RandomState):
        return [GeneratorState(lambda: value.get_state(legacy=False), value.set_state)]
    return None


def owner(array: Any) -> Any:
    """The array whose memory it looks into: itself, where it is a view of none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _of_array(array: Any, room: CopyBudget) -> Iterator[State]:
    own = owner(array)
    yield Form(array)
    if (own.flags.writeable or array.flags.writeable) and room.is_new(own):
        yield Numbers(own, room)
    yield from attribute_states(array)  # of a class of its own


def _bits(array: Any) -> Any:
    """The memory of an array as whole numbers."""
    flat = array.ravel(order="K")
    return flat.view(np.uint64 if flat.nbytes % 8 == 0 and flat.itemsize % 8 == 0 else np.uint8)


def _digest(array: Any) -> int:
    """A number that differs where the bits do, but for words that change places within a page."""
    try:
        octets = array.ravel(order="K").view(np.uint8)
    except (TypeError, ValueError):  # it holds objects
        return 0
    whole = len(octets) // _PAGE * _PAGE
    pages = octets[:whole].view(np.uint64).reshape(-1, _PAGE // 8)
    # Sums are read as fast as memory is; a checksum of every byte takes a second for a gigabyte.
    return zlib.crc32(octets[whole:], zlib.crc32(pages.sum(axis=1)))


class NumPyState(MutableState):
    """Numbers of arrays and generators, and blocks of pandas's, which hold arrays."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:  # noqa: ARG002
        """The legacy global state, and that of generators among the values."""
        if "numpy.random" not in sys.modules:  # it is loaded on demand: leave it so
            return None
        shared = np.random.get_state(legacy=False)
        own = filter_by_type(values, np.random.Generator, np.random.BitGenerator)
        bits = [g.bit_generator if isinstance(g, np.random.Generator) else g for g in own]
        states = [bit.state for bit in bits]
        legacy = filter_by_type(values, np.random.RandomState)
        legacy_states = [generator.get_state(legacy=False) for generator in legacy]

        def restore() -> None:
            np.random.set_state(shared)
            for bit, state in zip(bits, states, strict=True):
                bit.state = state
            for generator, before in zip(legacy, legacy_states, strict=True):
                generator.set_state(before)

        return restore

    def states(self, value: object, room: CopyBudget) -> Sequence[State] | None:
        """The numbers of arrays, and generators; blocks of pandas's, which hold arrays."""
        found = states(value, room)
        if found is not None or "pandas" not in sys.modules:
            return found
        from ipyjaxbench.adapters.numpy import pandas_state  # where it is in use

        return pandas_state.states(value)

    def changes_in_place(self, method: str) -> bool:
        """Those that give back nothing."""
        return method in ("sort", "partition", "fill", "put", "itemset", "resize")
