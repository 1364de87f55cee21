"""Lengths to be compared by eye, each with its interval, and the one that others are held to."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures.drawing import (
    BOLD,
    COLOURS,
    INK,
    WIDTH,
    Drawing,
    shorten,
    text_width,
)
from ipyjaxbench.reports.pictures.matplotlib_axes import label_rows, label_ticks
from ipyjaxbench.reports.pictures.picture import NARROW, Picture, Spans
from ipyjaxbench.reports.pictures.scales import Scale

_ROW, _BAR, _AXIS, _NAME = 24, 14, 20, 16  # pixels
_CAP = 4  # pixels: half of a whisker's end
_MAX_LABEL_COLUMNS = 24
_MAX_OVER = 1.5  # times the longest bar: whiskers that are longer end there


@dataclass(frozen=True)
class Bar:
    """One length.

    Attributes:
        label: its name.
        value: its length in seconds.
        low: where its interval begins; the length where that is not known.
        high: where it ends; the length where that is not known.
        shown: the length in words.
        aside: what stands after that, as "3.8× faster".
        baseline: whether the others are compared with it.
    """

    label: str
    value: float
    low: float
    high: float
    shown: str
    aside: str = ""
    baseline: bool = False


@dataclass(frozen=True)
class Bars(Picture):
    """Bars under each other, from zero.

    Attributes:
        rows: the bars, from the top.
        name: what their lengths and intervals are.
    """

    rows: tuple[Bar, ...]
    name: str = ""

    def draw(self) -> Drawing:
        """Return bars with whiskers on an axis; the baseline's end is a dashed line."""
        label = min(max(text_width(bar.label) for bar in self.rows) + 16, WIDTH / 4)
        beside = max(text_width(_words(bar), bold=True) for bar in self.rows) + 12
        room, bottom = WIDTH - label - beside, _ROW * len(self.rows)
        drawing, scale = Drawing(WIDTH, bottom + _AXIS + (_NAME if self.name else 0)), self._scale()

        def across(value: float) -> float:
            return label + scale.place(value) * room

        bases = [across(bar.value) for bar in self.rows if bar.baseline]
        for value, shown in scale.ticks(4):
            drawing.line((across(value), 0), (across(value), bottom))
            drawing.text(across(value), bottom + 14, shown, "middle")
        drawing.text(label + room / 2, bottom + 14 + _NAME, self.name, "middle")
        for number, bar in enumerate(self.rows):
            middle = number * _ROW + _ROW / 2
            drawing.text(label - 8, middle + 4, shorten(bar.label, label - 8), "end")
            width = max(across(bar.value) - label, 1)
            colour = COLOURS[7] if bar.baseline else COLOURS[0]
            drawing.rect(label, middle - _BAR / 2, width, _BAR, colour)
            low, high = across(bar.low), across(min(bar.high, scale.high))
            if high - low > 1:
                drawing.line((low, middle), (high, middle), INK)
                for end in (low, *([high] if bar.high <= scale.high else [])):
                    drawing.line((end, middle - _CAP), (end, middle + _CAP), INK)
                if bar.high > scale.high:
                    drawing.line((high - _CAP, middle - _CAP), (high, middle), INK)
                    drawing.line((high - _CAP, middle + _CAP), (high, middle), INK)
            end = max(across(bar.value), high) + 8
            if any(end <= base <= end + beside for base in bases):
                end = max(bases) + 8  # words stand beside the dashed line, not on it
            drawing.text(end, middle + 4, _words(bar), more=BOLD)
        for x in bases:
            drawing.line((x, 0), (x, bottom), INK, ' stroke-dasharray="4 3"')
        return drawing

    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:  # noqa: ARG002
        """Yield a line for each bar; ``┊`` is where the baseline ends."""
        full = [bar.label for bar in self.rows]
        label = min(monospace.widest(full), _MAX_LABEL_COLUMNS, columns // 4)
        room = columns - label - monospace.widest(map(_words, self.rows)) - 5
        names = monospace.shorten_all(full, columns if columns < NARROW else label)
        for bar, name in zip(self.rows, names, strict=True):
            words = _words(bar)
            if columns < NARROW:
                yield from (((line, ""),) for line in monospace.beside(name, words, columns))
                yield ((f"  {self._signs(bar, columns - 2)}", ""),)
            else:
                start = f"  {monospace.left(name, label)}  "
                yield ((f"{start}{self._signs(bar, room)} {words}", ""),)

    def _signs(self, bar: Bar, room: int) -> str:
        """Return the bar, pale from where its interval begins to its end; a line to its end."""
        scale = self._scale()

        def across(value: float) -> int:
            return round(scale.place(value) * (room - 1))

        low, end, high = (
            across(value) for value in (bar.low, bar.value, min(bar.high, scale.high))
        )
        signs = [" "] * room
        signs[: end + 1] = "█" * (end + 1)
        if low < end:
            signs[low + 1 : end + 1] = "▓" * (end - low)
        if high > end:
            whisker_end = "→" if bar.high > scale.high else "┤"
            signs[end + 1 : high + 1] = "─" * (high - end - 1) + whisker_end
        for base in (across(each.value) for each in self.rows if each.baseline):
            signs[base] = "┊" if signs[base] == " " else signs[base]
        return "".join(signs).rstrip()

    def describe(self) -> str:
        """Return each bar with its length."""
        return "; ".join(f"{bar.label} {_words(bar)}" for bar in self.rows)

    def plot(self, axes: Any) -> None:
        """Draw bars of matplotlib, from the top."""
        values = [bar.value for bar in self.rows]
        reach = [
            [max(bar.value - bar.low, 0.0) for bar in self.rows],
            [max(min(bar.high, _MAX_OVER * max(values)) - bar.value, 0.0) for bar in self.rows],
        ]
        labels = monospace.shorten_all([bar.label for bar in self.rows], _MAX_LABEL_COLUMNS)
        colours = [COLOURS[7 if bar.baseline else 0] for bar in self.rows]
        places = range(len(self.rows))  # two arms may have the same label
        bars = axes.barh(places, values, xerr=reach, color=colours, ecolor=INK, capsize=4)
        axes.bar_label(bars, [_words(bar) for bar in self.rows], padding=6)
        for bar in self.rows:
            if bar.baseline:
                axes.axvline(bar.value, linestyle="--", color=INK)
        label_rows(axes, labels)
        axes.margins(x=0.35)
        axes.set_xlabel(self.name or "time per call")
        label_ticks(axes.xaxis, "s")

    def _scale(self) -> Scale:
        longest = max(bar.value for bar in self.rows)
        far = max((bar.high for bar in self.rows if math.isfinite(bar.high)), default=longest)
        return Scale(0.0, max(min(far, _MAX_OVER * longest), longest) or 1.0, "s")


def _words(bar: Bar) -> str:
    return " · ".join(filter(None, (bar.shown, bar.aside)))
