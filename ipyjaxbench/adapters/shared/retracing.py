"""What the call watches of all frameworks have in common."""

import itertools
import weakref
from collections.abc import Iterable
from types import MethodType
from typing import Any

from ipyjaxbench import units

_VALUE_CHARACTERS = 40

_tokens: dict[int, tuple[Any, int]] = {}
_numbers = itertools.count(1)


def token(value: Any) -> int:
    """Return a number that tells objects apart for good; an `id` is used again by others."""
    if type(value) is MethodType:  # made anew each time that it is asked for
        return hash((token(value.__self__), token(value.__func__)))
    known = _tokens.get(id(value))
    if known is None or known[0]() is not value:
        try:
            known = _tokens[id(value)] = weakref.ref(value), next(_numbers)
        except TypeError:  # it cannot be referred to
            return id(value)
    return known[1]


def shorten(text: str) -> str:
    """Return the first characters of a value's text."""
    return units.cut(text, _VALUE_CHARACTERS)


def advise(name: str, found: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return each advice once, with all paths that it is for.

    Args:
        name: of the function.
        found: pairs of an advice, with ``{name}`` and ``{path}`` in it, and a path.
    """
    paths: dict[str, list[str]] = {}
    for text, path in found:
        paths.setdefault(text, []).append(path)
    return tuple(
        text.format(name=name, path=", ".join(dict.fromkeys(each))) for text, each in paths.items()
    )
