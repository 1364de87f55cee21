"""The rules that the values of options keep, each with words for those who break it."""

import keyword
import math
import re
from collections.abc import Callable
from typing import TypeVar

from ipyjaxbench.errors import OptionError

T = TypeVar("T")

_KINDS = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex", "bool": "bool"}
_SHORT = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u32", "c64", "bool")
_SHAPE = re.compile(r"(bool|bf|[fiuc])(\d*)\[([\d, ]*)\]")
MAX_LABEL_LENGTH = 24  # so that a table of arms fits into 80 columns
_LABEL = re.compile(r"\w[^:#'\"\[\]{}=,;?\\]*(?<!\s)")
#: What takes a colon in a cell and is no label.
_OPENING = ("if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def",
            "class", "async", "lambda", "setup")  # fmt: skip
_UNTYPABLE = re.compile(r"[\s'\"\\;?]")  # in a line of words
_SHAPES = re.compile(rf"{_SHAPE.pattern}(\s*,\s*{_SHAPE.pattern})*")
_DTYPES = {
    _KINDS[m[1]] + m[2] for name in _SHORT if (m := re.match(r"(bool|bf|[fiuc])(\d*)", name))
}


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
#: What ``--against`` takes for a run of the same code, and not for a name.
NEWEST_OR_FASTEST = ("last", "best")
_AGES = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0, "y": 365 * 86400.0}
whole = _rule(1, _MOST, int, "a whole number, 1 or more")
seconds = _rule(0, _MOST, float, "a number of seconds, 0 or more")
levels = _rule(0, _MOST, int, "a whole number, 0 or more")
count = _rule(0, _MOST, int, "a whole number, 0 or more")
few = _rule(1, 1000, int, "a whole number from 1 to 1000")
newest = _rule(1, 10_000, int, "a whole number from 1 to 10000")
share = _rule(0.01, 1, float, "a number from 0.01 to 1")
digits = _rule(1, 15, int, "a whole number from 1 to 15")
NUMBERS = (whole, seconds, levels, count, few, newest, share, digits)


def age(text: str) -> float:
    """Return how long ago, in seconds.

    Example:
        >>> age("7d"), age("12h")
        (604800.0, 43200.0)
    """
    match = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)([mhdwy])", text.strip())
    if match is None:
        raise ValueError("a number followed by m, h, d, w or y")
    return float(match[1]) * _AGES[match[2]]


def variable(text: str) -> str:
    """Accept a name that code can read."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError("a valid variable name")
    return text


def words(text: str) -> str:
    """Accept a string that is not empty."""
    if not text.strip():
        raise ValueError("a string that is not empty")
    return text


def label(text: str, longest: int = MAX_LABEL_LENGTH) -> str:
    """Accept the label of an arm, in a cell as in Python.

    A cell reads what stands before a line's first colon as label, so it cannot be what begins a
    statement; kept results are named by labels, so it is typed without quotes.

    Example:
        >>> label("several lines")
        'several lines'
    """
    if not _LABEL.fullmatch(text) or not text.isprintable():
        raise ValueError(
            "a label that begins with a letter, digit or _ and has none of"
            " : # = , ; ? \\ [ ] { } or quotes"
        )
    first, *more = text.split()
    if first in _OPENING or (more and keyword.issoftkeyword(first)):
        raise ValueError(f"a label that does not begin with {first}, as a part of a cell may")
    if "lambda" in more or text.count("(") != text.count(")"):
        raise ValueError("a label without lambda, and with as many ( as )")
    if len(text) > longest:
        raise ValueError(f"a label of at most {longest} characters")
    return text


def name(text: str) -> str:
    """Accept a name to keep a result under, which can be typed without quotes.

    Example:
        >>> name("before")
        'before'
    """
    if text in NEWEST_OR_FASTEST:
        raise ValueError("a name other than last and best")
    untypable = _UNTYPABLE.search(text.replace(" ", "_"))
    if not text.strip() or text.startswith("-") or untypable or not text.isprintable():
        raise ValueError("a name without ; ? \\ or quotes that does not begin with -")
    return text


def kept_name(*parts: str, **values: str) -> str:
    """Return the name of a kept result, which can be typed without quotes.

    Args:
        *parts: the name of the cell and the label of the arm; empty ones are left out.
        **values: swept names with their values.

    Example:
        >>> kept_name("before", "several lines", n="16", shape="(2, 3)")
        'before.several_lines.n=16.shape=(2,3)'
    """
    at = [f"{each}={_UNTYPABLE.sub('', value)}" for each, value in values.items()]
    return ".".join(["_".join(part.split()) for part in parts if part] + at)


def trace_file(text: str) -> str:
    """Accept the name of a file for a trace: its end tells it from code behind the option.

    Example:
        >>> trace_file("step.json.gz")
        'step.json.gz'
    """
    if not text.endswith((".json", ".json.gz")) or "\0" in text:
        raise ValueError("a file name that ends with .json or .json.gz")
    return text


def chip(text: str) -> str:
    """Accept a chip: its platform, its generation, and how many stand side by side."""
    if not re.fullmatch(r"tpu:\w+(:\d+(x\d+)+)?|gpu:(\w+|.+\.txtpb)", text):
        raise ValueError("a chip such as tpu:v5e or gpu:h100, or several: tpu:v5e:2x2, gpu:h100x4")
    return text


def shapes(text: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Read types and shapes of arrays, as reports spell them.

    Example:
        >>> shapes("f32[128,64], i32[]")
        (('float32', (128, 64)), ('int32', ()))
    """
    if not _SHAPES.fullmatch(text.strip()):
        raise ValueError("dtypes with shapes")
    arrays = []
    for kind, bits, dims in _SHAPE.findall(text):
        dtype = _KINDS[kind] + bits
        if dtype not in _DTYPES:
            raise ValueError(f"dtypes with shapes ({kind}{bits} is not one of {', '.join(_SHORT)})")
        arrays.append((dtype, tuple(int(n) for n in dims.split(",") if n.strip())))
    return tuple(arrays)


def axes(text: str) -> tuple[tuple[str, int], ...]:
    """Read arguments, each with the axis that is cut.

    Example:
        >>> axes("x:0, w:1")
        (('x', 0), ('w', 1))
    """
    cuts = []
    for part in text.split(","):
        name, colon, axis = part.strip().rpartition(":")
        if not colon or not name or not axis.isdigit():
            raise ValueError("arguments with the axis to split")
        cuts.append((name, int(axis)))
    return tuple(cuts)


def swept(text: str) -> tuple[str, str]:
    """Read a name and its values, which stay text until their namespace is known."""
    name, equals, values = text.partition("=")
    if not equals or not values.strip() or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError("a name and its values")
    return name, values


def checked(text: str, rule: Callable[[str], T], *, typed: str, example: str) -> T:
    """Return the value that a text stands for; OptionError says which rule it breaks.

    Args:
        text: what was given.
        rule: one of this module.
        typed: option and value, as the user typed them.
        example: the same with a value that is right.

    Example:
        >>> checked("12", whole, typed="-n 12", example="-n 5")
        12
    """
    try:
        return rule(text)
    except ValueError as broken:
        raise OptionError(f"{typed}: must be {broken}, for example {example}") from None
