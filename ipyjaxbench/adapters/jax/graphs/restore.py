"""What user code can change outside of itself: how that is seen, and how it is undone."""

import io
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

import numpy as np

from ipyjaxbench.usercode import objects

_NOTHING = object()  # what stands where there was nothing
_LARGEST = 2**20  # bytes of an array of NumPy that is copied
#: Numbers are drawn from these.
_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)


@dataclass(frozen=True)
class Change:
    """Something that is not as it was.

    Attributes:
        name: as the code says it.
        undo: puts it back; None where that cannot be.
        new: what came in.
        drawn: whether a random number was drawn.
    """

    name: str
    undo: Callable[[], object] | None
    new: Any = None
    drawn: bool = False


class Names:
    """Names that stand for values: globals, attributes, what a function closes over.

    Args:
        prefix: what stands before each name, as "self.".
        names: the names and their values.
        used: those that are looked at; None for all.
        owner: the class that they are attributes of.
    """

    def __init__(
        self,
        prefix: str,
        names: Mapping[str, Any],
        used: Iterable[str] | None = None,
        owner: type | None = None,
    ) -> None:
        self.prefix, self._names, self._used, self._owner = prefix, names, used, owner
        self.before = self._now()

    def changes(self) -> Iterator[Change]:
        """Each name that is new, gone, or stands for something else."""
        now = self._now()
        for name in {**self.before, **now}:
            old, new = self.before.get(name, _NOTHING), now.get(name, _NOTHING)
            if old is not new:
                yield Change(self.prefix + name, self._setter(name, old), new)

    def _now(self) -> dict[str, Any]:
        if self._used is None:
            return dict(self._names.items())
        return {name: self._names[name] for name in self._used if name in self._names}

    def _setter(self, name: str, old: Any) -> Callable[[], None]:
        def undo() -> None:
            names: Any = self._names
            if self._owner is not None:
                delattr(self._owner, name) if old is _NOTHING else setattr(self._owner, name, old)
            elif old is _NOTHING:
                del names[name]
            else:
                names[name] = old

        return undo


class Values:
    """A list, a dictionary, a set or a deque."""

    def __init__(self, name: str, values: Any) -> None:
        self._name, self._values = name, values
        self._before = _items(values)
        self._copied = values.copy()

    def changes(self) -> Iterator[Change]:
        """One where it holds something else."""
        now = _items(self._values)
        if [*map(id, now)] != [*map(id, self._before)]:
            known = {id(each) for each in self._before}
            yield Change(self._name, self._undo, [each for each in now if id(each) not in known])

    def _undo(self) -> None:
        self._values.clear()
        if isinstance(self._values, dict | set):
            self._values.update(self._copied)
        else:
            self._values.extend(self._copied)


class Numbers:
    """An array of NumPy, whose numbers can be written over; one that is large is not looked at."""

    def __init__(self, name: str, array: np.ndarray) -> None:
        self._name, self._array = name, array
        is_small = array.nbytes <= _LARGEST and array.dtype.kind != "O"
        self._before = array.copy() if is_small else None

    def changes(self) -> Iterator[Change]:
        """One where it holds other numbers."""
        before, array = self._before, self._array
        if before is not None and before.tobytes() != array.tobytes():
            yield Change(self._name, lambda: np.copyto(array, before))


class Source:
    """What gives something else each time: an iterator, a file, a random generator."""

    def __init__(self, name: str, source: Any) -> None:
        self._name, self._source = name, source
        self._before = _position(source)
        self._undo = _rewinder(source, self._before)

    def changes(self) -> Iterator[Change]:
        """One where something was taken from it."""
        if self._before is not None and _position(self._source) != self._before:
            is_drawn = isinstance(self._source, _GENERATORS)
            yield Change(self._name, self._undo, drawn=is_drawn)


def _rewinder(source: Any, before: Any) -> Callable[[], object] | None:
    """What puts it back; None for an iterator, which goes one way, and for what was written."""
    match source:
        case random.Random():
            return lambda: source.setstate(before)
        case np.random.Generator():
            state = _state(source)
            return lambda: setattr(source.bit_generator, "state", state)
        case np.random.RandomState():
            state = _state(source)
            return lambda: source.set_state(state)
        case io.IOBase() if not source.closed and not source.writable():
            return lambda: source.seek(before)
    return None


def is_source(value: object) -> bool:
    """Whether something gives something else each time."""
    return objects.is_of(value, io.IOBase, *_GENERATORS) or _is_iterator(value)


def _is_iterator(value: object) -> bool:
    """Whether something is an iterator of Python's, or a generator."""
    is_pythons = objects.module_of(type(value)) in ("builtins", "itertools")
    return is_pythons and objects.is_of(value, Iterator)


def _position(source: Any) -> Any:
    """How far something was read; None where that cannot be told."""
    try:
        match source:
            case random.Random():
                return source.getstate()
            case np.random.Generator() | np.random.RandomState():
                return repr(_state(source))
            case io.IOBase():
                return source.tell()
            case GeneratorType():
                frame = source.gi_frame
                return (frame.f_lasti, [*map(id, frame.f_locals.values())]) if frame else "ended"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python is about to take this from its iterators
            return _parts(source.__reduce__())
    except Exception:  # noqa: BLE001  a closed file, an iterator that tells nothing
        return None


def _parts(value: Any) -> Any:
    """What an iterator is made of, and how far each iterator in it is."""
    if isinstance(value, tuple):
        return [*map(_parts, value)]
    if _is_iterator(value):
        return _position(value)
    if isinstance(value, list):  # that of a dictionary's iterator is made anew
        return len(value)
    return value if isinstance(value, int | range) else id(value)


def _state(source: Any) -> Any:
    generator = isinstance(source, np.random.Generator)
    return source.bit_generator.state if generator else source.get_state(legacy=False)


def _items(values: Any) -> list[Any]:
    return [*values, *values.values()] if isinstance(values, dict) else [*values]
