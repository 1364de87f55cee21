"""The result of comparing arms at many points."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench import ratios, stats
from ipyjaxbench.comparison.comparison import Comparison, grows
from ipyjaxbench.comparison.scaling import Scaled, Scaling, scale
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import Measurement


@dataclass(frozen=True)
class Point:
    """One combination of values."""

    values: tuple[str, ...]  # in words, one for each name
    compared: Comparison  # the arms there


@dataclass(frozen=True)
class Skipped:
    """An arm that was left out from some point on."""

    label: str  # its name
    after: tuple[str, ...]  # the last point that it took part in
    per_call: float = 0.0  # seconds of one call there; 0 where it was not too slow
    budget: float = 0.0  # seconds of a point
    # bytes that its arrays would take at the next point; 0 where it was not too large
    needed: int = 0
    free: int = 0  # bytes of memory that were free


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """Arms compared at several values.

    Attributes:
        names: the swept names.
        labels: labels of the arms.
        points: the comparison at each value, in order.
        skipped: arms that were left out from some value on.
        planned: the number of planned points.
        unmade: values at which the setup failed, with the error.
        scaling: how work scales with the engines, if their number was swept; otherwise None.
    """

    kind: ClassVar[str] = "sweep"

    names: tuple[str, ...]
    labels: tuple[str, ...]
    points: tuple[Point, ...]
    skipped: tuple[Skipped, ...] = ()
    planned: int = 0
    unmade: dict[str, str] = field(default_factory=dict)
    scaling: Scaling | None = None

    def times(self, label: str) -> list[tuple[float, float]]:
        """Return the swept values, each with an arm's seconds per call."""
        return [(x, m.median) for x, m in self._measured(label)]

    def intervals(self, label: str) -> list[tuple[float, float]]:
        """Return the interval of each of `times` for another run; the time twice if unknown."""
        return [m.estimate.ends for _, m in self._measured(label)]

    def sizes(self, label: str) -> list[tuple[float, int]]:
        """Return the swept values, each with the bytes that an arm reads and returns."""
        measured = self._measured(label)
        return [(x, sum(p.nbytes for p in (*m.inputs, *m.outputs))) for x, m in measured]

    def scaled(self, label: str) -> list[Scaled]:
        """Return an arm's speed-up on each number of engines; empty if something else is swept.

        Also empty if the time depends on how many calls were made.
        """
        kind = self.scaling and self.scaling.kinds.get(label)
        if not kind or self.depends_on_calls(label):
            return []
        return scale([(round(x), m) for x, m in self._measured(label)], kind)

    def depends_on_calls(self, label: str) -> bool:
        """Return whether calls of an arm lengthen a container that it works on, at any value."""
        timed = (timed_arms(point) for point in self.points)
        return any(grows(arms[label]) for arms in timed if label in arms)

    def value(self, point: Point) -> float | None:
        """Return the swept value at a point; None if a logarithmic axis cannot show it."""
        x = number(point.values[0]) if len(self.names) == 1 else math.nan
        return x if 0 < x < math.inf else None

    @property
    def not_drawn(self) -> list[str]:
        """Values that a logarithmic axis cannot show: zero and below."""
        values = [point.values[0] for point in self.points] if len(self.names) == 1 else []
        return [value for value in values if number(value) <= 0]

    def _measured(self, label: str) -> list[tuple[float, Measurement]]:
        found = []
        for point in self.points:
            x = self.value(point)
            m = timed_arms(point).get(label)
            if m is not None and x is not None:
                found.append((x, m))
        return found

    @cached_property
    def winners(self) -> list[str]:
        """The fastest arm at each point, in order; "" where there is none."""
        return [self.fastest(point) for point in self.points]

    def fastest(self, point: Point) -> str:
        """Return the fastest arm at a point; "" if two are equally fast, or one alone was timed.

        Nor is one the fastest where the time of any depends on how many calls were made.
        """
        known = [(m.median, label, m) for label, m in timed_arms(point).items()]
        if len(known) < 2 or any(grows(m) for *_, m in known):
            return ""
        (_, best, first), (_, next_best, second), *_ = sorted(known, key=lambda each: each[0])
        # One answer for each point: a row of them is to be right, not each for itself.
        comparisons = (len(known) - 1) * max(self.planned, 1)
        found = ratios.ratio(ratios.log_ratios(first.samples, second.samples), comparisons)
        if found is None or found.verdict != "SLOWER":
            return ""
        alone = point.compared.ratio_alone(next_best, best)
        if alone is not None and ratios.contradicts(alone, found):
            return ""
        return best if math.log(found.value) > point.compared.floor else ""

    def growth(self, label: str) -> float | None:
        """Return the exponent p of time ~ value**p: the median slope over all pairs of points.

        On logarithms (Theil 1950, Sen 1968); None for fewer than three points, and
        where the time depends on how many calls were made.
        """
        times = [] if self.depends_on_calls(label) else self.times(label)
        return _slope([(x, t, t) for x, t in times])

    def growth_interval(self, label: str) -> tuple[float, float] | None:
        """Return the interval of the exponent `growth`, as far as the times are known.

        Its ends are the medians of the least and of the largest slopes that the intervals of two
        times allow; None if the interval of a time is unknown, or for fewer than three points.
        """
        measured = [] if self.depends_on_calls(label) else self._measured(label)
        if not all(m.estimate.is_known for _, m in measured):
            return None
        ends = [(x, *m.estimate.ends) for x, m in sorted(measured, key=lambda point: point[0])]
        least, most = _slope(ends), _slope([(x, high, low) for x, low, high in ends])
        return None if least is None or most is None else (least, most)

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if any(len(point.values) != len(self.names) for point in self.points):
            return "a point has not as many values as there are names"
        if self.scaling and not all(_is_number_of_engines(point) for point in self.points):
            return "a point is of no number of engines"
        checked = (point.compared.check() for point in self.points)
        return next((wrong for wrong in checked if wrong), None)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each arm at each point; times per call in seconds."""
        return [
            {**dict(zip(self.names, point.values, strict=True)), **row, **self._gain(point, row)}
            for point in self.points
            for row in point.compared.rows()
        ]

    def _gain(self, point: Point, row: dict[str, Any]) -> dict[str, Any]:
        """Return what an arm's row says besides, where numbers of engines are swept."""
        if self.scaling is None:
            return {}
        found = [s for s in self.scaled(row["arm"]) if s.engines == int(point.values[0])]
        speedup, efficiency = next(((s.speedup.value, s.efficiency) for s in found), (None, None))
        kind = self.scaling.kinds.get(row["arm"])
        return {"scaling": kind, "speedup": speedup, "efficiency": efficiency}

    def __repr__(self) -> str:
        """One line."""
        return f"<Sweep {', '.join(self.labels)} over {len(self.points)} points>"


def timed_arms(point: Point) -> dict[str, Measurement]:
    """Return what was measured at a point, of each arm that has samples."""
    found = ((arm.label, arm.measured) for arm in point.compared.sides if not arm.failed)
    return {label: m for label, m in found if m is not None and m.batches}


def _is_number_of_engines(point: Point) -> bool:
    [text, *more] = point.values
    return not more and re.fullmatch("[1-9][0-9]{0,8}", text) is not None


def _slope(points: Sequence[tuple[float, float, float]]) -> float | None:
    """Return the median slope from the third of a point to the second of a later one, on logs."""
    logs = [(math.log(x), math.log(to), math.log(start)) for x, to, start in points
            if to > 0 and start > 0]  # fmt: skip
    pairs = itertools.combinations(logs, 2)
    slopes = [(to - start) / (x2 - x1) for (x1, _, start), (x2, to, _) in pairs if x2 != x1]
    return stats.median(slopes) if len(logs) >= 3 and slopes else None


def number(text: str) -> float:
    """Return the number that a value is; NaN for all else."""
    try:
        return float(text)
    except ValueError:
        return math.nan
