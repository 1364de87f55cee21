"""Places where values stand, as they are now, so that a change of them can be undone."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_NOTHING = object()  # what stands where there was nothing


class Change(NamedTuple):
    """Something that is no longer as it was.

    Attributes:
        name: of the place.
        undo: puts back what stood there.
        came: what stands there now and did not before.
    """

    name: str
    undo: Callable[[], None]
    came: list[Any]


class Names:
    """Names that stand for values: globals, attributes, what a function closes over.

    Args:
        prefix: stands before each name.
        names: they are looked at now.
        used: those that are looked at; None for all.
        owner: a class, whose names are set as attributes.
    """

    def __init__(
        self, prefix: str, names: Any, used: set[str] | None = None, owner: type | None = None
    ) -> None:
        self.prefix, self._names, self._used, self._owner = prefix, names, used, owner
        self.before = self._now()

    def changes(self) -> Iterator[Change]:
        """What has changed since."""
        now = self._now()
        for name in {**self.before, **now}:
            old, new = self.before.get(name, _NOTHING), now.get(name, _NOTHING)
            if old is not new:
                came = [] if new is _NOTHING else [new]
                yield Change(f"{self.prefix}{name}", self._setter(name, old), came)

    def _now(self) -> dict[str, Any]:
        return {n: v for n, v in self._names.items() if self._used is None or n in self._used}

    def _setter(self, name: str, old: Any) -> Callable[[], None]:
        def undo() -> None:
            if self._owner is not None:
                is_new = old is _NOTHING
                delattr(self._owner, name) if is_new else setattr(self._owner, name, old)
            elif old is _NOTHING:
                del self._names[name]
            else:
                self._names[name] = old

        return undo


class Items:
    """A list, a dictionary, a set or a deque.

    Args:
        name: what it is called.
        values: it is looked at now.
    """

    def __init__(self, name: str, values: Any) -> None:
        self._name, self._values = name, values
        self._before = self._now()

    def changes(self) -> Iterator[Change]:
        """What has changed since."""
        now = self._now()
        if [*map(id, now)] != [*map(id, self._before)]:
            known = {*map(id, self._before)}
            yield Change(self._name, self._undo, [v for v in now if id(v) not in known])

    def _now(self) -> list[Any]:
        values = self._values
        return [*values.keys(), *values.values()] if isinstance(values, dict) else [*values]

    def _undo(self) -> None:
        # Not through methods of the user's own, which may do more than that.
        kinds = (OrderedDict, dict, set, list)
        kind: Any = next((k for k in kinds if isinstance(self._values, k)), type(self._values))
        kind.clear(self._values)
        if isinstance(self._values, dict):
            half = len(self._before) // 2
            for key, value in zip(self._before[:half], self._before[half:], strict=True):
                kind.__setitem__(self._values, key, value)
        elif isinstance(self._values, set):
            kind.update(self._values, self._before)
        else:
            kind.extend(self._values, self._before)


class Cache:
    """What `functools.cache` or `lru_cache` keeps; it can only be emptied.

    Args:
        name: of the function.
        function: with its cache.
    """

    def __init__(self, name: str, function: Any) -> None:
        self._name, self._function = name, function
        self._before = function.cache_info().misses

    def changes(self) -> Iterator[Change]:
        """Whether it keeps more since."""
        if self._function.cache_info().misses != self._before:
            yield Change(self._name, self._function.cache_clear, [])


class Kind:
    """What an object is, which a few change by themselves.

    Args:
        name: of the object.
        value: it is looked at now.
    """

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value, self._before = name, value, type(value)

    def changes(self) -> Iterator[Change]:
        """Whether it is another one since."""
        if type(self._value) is not self._before:
            yield Change(self._name, self._undo, [])

    def _undo(self) -> None:
        self._value.__class__ = self._before
