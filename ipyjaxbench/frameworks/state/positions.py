"""How far iterators and files are: it is read, and nothing is taken from them."""

import gc
import io
import itertools
import operator
import sys
from collections.abc import Iterator
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
)
from typing import Any

from ipyjaxbench.frameworks.state.copies import CopiedState
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.streams import amounts
from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.usercode import is_exactly, is_of, is_shown, is_users_class, module_of

_GENERATORS = (GeneratorType, CoroutineType, AsyncGeneratorType)
_FRAMES = ("gi_frame", "cr_frame", "ag_frame")
_OF_FRAMES = (FrameType, CodeType, FunctionType)
_IN_LISTS: tuple[type, ...] = (type(iter([])), type(reversed([])))
_PYTHONS = ("builtins", "itertools", "collections", "_collections")
_FILES = (io.TextIOWrapper, io.BufferedReader, io.BufferedRandom, io.BufferedWriter, io.FileIO)
_DEPTH = 6


class Position(State):
    """How far an iterator of Python's own is, such as a generator; it cannot be put back."""

    can_restore = False

    def _read(self) -> list[Any]:
        return [*position_of(self._target)]


class FilePosition(State):
    """How far an open file is read or written; only one that is read alone is put back."""

    def __init__(self, file: Any) -> None:
        self.can_restore = not file.writable() and file.seekable()
        super().__init__(file)

    def _read(self) -> list[int]:
        it = self._target
        return [it.tell()] if it.seekable() else amounts(it.fileno())  # one of a pipe

    def restore(self) -> None:
        """Go back there."""
        self._target.seek(*self._before)


class Memory(CopiedState):
    """What an `io.StringIO` or `io.BytesIO` holds, and how far it is read or written."""

    def __init__(self, file: Any, budget: CopyBudget) -> None:
        self._kind = _base(file)
        super().__init__(file, budget, len(self._kind.__getstate__(file)[0]))

    def _copy(self) -> tuple[Any, ...]:
        state: tuple[Any, ...] = self._kind.__getstate__(self._target)
        return state[:-1]

    def _digest(self) -> tuple[int, int]:
        return hash(self._copy()[0]), self._kind.tell(self._target)

    def _differs(self) -> bool:
        return bool(self._copy() != self._before)

    def restore(self) -> None:
        """Have it hold the old text at the old place."""
        self._kind.__setstate__(self._target, (*self._before, None))


def _base(file: object) -> Any:
    return io.StringIO if is_of(file, io.StringIO) else io.BytesIO


def position_states(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return what calls move of an iterator or a file of Python's own; None for anything else."""
    if is_readable(value):
        return [Position(value)]
    if is_exactly(value, *_FILES):  # what is printed is shown, and kept by nobody
        is_output = value is sys.__stdout__ or value is sys.__stderr__
        return [] if is_output else [FilePosition(value)]
    return [Memory(value, budget)] if is_of(value, io.StringIO, io.BytesIO) else None


def is_readable(value: object) -> bool:
    """Whether it is an iterator of Python's own, which shows how far it is."""
    return is_exactly(value, *_GENERATORS) or (
        module_of(type(value)) in _PYTHONS and is_of(value, Iterator)
    )


def is_unreadable(value: object) -> bool:
    """Whether it is an iterator of a library, which does not show how far it is."""
    kind = type(value)
    if not is_of(value, Iterator) or is_readable(value) or is_users_class(kind):
        return False
    if module_of(kind) == "tempfile":  # what it holds is looked at
        return False
    if is_shown(value):  # streams are iterators, too
        return False
    return not is_exactly(value, *_FILES, io.StringIO, io.BytesIO)


def position_of(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """Yield numbers and objects; at least one differs once the iterator has moved."""
    # The values of a generator's names, without its frame. Some hold their class, too.
    held = [each for each in gc.get_referents(value) if each is not type(value)]
    if is_exactly(value, *_GENERATORS):
        frame = next(getattr(value, name) for name in _FRAMES if hasattr(value, name))
        yield -1 if frame is None else frame.f_lasti
        yield from (v for v in held if not is_exactly(v, *_OF_FRAMES))
    elif is_exactly(value, *_IN_LISTS):
        yield [*value.__reduce__(), -1][2]  # of a list that may grow meanwhile
    elif is_exactly(value, itertools.count):
        # It holds the next number, unless that is whole; to show any other may run its code.
        yield from [repr(value)] if all(is_exactly(v, int) for v in held) else held
    elif not is_of(value, tuple):
        yield operator.length_hint(value, -1)
    for each in held if depth else ():
        if is_readable(each) or is_exactly(each, tuple):
            yield from position_of(each, depth - 1)
        elif not is_exactly(value, *_GENERATORS):  # what `accumulate` and `product` gave last
            yield each if is_exactly(each, int, float) else id(each)
