"""How far the numbers of arrays are from each other, whatever frameworks the arrays belong to."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ipyjaxbench import units
from ipyjaxbench.errors import CODE_ERRORS

NO_NUMBERS = "they contain no readable numbers"
_MAX_COMPARED_BYTES = 2**30  # of an arm's results: larger ones are not moved to the host
_NUMERIC_KINDS = "biufc"  # of dtypes


class Numbers(NamedTuple):
    """An array, and the way to its numbers on the host."""

    shape: tuple[int, ...] | None  # None where arrays are told together
    dtype: str  # its name
    nbytes: int  # of the array
    read: Callable[[], Any]  # copies it to a NumPy array


def numbers_of(value: Any) -> Numbers:
    """Return a number, or a list of them, as an array."""
    import numpy as np

    array = np.asarray(value)
    return Numbers(array.shape, array.dtype.name, array.nbytes, lambda: array)


def copy_numbers(array: Numbers) -> Numbers:
    """Return the same with numbers of its own, as they are now."""
    import numpy as np

    host = _to_numpy(array) if array.nbytes <= _MAX_COMPARED_BYTES else None
    copied = None if host is None else np.array(host)
    return array._replace(read=lambda: copied)


@dataclass(frozen=True)
class Difference:
    """How far arrays are from others."""

    off: float = 0.0  # the largest difference, relative to the largest number
    allowed: float = 0.0  # what rounding explains
    why: str = ""  # another reason why they differ, in words; empty where there is none
    # why numbers of some of them were not looked at, in words; empty where all were
    unseen: str = ""

    @property
    def matters(self) -> bool:
        """Whether rounding does not explain it."""
        return bool(self.why) or self.off > self.allowed

    @property
    def how(self) -> str:
        """How far they are from each other, for a sentence."""
        return self.why or (f" by {units.percent(self.off)}" if math.isfinite(self.off) else "")


def difference(one: Sequence[Numbers], other: Sequence[Numbers]) -> Difference:
    """Compare two sequences of arrays, one array after the other."""
    if not one or not other:
        return Difference(unseen="not every arm returns arrays or numbers")
    if len(one) != len(other):
        return Difference(why=f": {units.count(len(other), 'array')} instead of {len(one)}")
    worst, allowed, unseen = 0.0, 0.0, ""
    for pair in zip(one, other, strict=True):
        first, second = pair
        if first.shape != second.shape:
            shapes = [str(list(each.shape or ())) for each in pair]
            return Difference(why=f": shape {shapes[1]} instead of {shapes[0]}")
        small = max(each.nbytes for each in pair) <= _MAX_COMPARED_BYTES
        hosts = [_to_numpy(each) if small else None for each in pair]
        if any(host is None for host in hosts):
            unseen = (
                NO_NUMBERS if small else f"they are larger than {units.size(_MAX_COMPARED_BYTES)}"
            )
            continue
        allowed = max(allowed, tolerance(first.dtype, second.dtype))
        worst = max(worst, relative_difference(*hosts))
    return Difference(worst, allowed, unseen=unseen)


def _to_numpy(array: Numbers) -> Any | None:
    try:
        return array.read()
    # Quantised, sparse, of several processes: what has no numbers to show is said to have none.
    except CODE_ERRORS:
        return None


def relative_difference(one: Any, other: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest number in either.

    It is 0 where all numbers are equal, NaN counting as equal to NaN; infinity where one holds a
    NaN or an infinity and the other does not, and for what are no numbers and differ.

    Example:
        >>> import numpy as np
        >>> relative_difference(np.array([1.0, 2.0]), np.array([1.0, 2.2]))
        0.09090909090909098
    """
    import numpy as np

    if np.array_equal(one, other):  # integers may be larger than a float holds
        return 0.0
    if not {one.dtype.kind, other.dtype.kind} <= set(_NUMERIC_KINDS):
        return float("inf")
    exact = {one.dtype.kind, other.dtype.kind} <= set("biu")
    kind = np.result_type(one, other, np.float64)
    one, other = np.asarray(one, kind), np.asarray(other, kind)
    equal = (one == other) | (np.isnan(one) & np.isnan(other))
    if equal.all():
        return float("inf") if exact else 0.0
    if not np.isfinite(one[~equal]).all() or not np.isfinite(other[~equal]).all():
        return float("inf")
    finite = np.isfinite(one) & np.isfinite(other)
    largest = max(np.abs(one[finite]).max(), np.abs(other[finite]).max())
    return float(np.abs(one[~equal] - other[~equal]).max() / largest)


def tolerance(*dtypes: str) -> float:
    """A difference that rounding in the coarsest of these dtypes explains: a third of √ε.

    Example:
        >>> tolerance("float32", "float64") < 2e-4
        True
    """
    return max(math.sqrt(_epsilon(dtype)) / 3 for dtype in dtypes)


def _epsilon(dtype: str) -> float:
    import numpy as np

    narrow = {"bfloat16": 2.0**-7, "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2}
    if dtype in narrow:
        return narrow[dtype]
    kind = np.dtype(dtype) if dtype in np.sctypeDict else None
    return float(np.finfo(kind).eps) if kind is not None and kind.kind in "fc" else 0.0
