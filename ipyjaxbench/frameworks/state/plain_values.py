"""Values that never change and hold nothing, and classes whose arrays are left out."""

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


class LeftOut:
    """Classes of arrays of a framework."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._asked: dict[int, tuple[type, bool]] = {}

    def has(self, kind: type) -> bool:
        """Whether a class is one of these."""
        if id(kind) not in self._asked:
            self._asked[id(kind)] = kind, ask(self._framework.owns, kind)
        return self._asked[id(kind)][1]
