"""Captured values: what tells them apart, though each is made anew, and what they say."""

import reprlib
from itertools import chain
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import is_exactly, token

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (dict, list, tuple, set, frozenset)
_MOST_PARTS = 1_000  # values: containers of more are told apart as objects
_FEW = 100  # of the parts of a container: more than are shown
_MOST_CHARACTERS = 10_000  # of one of them


def value_token(value: Any) -> int:
    """Return a number that equal values share, where their class says what equal is.

    Example:
        >>> value_token({"rate": [1.0]}) == value_token({"rate": [1.0]})
        True
    """
    if _is_plain(value):
        return hash(repr(value))
    kind: Any = type(value)
    try:
        is_by_value = kind.__hash__ is not None and kind.__hash__ is not object.__hash__
        return hash(value) if is_by_value else token(value)
    except CODE_ERRORS:  # the object may raise anything
        return token(value)


def _is_plain(value: Any) -> bool:
    """Whether there are only numbers and texts in it, and few; one that holds itself has many."""
    left, seen = [value], 0
    while left:
        each = left.pop()
        seen += 1
        if is_exactly(each, *_CONTAINERS):
            if seen + len(each) > _MOST_PARTS:
                return False
            left += chain.from_iterable(each.items()) if isinstance(each, dict) else each
        elif not is_exactly(each, *_PLAIN):
            return False
    return True


def words_of(value: Any) -> str:
    """Return the text of a value; of large containers only what begins it."""
    if not is_exactly(value, *_CONTAINERS):
        return repr(value)
    few = reprlib.Repr()
    few.maxdict = few.maxlist = few.maxtuple = few.maxset = few.maxfrozenset = _FEW
    few.maxstring = few.maxlong = few.maxother = _MOST_CHARACTERS
    return few.repr(value)
