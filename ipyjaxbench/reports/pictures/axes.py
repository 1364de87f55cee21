"""What is drawn over two axes, before how: series of points, marks, and the scales they need."""

import math
from dataclasses import dataclass

from ipyjaxbench.reports.pictures.scales import Scale, tick_label

_MIN_RATIO = 2.0  # of the ends of a logarithmic vertical scale, lest noise looks like hills

Point = tuple[float, float, float, float]


@dataclass(frozen=True)
class Axis:
    """One direction of a picture.

    Attributes:
        name: what is counted along it.
        unit: "s", "B", "B/s", "FLOP/s", "FLOP/B", "date" or "", as `scales.Scale` has it.
        log: whether equal lengths are equal ratios.
        at: values that get the ticks, where they are few; else round ones do.
    """

    name: str
    unit: str = ""
    log: bool = True
    at: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """One line, or dots.

    Attributes:
        label: its name.
        points: for each where it lies, its height, and the interval of that.
        line: whether the points are joined; else each is a dot.
        limit: whether it is no measurement but a limit, which is dashed and grey.
    """

    label: str
    points: tuple[Point, ...]
    line: bool = True
    limit: bool = False


@dataclass(frozen=True)
class Mark:
    """A place that is named.

    Attributes:
        x: where.
        words: its name.
        y: its height; None for a vertical line through the picture.
    """

    x: float
    words: str
    y: float | None = None


@dataclass(frozen=True)
class Plotted:
    """Series over each other.

    Attributes:
        x: the horizontal axis.
        y: the vertical one.
        series: lines and dots; a point at least.
        marks: places with names, as where two lines cross.
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()

    def scales(self) -> tuple[Scale, Scale]:
        """Return both scales, between the ends of what is drawn."""
        points = [point for each in self.series for point in each.points]
        xs = [point[0] for point in points] + [mark.x for mark in self.marks]
        ys = [point[1] for point in points]
        low, high = min(ys), max(ys)
        if self.y.log:
            more = max(math.sqrt(_MIN_RATIO * low / high), 1.1)
            low, high = low / more, high * more
        else:
            low, high = min(0.0, low), high * 1.05
        return (
            Scale(min(xs), max(xs), self.x.unit, self.x.log),
            Scale(low, high, self.y.unit, self.y.log),
        )

    def across_ticks(self, most: int) -> list[tuple[float, str]]:
        """Return the ticks of the horizontal axis: its own, or at most so many round ones."""
        if self.x.at and len(self.x.at) <= 2 * most:
            return [(value, tick_label(value, self.x.unit)) for value in self.x.at]
        return self.scales()[0].ticks(most)
