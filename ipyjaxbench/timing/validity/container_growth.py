"""Containers that calls make longer: later calls find other work than the first one did."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench import stats
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import growth_notes
from ipyjaxbench.usercode import attributes

_SIZED = (list, dict, set, bytearray, deque)
_NO_HOLDERS = (str, bytes, int, float, type, ModuleType, FunctionType, BuiltinFunctionType,
               MethodType)  # fmt: skip
_MAX_ITEMS, _MAX_CONTAINERS = 100, 1_000
_MIN_CALLS_SHARE = 0.5  # between some calls what they changed is put back
#: Nanoseconds for each item of a call that goes over all of them, and the share that matters.
_NS_PER_ITEM, _MIN_SHARE = 20, 0.05
#: Of a series of samples: how ordered it is, and by how much its end is above its beginning.
_MIN_SAMPLES, _MIN_TREND, _MIN_RISE = 12, 0.7, 1.5


class Rise(NamedTuple):
    """Samples that rise: how ordered they are, and seconds per call at both ends."""

    order: float
    ends: tuple[float, float]


def find_rise(samples: Sequence[float]) -> Rise | None:
    """Return by how much the time of calls rises; None where it does not, or is not known."""
    if len(samples) < _MIN_SAMPLES or min(samples) <= 0:
        return None
    third, tenth = len(samples) // 3, max(len(samples) // 10, 3)
    order = stats.trend(samples)
    rise = stats.median(samples[-third:]) / stats.median(samples[:third])
    if order < _MIN_TREND or rise < _MIN_RISE:
        return None
    return Rise(order, (stats.median(samples[:tenth]), stats.median(samples[-tenth:])))


class ContainerGrowth:
    """Counts the items by which containers grow in stretches of calls.

    Args:
        values: what is the same in all calls, by name.
        made: returns what the set-up has made, by name, for the calls that come before the next
            time that it runs.
    """

    def __init__(
        self, values: Mapping[str, object], made: Callable[[], Mapping[str, object]]
    ) -> None:
        self._containers = dict(_find_containers(values))
        self._made = made
        self._first = {n: _length(value) for n, value in self._containers.items()}
        self._new = _lengths(made())
        self._longest = dict(self._first)
        self._begun = dict(self._first)
        self._grown = dict.fromkeys(self._first, 0)
        self._in_sample: dict[str, tuple[int, int]] = {}
        self._by_others: frozenset[int] = frozenset()

    def begin(self) -> None:
        """Leave out what changed since the last stretch: other code has done that."""
        self._begun = self._look()

    def end(self, calls: int) -> None:
        """Count what the stretch added; ``calls`` were made since the set-up ran."""
        now = self._look()
        for name, size in now.items():
            self._grown[name] += size - self._begun[name]
        self._begun = now
        for name, size in _lengths(self._made()).items():
            before = self._new.get(name, size)
            if _is_each_call(size - before, calls):
                _, most = self._in_sample.get(name, (before, before))
                self._in_sample[name] = before, max(size, most)

    def _look(self) -> dict[str, int]:
        now = {n: _length(value) for n, value in self._containers.items()}
        self._longest = {n: max(size, self._longest[n]) for n, size in now.items()}
        return now

    def growing(self, calls: int) -> frozenset[int]:
        """Return the containers that so many calls made longer, by their ``id``."""
        return frozenset(id(self._containers[n]) for n in self._first if self._is_own(n, calls))

    def _is_own(self, name: str, calls: int) -> bool:
        longer = self._longest[name] - self._first[name]
        return _is_each_call(min(self._grown[name], longer), calls)

    def add_others(self, grown: frozenset[int]) -> None:
        """Count in what other code, which is compared with this, makes longer."""
        self._by_others |= grown

    def notes(self, calls: int, samples: Sequence[float], rise: Rise | None) -> Iterator[Note]:
        """Note the first container that grew, where that may matter for the time."""
        matters = _MIN_SHARE * stats.median(samples) * 1e9 / _NS_PER_ITEM  # from so many items on
        for name, container in self._containers.items():
            sizes = self._first[name], self._longest[name]
            is_own = self._is_own(name, calls) and (rise is not None or sizes[1] >= matters)
            if is_own or id(container) in self._by_others:
                yield growth_notes.grows(name, sizes, rise and rise.ends)
                return
        for name, sizes in self._in_sample.items():
            yield growth_notes.grows(name, sizes, in_sample=True)
            return


def _is_each_call(grown: int, calls: int) -> bool:
    return grown >= _MIN_CALLS_SHARE * (calls - 1) > 0


def _lengths(values: Mapping[str, object]) -> dict[str, int]:
    return {name: _length(value) for name, value in _find_containers(values)}


def _length(container: Any) -> int:
    """Return how many items it holds; a method that its class has of the user's is not called."""
    return next(kind for kind in _SIZED if issubclass(type(container), kind)).__len__(container)


def _find_containers(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Containers of Python's own, those in attributes of plain objects, those in dictionaries."""
    found, seen = deque(_named(values)), set[int]()
    while found and len(seen) < _MAX_CONTAINERS:
        name, container = found.popleft()
        if id(container) in seen:
            continue
        seen.add(id(container))
        yield name, container
        items = dict.items(container) if issubclass(type(container), dict) else ()
        for key, held in list(islice(items, _MAX_ITEMS)):
            if type(key) in (str, int) and issubclass(type(held), _SIZED):
                found.append((f"{name}[{key!r}]", held))


def _named(values: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if issubclass(type(value), _SIZED):
            yield name, value
        elif value is not None and not issubclass(type(value), _NO_HOLDERS):
            for key, held in list(attributes(value).items())[:_MAX_ITEMS]:
                if issubclass(type(held), _SIZED):
                    yield f"{name}.{key}", held
