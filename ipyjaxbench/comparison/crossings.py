"""Where one arm of a sweep overtakes another: between points at which each is the fastest."""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from ipyjaxbench.comparison.sweep import Sweep


class Crossing(NamedTuple):
    """A place where two arms take as long as each other."""

    faster: str  # the arm that is the fastest beyond it
    slower: str  # the arm that is the fastest before it
    value: float  # of the swept name
    seconds: float  # of a call of either
    before: float  # the last value at which the one is the fastest
    after: float  # the first value at which the other is


def find_crossings(s: Sweep) -> list[Crossing] | None:
    """Return the crossings, in the order of the values; None where one of them is not known.

    Lines are straight between two points, as they are drawn, on logarithmic scales.
    """
    found = []
    for (before, start), (after, end) in itertools.pairwise(_winners(s)):
        if before == after:
            continue
        crossing = _cross(s, before, after, start, end)
        if crossing is None:
            return None
        found.append(crossing)
    return found


def _winners(s: Sweep) -> Iterator[tuple[str, float]]:
    """Yield the fastest arm of each point that has one, with the value there."""
    points = zip(s.points, s.winners, strict=True)
    from_low = sorted((x, label) for p, label in points if (x := s.value(p)) is not None)
    yield from ((label, x) for x, label in from_low if label)


def _cross(s: Sweep, before: str, after: str, start: float, end: float) -> Crossing | None:
    """Return where the lines of two arms cross between two values; the middle of several."""
    first, second = (dict(s.times(label)) for label in (before, after))
    shared = sorted(x for x in first.keys() & second.keys() if start <= x <= end)
    logs = [(math.log(x), math.log(first[x]), math.log(second[x])) for x in shared
            if first[x] > 0 and second[x] > 0]  # fmt: skip
    places = []
    for (x0, a0, b0), (x1, a1, b1) in itertools.pairwise(logs):
        off0, off1 = a0 - b0, a1 - b1
        if off0 <= 0 < off1:
            share = off0 / (off0 - off1)
            places.append((x0 + share * (x1 - x0), a0 + share * (a1 - a0)))
    if not places:
        return None
    x, y = places[len(places) // 2]
    return Crossing(after, before, math.exp(x), math.exp(y), start, end)
