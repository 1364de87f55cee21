"""What calls change of NumPy's: the numbers of arrays, and generators."""

import gc
import itertools
import math
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from ipyjaxbench.frameworks import (
    CopiedState,
    CopyBudget,
    GeneratorState,
    Holder,
    MutableState,
    NamedSettings,
    Restore,
    Setting,
    State,
    attribute_states,
    is_shared_memory,
    position_states,
    restore_together,
)
from ipyjaxbench.host import filter_by_type
from ipyjaxbench.usercode import is_of

_PAGE_BYTES = 4096


class Numbers(CopiedState):
    """The numbers of an array that owns its memory."""

    def __init__(self, array: Any, budget: CopyBudget) -> None:
        self.owner = array
        self.is_shared = is_shared_memory(array.base)
        super().__init__(array, budget, array.nbytes)

    @property
    def address(self) -> int:
        """Where the numbers begin; 0 where there are none."""
        return int(self._now.ctypes.data) if self.nbytes else 0

    @property
    def _now(self) -> Any:
        """The array without what a class of its own adds."""
        # No view is kept: `resize` moves the memory, and a view would go on with the old one.
        return np.ndarray.view(self._target, np.ndarray)

    def _copy(self) -> Any:
        return self._now.copy(order="K")

    def _digest(self) -> int:
        """A number that differs where bits do, but for words that change places within a page."""
        now = self._now
        if now.dtype.kind == "T":
            return hash(tuple(now.ravel().tolist()))
        if now.dtype.hasobject:
            return 0 if now.dtype.names else hash(tuple(map(id, now.flat)))
        octets = now.ravel(order="K").view(np.uint8)
        whole = len(octets) // _PAGE_BYTES * _PAGE_BYTES
        pages = octets[:whole].view(np.uint64).reshape(-1, _PAGE_BYTES // 8)
        # Sums are read as fast as memory is; a checksum of every byte takes a second for a
        # gigabyte.
        return zlib.crc32(octets[whole:], zlib.crc32(pages.sum(axis=1)))

    @property
    def parts(self) -> list[Any]:
        """The objects in it, where it holds objects."""
        if not self.can_restore or self._before.dtype != np.dtype(object):
            return []
        objects: list[Any] = self._before.ravel().tolist()
        return objects

    def _differs(self) -> bool:
        """Whether a bit or the shape differs."""
        now = self._now
        if now.shape != self._before.shape:
            return True
        if now.dtype.kind == "T":  # text of any length, which lies elsewhere
            return bool(now.tolist() != self._before.tolist())
        if now.dtype.hasobject:
            return [*map(id, now.flat)] != [*map(id, self._before.flat)]
        return not np.array_equal(_bits(now), _bits(self._before))

    def restore(self) -> None:
        """Write the old numbers, in the old shape, also where the code writes them protected."""
        flags = self._target.flags
        if is_protected := not flags.writeable:
            flags.writeable = True
        try:
            if self._now.shape != self._before.shape:
                np.ndarray.resize(self._target, self._before.shape, refcheck=False)
            np.copyto(self._now, self._before, casting="no")
        finally:
            if is_protected:
                flags.writeable = False


class Form(State):
    """The shape and the dtype of an array or a view, and whether it may be written."""

    def _read(self) -> list[Any]:
        return [self._target.flags.writeable, self._target.dtype, *self._target.shape]

    def restore(self) -> None:
        """Set the old ones; an array of another size gets its shape with its numbers."""
        array, (writeable, dtype, *shape) = self._target, self._before
        if array.flags.writeable != writeable:
            array.flags.writeable = writeable
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy would rather have a new array
            if array.dtype is not dtype:
                array.dtype = dtype
            if array.shape != tuple(shape) and array.size == math.prod(shape):
                array.shape = tuple(shape)


def states(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return what calls can change of a value of NumPy's, () where nothing; None of others."""
    kind = type(value)
    if issubclass(kind, np.dtype) and value.names is not None:
        return [_field_names(value)]
    if (held := _held_by(value)) is not None:
        return [Holder(value, held)] if held else []
    if issubclass(kind, np.generic | np.dtype):
        return []
    if issubclass(kind, np.ndarray):
        return [*_array_states(value, budget)]
    random: Any = sys.modules.get("numpy.random")  # it is loaded on demand: leave it so
    if random is not None and issubclass(kind, random.SeedSequence):
        return [Setting(lambda: [value.n_children_spawned], None)]
    if random is not None and issubclass(kind, random.Generator):
        value = value.bit_generator
        kind = type(value)
    if random is not None and issubclass(kind, random.BitGenerator):
        put = GeneratorState(lambda: value.state, lambda state: setattr(value, "state", state))
        return [put, Holder(value, [value.seed_seq])] if hasattr(value, "seed_seq") else [put]
    if random is not None and issubclass(kind, random.RandomState):
        return [GeneratorState(lambda: value.get_state(legacy=False), value.set_state)]
    return None


def _held_by(value: Any) -> list[Any] | None:
    """Return arrays that an iterator writes, or what a function calls; None of other values."""
    kind = type(value)
    if issubclass(kind, np.ufunc):  # one of `np.frompyfunc` calls a function of the user's
        return [each for each in gc.get_referents(value) if callable(each)]
    if issubclass(kind, np.flatiter):
        return [value.base]
    return [*value.operands] if issubclass(kind, np.nditer) else None


def moving_states(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return what calls change of numbers, iterators, files and generators; None of others."""
    found = position_states(value, budget)
    if found is None:
        found = states(value, budget)
    if found is None and is_of(value, Random):
        found = [GeneratorState.from_random(value)]
    return found


def owner(array: Any) -> Any:
    """Return the array whose memory an array looks into: itself, where it is a view of none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _array_states(array: Any, budget: CopyBudget) -> Iterator[State]:
    own = owner(array)
    yield Form(array)
    if array.dtype.names is not None:
        yield _field_names(array.dtype)
    # What owns its memory can be made writable, and protected again.
    may_change = own.flags.writeable or array.flags.writeable or own.flags.owndata
    if may_change and budget.is_new(own):
        yield Numbers(own, budget)
    yield from attribute_states(array)  # of a class of its own


def _field_names(dtype: Any) -> Setting:
    """Return what a dtype calls its fields."""
    return Setting(lambda: [*dtype.names], lambda names: setattr(dtype, "names", names))


def _bits(array: Any) -> Any:
    """Return the memory of an array as whole numbers."""
    flat = array.ravel(order="K")
    return flat.view(np.uint64 if flat.nbytes % 8 == 0 and flat.itemsize % 8 == 0 else np.uint8)


class NumPyState(MutableState):
    """Numbers of arrays and generators, and blocks of pandas's, which hold arrays."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:  # noqa: ARG002
        """Remember the legacy global state, and that of generators among the values."""
        random: Any = sys.modules.get("numpy.random")
        if random is None:  # it is loaded on demand: leave it so
            return None
        kinds = random.Generator, random.BitGenerator, random.RandomState
        own = [states(each, CopyBudget()) or () for each in filter_by_type(values, *kinds)]
        shared = GeneratorState(lambda: random.get_state(legacy=False), random.set_state)
        return restore_together([shared, *itertools.chain(*own)])

    def states(self, value: object, budget: CopyBudget) -> Sequence[State] | None:
        """Remember numbers of arrays, generators, and blocks of pandas's."""
        found = states(value, budget)
        if found is None and "h5py" in sys.modules:
            from ipyjaxbench.adapters.numpy import hdf5_state  # where it is in use

            found = hdf5_state.states(value, budget)
        if found is not None or "pandas" not in sys.modules:
            return found
        from ipyjaxbench.adapters.numpy import pandas_state  # where it is in use

        return pandas_state.states(value)

    def settings(self) -> Iterator[tuple[str, State]]:
        """Remember how arrays are printed, and what happens at errors of floating point."""
        yield "np.get_printoptions()", NamedSettings(np.get_printoptions, np.set_printoptions)
        yield "np.geterr()", NamedSettings(np.geterr, np.seterr)
        yield "np.geterrcall()", Setting(lambda: [np.geterrcall()], lambda v: np.seterrcall(*v))
        yield "np.getbufsize()", Setting(lambda: [np.getbufsize()], lambda v: np.setbufsize(*v))

    def changes_in_place(self, method: str) -> bool:
        """Whether it is one of those that give back nothing."""
        return method in ("sort", "partition", "fill", "put", "itemset", "resize")
