"""What lists, sets, deques and dictionaries hold, kept so that it can be put back."""

import operator
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from ipyjaxbench.frameworks.state.undo import State, all_same, are_identical

_MISSING: Any = object()  # what stands where there was nothing


class Items(State):
    """The items of a list, a set or a deque, also of a class of the user's."""

    def __init__(self, values: Any) -> None:
        # The methods of Python's own class: those of others may do more than that.
        self._kind: Any = next(k for k in (list, set, deque) if issubclass(type(values), k))
        super().__init__(values)

    def _read(self) -> list[Any]:
        return [*self._kind.__iter__(self._target)]

    @property
    def parts(self) -> list[Any]:
        """The items."""
        items: list[Any] = self._before
        return items

    def changed(self) -> bool:
        """Whether it has other items."""
        if self._kind.__len__(self._target) != len(self._before):
            return True
        if self._kind is set:  # by identity: their own equality may be any code
            return {*map(id, self._kind.__iter__(self._target))} != {*map(id, self._before)}
        now = self._kind.__iter__(self._target)
        return not all(map(operator.is_, now, self._before)) and super().changed()

    def restore(self) -> None:
        """Have it hold these items in this order."""
        if self._kind is list:  # which keeps the memory that it has, as clearing it would not
            list.__setitem__(self._target, slice(None), self._before)
            return
        self._kind.clear(self._target)
        (self._kind.update if self._kind is set else self._kind.extend)(self._target, self._before)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Replace items."""
        self._before = [*map(swap, self._before)]


class KeyedState(State, ABC):
    """Values under keys, in their order."""

    @abstractmethod
    def _read(self) -> tuple[list[Any], list[Any]]:
        """Return the keys and the values now."""

    @abstractmethod
    def _set(self, key: Any, value: Any) -> None:
        """Have a key stand for a value."""

    @abstractmethod
    def _delete(self, key: Any) -> None:
        """Remove a key."""

    def changed(self) -> bool:
        """Whether there are other keys, values, or another order."""
        return not all(map(all_same, self._read(), self._before))

    def restore(self) -> None:
        """Put back these keys and values, in this order."""
        (keys, values), (old_keys, old_values) = self._read(), self._before
        if not are_identical(keys, old_keys):
            known = {*map(id, old_keys)}
            stay = [key for key in keys if id(key) in known]
            if not are_identical(stay, old_keys):  # for the order all have to go
                known.clear()
            for key in [key for key in keys if id(key) not in known]:
                self._delete(key)
            same = [v for k, v in zip(keys, values, strict=True) if id(k) in known]
            values = same or [_MISSING] * len(old_values)
        for key, value, old in zip(old_keys, values, old_values, strict=True):
            if value is not old:
                self._set(key, old)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Replace values."""
        keys, values = self._before
        self._before = keys, [*map(swap, values)]


class Entries(KeyedState):
    """The keys and values of a dictionary of any class, in their order."""

    def __init__(self, values: Any) -> None:
        self._kind: Any = OrderedDict if issubclass(type(values), OrderedDict) else dict
        super().__init__(values)

    def _read(self) -> tuple[list[Any], list[Any]]:
        # Two lists: a dictionary of the entries would ask the keys for their hashes.
        return [*self._kind.keys(self._target)], [*self._kind.values(self._target)]

    def _set(self, key: Any, value: Any) -> None:
        self._kind.__setitem__(self._target, key, value)

    def _delete(self, key: Any) -> None:
        self._kind.__delitem__(self._target, key)

    @property
    def parts(self) -> list[Any]:
        """Its keys and values."""
        keys, values = self._before
        return [*keys, *values]
