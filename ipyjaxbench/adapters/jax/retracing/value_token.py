"""Tells captured values apart, and not those that are equal though each is made anew."""

from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import is_exactly, token

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


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
    """Whether there are only numbers and texts in it."""
    if is_exactly(value, dict):
        return all(_is_plain(each) for pair in value.items() for each in pair)
    if is_exactly(value, list, tuple, set, frozenset):
        return all(map(_is_plain, value))
    return is_exactly(value, *_PLAIN)
