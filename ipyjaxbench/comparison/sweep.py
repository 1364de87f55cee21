"""The result of comparing arms at many points."""

import itertools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench import ratios, stats
from ipyjaxbench.comparison.comparison import Comparison
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
    """

    kind: ClassVar[str] = "sweep"

    names: tuple[str, ...]
    labels: tuple[str, ...]
    points: tuple[Point, ...]
    skipped: tuple[Skipped, ...] = ()
    planned: int = 0
    unmade: dict[str, str] = field(default_factory=dict)

    def times(self, label: str) -> list[tuple[float, float]]:
        """Return the swept values, each with an arm's seconds per call."""
        return [(x, m.median) for x, m in self._measured(label)]

    def intervals(self, label: str) -> list[tuple[float, float]]:
        """Return the ends of the interval of each of `times`, in seconds."""
        return [m.interval for _, m in self._measured(label)]

    def sizes(self, label: str) -> list[tuple[float, int]]:
        """Return the swept values, each with the bytes that an arm reads and returns."""
        measured = self._measured(label)
        return [(x, sum(p.nbytes for p in (*m.inputs, *m.outputs))) for x, m in measured]

    def value(self, point: Point) -> float | None:
        """Return the swept value at a point; None if there are several names."""
        x = number(point.values[0]) if len(self.names) == 1 else math.nan
        return x if 0 < x < math.inf else None

    def _measured(self, label: str) -> list[tuple[float, Measurement]]:
        found = []
        for point in self.points:
            x = self.value(point)
            m = {side.label: side.measured for side in point.compared.sides}.get(label)
            if m is not None and m.batches and x is not None:
                found.append((x, m))
        return found

    @cached_property
    def winners(self) -> list[str]:
        """The fastest arm at each point, in order; "" where two are alike."""
        return [self.fastest(point) for point in self.points]

    def fastest(self, point: Point) -> str:
        """Return the fastest arm at a point; "" if two are equally fast."""
        sides = point.compared.sides
        known = [(m.median, side.label, m) for side in sides
                 if (m := side.measured) and m.batches and not side.failed]  # fmt: skip
        if len(known) < 2:
            return known[0][1] if known else ""
        (_, best, first), (_, _, second), *_ = sorted(known, key=lambda each: each[0])
        # One answer for each point: a row of them is to be right, not each for itself.
        comparisons = (len(known) - 1) * max(self.planned, 1)
        found = ratios.ratio(ratios.log_ratios(first.samples, second.samples), comparisons)
        clear = found is not None and math.log(found.value) > point.compared.floor
        return best if clear and found and found.verdict == "SLOWER" else ""

    def growth(self, label: str) -> float | None:
        """Return the exponent p of time ~ value**p: the median slope over all pairs of points.

        On logarithms (Theil 1950, Sen 1968); None for fewer than three points.
        """
        logs = [(math.log(x), math.log(t)) for x, t in self.times(label) if t > 0]
        pairs = itertools.combinations(logs, 2)
        slopes = [(t2 - t1) / (x2 - x1) for (x1, t1), (x2, t2) in pairs if x2 != x1]
        return stats.median(slopes) if len(logs) >= 3 and slopes else None

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if any(len(point.values) != len(self.names) for point in self.points):
            return "a point has not as many values as there are names"
        checked = (point.compared.check() for point in self.points)
        return next((wrong for wrong in checked if wrong), None)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each arm at each point; times per call in seconds."""
        return [
            {**dict(zip(self.names, point.values, strict=True)), **row}
            for point in self.points
            for row in point.compared.rows()
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Sweep {', '.join(self.labels)} over {len(self.points)} points>"


def number(text: str) -> float:
    """Return the number that a value is; NaN for all else."""
    try:
        return float(text)
    except ValueError:
        return math.nan
