"""Values that never change and hold nothing, and classes of arrays."""

from collections.abc import Sequence
from types import CodeType
from typing import cast

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.usercode import ask, is_exactly

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, CodeType)
#: Their classes, by identity: a metaclass may define equality.
ATOMS = frozenset(map(id, _PLAIN))
_MOST_ASKED = 1_000  # values: the others are like these


def are_plain(values: Sequence[object]) -> bool:
    """Whether the first of many values are plain ones, or tuples of these."""
    for each in values[:_MOST_ASKED]:
        if id(type(each)) not in ATOMS and not (
            is_exactly(each, tuple) and are_plain(cast(tuple[object], each))
        ):
            return False
    return True


class ArrayKinds:
    """Classes of arrays of some frameworks."""

    def __init__(self, *frameworks: Framework) -> None:
        self._frameworks = frameworks
        self._asked: dict[int, tuple[type, Framework | None]] = {}

    def framework_of(self, kind: type) -> Framework | None:
        """Return the framework whose arrays are of a class; None for other classes."""
        found = self._asked.get(id(kind))
        if found is None:
            owner = next((each for each in self._frameworks if ask(each.owns, kind)), None)
            found = self._asked[id(kind)] = kind, owner
        return found[1]
