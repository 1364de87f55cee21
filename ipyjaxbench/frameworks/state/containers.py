"""What containers hold and names stand for, kept so that it can be put back."""

import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

from ipyjaxbench.frameworks.state import mappings
from ipyjaxbench.frameworks.state.undo import State, all_same, are_identical
from ipyjaxbench.usercode import has_attributes, slots_of

_MISSING: Any = object()  # what stands where there was nothing


class Items(State):
    """A list, a set or a deque, also of a class of the user's.

    Args:
        values: the container.
    """

    def __init__(self, values: Any) -> None:
        self._values = values
        # The methods of Python's own class: those of others may do more than that.
        self._kind: Any = next(k for k in (list, set, deque) if issubclass(type(values), k))
        self._before: list[Any] = [*self._kind.__iter__(values)]

    @property
    def parts(self) -> list[Any]:
        """Its items."""
        return self._before

    def changed(self) -> bool:
        """Whether it has other items."""
        if self._kind.__len__(self._values) != len(self._before):
            return True
        if self._kind is set:  # by identity: their own equality may be any code
            return {*map(id, self._kind.__iter__(self._values))} != {*map(id, self._before)}
        now = self._kind.__iter__(self._values)
        return not all(map(operator.is_, now, self._before)) and not all_same(
            self._kind.__iter__(self._values), self._before
        )

    def restore(self) -> None:
        """Have it hold these items in this order."""
        if self._kind is list:  # which keeps the memory that it has, as clearing it would not
            list.__setitem__(self._values, slice(None), self._before)
            return
        self._kind.clear(self._values)
        (self._kind.update if self._kind is set else self._kind.extend)(self._values, self._before)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Items."""
        self._before = [*map(swap, self._before)]

    def again(self) -> "Items":
        """Its items now."""
        return Items(self._values)


class Entries(State):
    """A dictionary of any class.

    Args:
        values: the dictionary.
    """

    def __init__(self, values: Any) -> None:
        self._values = values
        self._kind = self._kind_of(values)
        self._before = self._now()

    @staticmethod
    def _kind_of(values: Any) -> Any:
        return OrderedDict if issubclass(type(values), OrderedDict) else dict

    @property
    def parts(self) -> list[Any]:
        """Its keys and values."""
        keys, values = self._before
        return [*keys, *values]

    def changed(self) -> bool:
        """Whether it has other keys, values, or another order."""
        return not all(map(all_same, self._now(), self._before))

    def restore(self) -> None:
        """Have it hold these entries, in this order."""
        (keys, values), (old_keys, old_values) = self._now(), self._before
        if not are_identical(keys, old_keys):
            known = {*map(id, old_keys)}
            stay = [key for key in keys if id(key) in known]
            if not are_identical(stay, old_keys):  # for the order all have to go
                known.clear()
            for key in [key for key in keys if id(key) not in known]:
                self._kind.__delitem__(self._values, key)
            found = [v for k, v in zip(keys, values, strict=True) if id(k) in known]
            values = found or [_MISSING] * len(old_values)
        for key, value, old in zip(old_keys, values, old_values, strict=True):
            if value is not old:
                self._kind.__setitem__(self._values, key, old)

    def replace(self, swap: Callable[[Any], Any]) -> None:
        """Values."""
        keys, values = self._before
        self._before = keys, [*map(swap, values)]

    def again(self) -> "Entries":
        """Its entries now."""
        return type(self)(self._values)

    def _now(self) -> tuple[list[Any], list[Any]]:
        # Two lists: a dictionary of the entries would ask the keys for their hashes.
        return [*self._kind.keys(self._values)], [*self._kind.values(self._values)]


class Names(Entries):
    """A place where values stand by name: attributes, globals, what a function closes over.

    Args:
        values: it.
    """

    @staticmethod
    def _kind_of(values: Any) -> Any:
        return type(values)

    @property
    def parts(self) -> list[Any]:
        """The values."""
        return self._before[1]

    @property
    def named(self) -> Iterator[tuple[str, Any]]:
        """Names and values."""
        return zip(*self._before, strict=True)

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Each name that stands for something else now, or for nothing, and for what."""
        before, now = dict(self.named), self._values.read()
        for name in {**before, **now}:
            if not all_same([now.get(name, _MISSING)], [before.get(name, _MISSING)]):
                yield name, [now[name]] if name in now else []

    def _now(self) -> tuple[list[Any], list[Any]]:
        found = self._values.read()
        return [*found], [*found.values()]


def attribute_states(value: object) -> Iterator[Names]:
    """Attributes of an object, in its dictionary and in slots.

    Args:
        value: the object; no code of it is run.
    """
    if has_attributes(value):
        yield Names(mappings.AttributeNames(value))
    members = slots_of(type(value))
    if members:
        yield Names(mappings.SlotNames(value, members))
