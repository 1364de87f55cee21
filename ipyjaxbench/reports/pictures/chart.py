"""Lines and dots over two axes: time over size, time over dates, a roofline."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures import drawing as svg
from ipyjaxbench.reports.pictures.axes import Axis, Plotted, Series
from ipyjaxbench.reports.pictures.drawing import COLOURS, INK, WIDTH, Drawing
from ipyjaxbench.reports.pictures.letters import draw_letters
from ipyjaxbench.reports.pictures.picture import Picture, Spans
from ipyjaxbench.reports.pictures.scales import date_labels, tick_label

_TOP, _HIGH, _BOTTOM = 20, 230, 40  # pixels
_MIN_RIGHT, _MAX_RIGHT = 24, 190
_MAX_NAME, _MAX_TITLE = 24, 80  # columns of a legend, and above all
_LINE = 14  # pixels between labels at line ends
_SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "M-3.5 -3.5h7v7h-7z",
    "M0 -4.5L4.5 3.5H-4.5z",
    "M0 -5L5 0L0 5L-5 0z",
    "M-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
)
_DASHES = ("", "6 3", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Chart(Plotted, Picture):
    """Series over each other, drawn."""

    def draw(self) -> Drawing:
        """Return axes with ticks, a grid, bands, lines and their names at their ends."""
        names = max(svg.text_width(each.label, bold=True) for each in self.series) + 20
        right = WIDTH - min(max(names, _MIN_RIGHT), _MAX_RIGHT)
        drawing = Drawing(WIDTH, _TOP + _HIGH + _BOTTOM)
        across, up = self.scales()
        left = max((svg.text_width(shown) for _, shown in up.ticks(6)), default=0.0) + 8

        def position(x: float, y: float) -> svg.Point:
            return left + across.place(x) * (right - left), _TOP + (1 - up.place(y)) * _HIGH

        self._draw_axes(drawing, position, left, right)
        for number, each in enumerate(self.series):
            _draw_series(drawing, each, number, position)
        self._draw_names(drawing, position, right)
        self._draw_marks(drawing, position)
        return drawing

    def _draw_axes(self, drawing: Drawing, position: Any, left: float, right: float) -> None:
        across, up = self.scales()
        bottom = _TOP + _HIGH
        for value, shown in up.ticks(6):
            y = position(across.low, value)[1]
            drawing.line((left, y), (right, y))
            drawing.text(left - 6, y + 4, shown, "end")
        for value, shown in self.across_ticks(6):
            x = position(value, up.low)[0]
            drawing.line((x, _TOP), (x, bottom))
            drawing.text(x, bottom + 15, shown, "middle")
        drawing.polyline([(left, _TOP), (left, bottom), (right, bottom)], INK, 1)
        drawing.text((left + right) / 2, bottom + 33, self.x.name, "middle")
        drawing.text(4, 12, self.y.name)

    def _draw_names(self, drawing: Drawing, position: Any, right: float) -> None:
        """Put names beside the ends of lines, moved apart where they would overlap."""
        ends = [(position(*each.points[-1][:2]), n) for n, each in enumerate(self.series)]
        names = [each.label for each in self.series]
        if all(each.line for each in self.series):
            names = svg.shorten_all(names, WIDTH - right - 8)
        below = -math.inf
        for (x, y), number in sorted(ends, key=lambda end: end[0][1]):
            below = max(y + 4, below + _LINE)
            each = self.series[number]
            at = right + 8 if each.line else x + 8
            drawing.text(
                at, below, svg.shorten(names[number], WIDTH - at), fill=_colour(each, number),
                more=svg.BOLD,
            )  # fmt: skip

    def _draw_marks(self, drawing: Drawing, position: Any) -> None:
        _, up = self.scales()
        free = 4 + svg.text_width(self.y.name) + 12  # beside the axis's name, above all lines
        for mark in sorted(self.marks, key=lambda mark: mark.x):
            x, y = position(mark.x, up.high if mark.y is None else mark.y)
            bottom = _TOP + _HIGH
            if mark.y is not None:
                drawing.polyline(_ring(x, y), INK, 1.5)
                bottom = y - 5
            drawing.line((x, _TOP), (x, bottom), INK, ' stroke-dasharray="3 3"')
            wide = svg.text_width(mark.words)
            start = min(max(x - wide / 2, free), WIDTH - wide)
            if start >= free and start <= x + 3:
                drawing.text(start, 12, mark.words)
                free = start + wide + 8

    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:  # noqa: ARG002
        """Yield a grid of letters, one for each series, with ticks on both axes."""
        return draw_letters(self, columns)

    def describe(self) -> str:
        """Return the axes and all points in words."""
        series = (
            f"{each.label}: {', '.join(map(' '.join, self._point_labels(each)))}"
            for each in self.series
        )
        marks = "".join(f"; {mark.words}" for mark in self.marks)
        return f"{self.y.name} over {self.x.name}: {'; '.join(series)}{marks}"

    def _point_labels(self, each: Series) -> Iterator[tuple[str, str]]:
        xs, ys, *_ = zip(*each.points, strict=True)
        return zip(_value_labels(self.x, xs), _value_labels(self.y, ys), strict=True)

    def plot(self, axes: Any) -> None:
        """Draw lines and dots of matplotlib."""
        names = monospace.shorten_all([each.label for each in self.series], _MAX_NAME)
        for number, each in enumerate(self.series):
            xs, ys, lows, highs = (list(column) for column in zip(*each.points, strict=True))
            style = {"color": _colour(each, number), "label": names[number]}
            if each.limit:
                axes.plot(xs, ys, linestyle="--", **style)
                continue
            axes.plot(xs, ys, marker="o", linestyle="-" if each.line else "none", **style)
            axes.fill_between(xs, lows, highs, color=style["color"], alpha=0.15)
        lines: list[str] = []
        for mark in self.marks:
            if mark.y is None:
                axes.axvline(mark.x, linestyle=":", color=INK)
                lines.append(mark.words)
            else:
                axes.scatter(mark.x, mark.y, s=80, facecolors="none", edgecolors=INK)
                beside = {"xytext": (-8, 8), "textcoords": "offset points", "ha": "right"}
                axes.annotate(mark.words, (mark.x, mark.y), **beside)
        kinds = [("log" if axis.log else "linear") for axis in (self.x, self.y)]
        axes.set(xscale=kinds[0], yscale=kinds[1], xlabel=self.x.name, ylabel=self.y.name)
        axes.set_xticks(*zip(*self.across_ticks(6), strict=True))
        axes.set_yticks(*zip(*self.scales()[1].ticks(6), strict=True))
        axes.minorticks_off()
        axes.grid(visible=True, alpha=0.3)
        axes.set_title(textwrap.fill("; ".join(lines), _MAX_TITLE), fontsize="small")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def _value_labels(axis: Axis, values: Sequence[float]) -> list[str]:
    if axis.unit == "date":
        return date_labels(values)
    if axis.unit == "s":
        return [units.duration(value, 3) for value in values]
    return [tick_label(value, axis.unit) for value in values]


def _draw_series(drawing: Drawing, each: Series, number: int, position: Any) -> None:
    colour = _colour(each, number)
    points = [position(x, y) for x, y, *_ in each.points]
    if each.limit:
        drawing.polyline(points, colour, 1.5, ' stroke-dasharray="6 4"')
        return
    if each.line and len(points) > 1:
        band = [position(x, high) for x, _, _, high in each.points]
        band += [position(x, low) for x, _, low, _ in reversed(each.points)]
        drawing.polygon(band, colour, ' fill-opacity="0.18"')
        dash = _DASHES[number // len(COLOURS) % len(_DASHES)]
        drawing.polyline(points, colour, 2, f' stroke-dasharray="{dash}"' if dash else "")
    for point in points:
        drawing.path(point, _SHAPES[number % len(_SHAPES)], colour)


def _colour(each: Series, number: int) -> str:
    return INK if each.limit else COLOURS[number % len(COLOURS)]


def _ring(x: float, y: float) -> list[svg.Point]:
    turns = [n * math.pi / 8 for n in range(17)]
    return [(x + 5 * math.cos(turn), y + 5 * math.sin(turn)) for turn in turns]
