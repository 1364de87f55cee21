"""The rules that the values of options keep, each with words for those who break it."""

import keyword
import math
from collections.abc import Callable

from ipyjaxbench.errors import OptionError


def _rule(low: float, high: float, kind: type, words: str) -> Callable[[str], float]:
    def convert(text: str) -> float:
        try:
            value: float = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise ValueError(words)
        return value

    return convert


_MOST = 10**12
whole = _rule(1, _MOST, int, "a whole number from 1 up; leave it out to have it chosen")
seconds = _rule(0, _MOST, float, "a number of seconds from 0 up, as in -b 5")
levels = _rule(0, _MOST, int, "a whole number from 0 up, as in --depth 2")
digits = _rule(1, 15, int, "a number of digits from 1 to 15, as in -p 4")


def variable(text: str) -> str:
    """A name that code can read."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError("the name of a variable, as in -v result")
    return text


def chip(text: str) -> str:
    """A chip by its platform and generation."""
    platform, _, generation = text.partition(":")
    if platform != "tpu" or not generation:
        raise ValueError("a chip, as in --on tpu:v5e")
    return text


def swept(text: str) -> tuple[str, str]:
    """A name and its values, which stay text until their namespace is known."""
    name, equals, values = text.partition("=")
    if not equals or not values.strip() or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError("a name and its values, as in --sweep n=100,300 or --sweep n=2**6..2**12")
    return name, values


def checked(flag: str, text: str, rule: Callable[[str], object]) -> object:
    """The value that a text stands for.

    Args:
        flag: the option, for the error.
        text: as typed.
        rule: makes the value, or raises ValueError with words for what it takes.

    Raises:
        OptionError: the text breaks the rule.

    Example:
        >>> checked("-n", "12", whole)
        12
    """
    try:
        return rule(text)
    except ValueError as broken:
        raise OptionError(f"{flag} {text}: {flag} takes {broken}") from None
