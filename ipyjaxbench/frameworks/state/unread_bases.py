"""What a class of the user's takes over from one that is written in C, which nothing shows."""

import gc
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks.state.positions import is_readable, position_of
from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.usercode import (
    PerClass,
    attributes,
    dictionary_of,
    is_exactly,
    module_of,
    mro_of,
    name_of,
    slots,
    solid_base,
)

#: What never changes once it is made.
_IMMUTABLE = frozenset((
    ("builtins", "int"), ("builtins", "float"), ("builtins", "complex"),
    ("builtins", "str"), ("builtins", "bytes"), ("builtins", "tuple"), ("builtins", "frozenset"),
    ("builtins", "property"), ("builtins", "staticmethod"), ("builtins", "classmethod"),
    ("builtins", "super"), ("datetime", "date"), ("datetime", "time"), ("datetime", "timedelta"),
    ("datetime", "tzinfo"), ("decimal", "Decimal"), ("_struct", "Struct"),
))  # fmt: skip
_IS_UNREAD: PerClass[bool] = PerClass()


class UnreadBase(State):
    """What an object holds in memory of C's own: it is neither read nor put back.

    It has changed where anything of the object has: one method may change both.
    """

    can_restore = is_seen = False

    def _read(self) -> list[Any]:
        own = [*attributes(self._target).values(), *slots(self._target).values()]
        moved = [n for each in self._held(own) if is_readable(each) for n in position_of(each)]
        return [*own, *moved]

    @property
    def parts(self) -> list[Any]:
        """What it refers to, such as the iterators that a `map` takes from."""
        return self._held([*attributes(self._target).values(), *slots(self._target).values()])

    def _held(self, own: list[Any]) -> list[Any]:
        known = {*map(id, (*own, type(self._target), dictionary_of(self._target)))}
        held = [each for each in gc.get_referents(self._target) if id(each) not in known]
        tuples = [part for each in held if is_exactly(each, tuple) for part in each]
        return [*held, *tuples]


def unread_base(value: object) -> Iterator[UnreadBase]:
    """Yield what an object of the user's holds in memory that is not Python's, if it holds any."""
    kind = type(value)
    if (is_unread := _IS_UNREAD.get(kind)) is None:
        line = mro_of(solid_base(kind))[:-1]
        is_unread = bool(line) and not any((module_of(k), name_of(k)) in _IMMUTABLE for k in line)
        _IS_UNREAD.set(kind, is_unread)
    if is_unread:
        yield UnreadBase(value)
