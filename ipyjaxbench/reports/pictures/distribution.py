"""How long samples took: how often each time came, and when in the measurement."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ipyjaxbench import stats, units
from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures.drawing import COLOURS, INK, WIDTH, Drawing, shorten, text_width
from ipyjaxbench.reports.pictures.matplotlib_axes import label_ticks
from ipyjaxbench.reports.pictures.picture import NARROW, Picture, Spans
from ipyjaxbench.reports.pictures.scales import Scale

HEIGHTS = "▁▂▃▄▅▆▇█"
_TAIL = 1.5  # of the distance from 5 % to 95 %, beyond which a sample is at the edge
_WIDE_RATIO = 5.0  # of the ends, from which on equal lengths are equal ratios
_LEGEND = " 5 %, median, 95 %"
_BINS, _MAX_TEXT_BINS, _MIN_TEXT_BINS = 64, 40, 10
_LEFT, _GAP, _TOP, _HIGH, _AXIS = 330, 80, 14, 92, 18  # pixels
_DASHED = ' stroke-dasharray="4 2"'
_MAX_DOTS = 400  # of the samples over time: more are thinned out evenly


@dataclass(frozen=True)
class Distribution(Picture):
    """Times of samples.

    Attributes:
        label: what they are, as "samples".
        seconds: the time of each, in the order in which they were taken; two at least.
        digits: how many significant digits words have.
        before: the times of an earlier run, drawn as an outline of the same area; may be empty.
        name: of the earlier run.
    """

    label: str
    seconds: tuple[float, ...]
    digits: int = 3
    before: tuple[float, ...] = ()
    name: str = ""

    def draw(self) -> Drawing:
        """Return how often each time came, beside the samples in their order."""
        drawing = Drawing(WIDTH, _HIGH + _AXIS + (_AXIS if self.before else 0))
        self._draw_density(drawing)
        if self.before:
            y = _HIGH + 2 * _AXIS - 8
            drawing.polyline([(0, y), (24, y)], COLOURS[4], 1.5, _DASHED)
            words = shorten(f"{self._before_words()}", WIDTH - 40)
            drawing.text(30, y + 4, words, fill=COLOURS[4])
        self._draw_order(drawing)
        return drawing

    def _draw_density(self, drawing: Drawing) -> None:
        scale, counts = self.scale, self.counts(_BINS)
        low, middle, high = (scale.place(value) * _LEFT for value in self.marks())
        drawing.rect(
            low, _TOP, max(high - low, 1), _HIGH - _TOP, COLOURS[0], ' fill-opacity="0.12"'
        )
        outline = self._counts_before(_BINS)
        top = max(*counts, *outline)
        drawing.polygon(_steps(counts, top), COLOURS[0], ' fill-opacity="0.75"')
        if outline:
            drawing.polyline(_steps(outline, top), COLOURS[4], 1.5, _DASHED)
        drawing.polyline([(middle, _TOP - 2), (middle, _HIGH)], COLOURS[1], 2)
        words = f"median {units.duration(self.marks()[1], self.digits)}"
        drawing.text(max(min(middle - 2, _LEFT - text_width(words)), 0), 10, words, fill=COLOURS[1])
        tails = "5–95 %"
        if high > middle + text_width(words + tails) + 4:
            drawing.text(high, 10, tails, "end", COLOURS[0])
        drawing.line((0, _HIGH), (_LEFT, _HIGH), INK)
        for value, shown in scale.ticks(4):
            x = scale.place(value) * _LEFT
            anchor = "start" if x < 15 else "end" if x > _LEFT - 15 else "middle"
            drawing.line((x, _HIGH), (x, _HIGH + 4), INK)
            drawing.text(x, _HIGH + 15, shown, anchor)
        if self.beyond():
            drawing.text(_LEFT + 4, _HIGH - 4, f"+{len(self.beyond())} ▸", fill=COLOURS[6])

    def _draw_order(self, drawing: Drawing) -> None:
        """Draw each sample over time, on the same scale as beside; what is above it on its edge."""
        left, scale = _LEFT + _GAP, self.scale
        wide = WIDTH - left - 4

        def position(number: int, seconds: float) -> tuple[float, float]:
            x = left + wide * number / max(len(self.seconds) - 1, 1)
            return x, _HIGH - (_HIGH - _TOP) * scale.place(seconds)

        for value, shown in scale.ticks(3):
            y = position(0, value)[1]
            drawing.line((left, y), (WIDTH, y))
            drawing.text(left - 4, max(y + 4, 10), shown, "end")
        every = math.ceil(len(self.seconds) / _MAX_DOTS)
        inside = [(n, s) for n, s in enumerate(self.seconds) if n % every == 0 or s > scale.high]
        edge = [position(n, s) for n, s in inside if s > scale.high]
        drawing.dots([position(n, s) for n, s in inside if s <= scale.high], COLOURS[0])
        drawing.dots(edge, COLOURS[6], 2)
        y = position(0, self.marks()[1])[1]
        drawing.polyline([(left, y), (WIDTH, y)], COLOURS[1], 1)
        drawing.text(left, _HIGH + 15, "first sample")
        drawing.text(WIDTH, _HIGH + 15, "last", "end")

    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:
        """Yield how often each time came; its median and tails; the samples in their order."""
        low, high = (units.duration(end, self.digits) for end in (self.scale.low, self.scale.high))
        name = max(len(self.label), len("over time"), labels)
        beside = len(low) + len(high) + 2
        beyond = self._beyond_words()
        if columns < NARROW:
            yield ((f"{self.label}  {low} to {high}", ""),)
            yield ((_columns(self.counts(columns - 2)), ""),)
            yield ((self._marks(columns - 2), ""),)
            yield from (((words, ""),) for words in (beyond,) if words)
            if self.before:
                yield ((monospace.shorten(self._before_words(), columns), ""),)
                yield ((_columns(self._counts_before(columns - 2)), ""),)
            yield ((f"over time{'':2}{self._order(columns - 11)}", ""),)
            return
        room = columns - name - 2 - beside
        after = f" {beyond}" if beyond and len(beyond) < room - _MIN_TEXT_BINS else ""
        bins = max(min(room - len(after), _MAX_TEXT_BINS), _MIN_TEXT_BINS)
        bars = _columns(self.counts(bins))
        yield ((f"{self.label:{name}}  {low} {bars} {high}{after}", ""),)
        gap = " " * (name + len(low) + 3)
        yield from (((f"{gap}{words}", ""),) for words in (beyond,) if words and not after)
        legend = _LEGEND if len(gap) + bins + len(_LEGEND) <= columns else ""
        yield ((f"{gap}{self._marks(len(bars))}", ""), (legend, "dim"))
        yield from self._lines_before(name, len(low), len(bars))
        yield ((f"{'over time':{name}}  {' ' * len(low)} {self._order(len(bars))}", ""),)

    def _lines_before(self, name: int, indent: int, bins: int) -> Iterator[Spans]:
        """Yield how often each time came in the earlier run, on the same scale."""
        if self.before:
            label = monospace.left(monospace.shorten(self.name, name), name)
            signs = _columns(self._counts_before(bins))
            median = units.duration(stats.median(self.before), self.digits)
            yield ((f"{label}  {' ' * indent} {signs} ", ""), (f"median {median}", "dim"))

    def _before_words(self) -> str:
        return f"{self.name}, median {units.duration(stats.median(self.before), self.digits)}"

    def _marks(self, bins: int) -> str:
        """Return a line from 5 % to 95 % of the samples, with the median on it."""
        first, middle, last = (round(self.scale.place(v) * (bins - 1)) for v in self.marks())
        signs = [" "] * bins
        signs[first:last] = "─" * (last - first)
        for place, sign in ((first, "├"), (last, "┤"), (middle, "┼")):
            signs[place] = sign
        return "".join(signs).rstrip()

    def _order(self, bins: int) -> str:
        """Return the medians of equal parts in their order, as heights."""
        parts = min(bins, len(self.seconds))
        ends = [round(n * len(self.seconds) / parts) for n in range(parts + 1)]
        medians = [stats.median(self.seconds[a:b]) for a, b in itertools.pairwise(ends)]
        return "".join(HEIGHTS[round(self.scale.place(middle) * 7)] for middle in medians)

    def describe(self) -> str:
        """Return the ends, the median and the counts."""
        low, middle, high = (units.duration(value, self.digits) for value in self.marks())
        counts = " ".join(map(str, self.counts(12)))
        more = self._beyond_words()
        return (
            f"{self.label}, {len(self.seconds):,}: 5 % below {low}, median {middle},"
            f" 95 % below {high}; in 12 steps {counts}"
            + (f"; {more}" if more else "")
            + (f"; {self._before_words()}" if self.before else "")
        )

    def plot(self, axes: Any) -> None:
        """Draw a histogram of matplotlib, with the median and the tails."""
        scale = self.scale
        low, middle, high = self.marks()
        axes.hist(self.seconds, bins=_BINS, range=(scale.low, scale.high), color=COLOURS[0])
        if self.before:
            share = len(self.seconds) / len(self.before)
            axes.hist(
                self.before, bins=_BINS, range=(scale.low, scale.high), histtype="step",
                weights=[share] * len(self.before), color=COLOURS[4], label=self._before_words(),
            )  # fmt: skip
        axes.axvspan(low, high, color=COLOURS[0], alpha=0.12)
        axes.axvline(middle, color=COLOURS[1], label="median")
        axes.set(xlabel="time per call", ylabel="samples", title=self._beyond_words() or None)
        label_ticks(axes.xaxis, "s")
        axes.legend()

    def marks(self) -> tuple[float, float, float]:
        """Return below which time 5 %, a half and 95 % of the samples are."""
        low, middle, high = (stats.quantile(self.seconds, p) for p in (0.05, 0.5, 0.95))
        return low, middle, high

    def beyond(self) -> list[float]:
        """Return the samples that are slower than the picture goes."""
        return [seconds for seconds in self.seconds if seconds > self.scale.high]

    def counts(self, bins: int) -> list[int]:
        """Return how many samples are in each equal step of the scale."""
        return self._count(self.seconds, bins)

    def _counts_before(self, bins: int) -> list[float]:
        """Return the same of the earlier run, as if it had as many samples."""
        share = len(self.seconds) / max(len(self.before), 1)
        return [n * share for n in self._count(self.before, bins)] if self.before else []

    def _count(self, samples: Sequence[float], bins: int) -> list[int]:
        scale, counts = self.scale, [0] * bins
        for seconds in samples:
            if seconds <= scale.high:
                counts[min(int(scale.place(seconds) * bins), bins - 1)] += 1
        return counts

    def _beyond_words(self) -> str:
        slower = self.beyond()
        if not slower:
            return ""
        return f"+{len(slower):,} slower, up to {units.duration(max(slower), self.digits)}"

    @cached_property
    def scale(self) -> Scale:
        """Return an axis that a few slow samples do not flatten; a wide one is logarithmic."""
        runs = [run for run in (self.seconds, self.before) if run]
        first, last = min(map(min, runs)), max(map(_last_shown, runs))
        return Scale(first, last, "s", log=last > _WIDE_RATIO * first > 0)


def _last_shown(samples: Sequence[float]) -> float:
    """Return the slowest sample that is not far from the others."""
    low, high = (stats.quantile(samples, p) for p in (0.05, 0.95))
    far = high + _TAIL * (high - low)
    return max(seconds for seconds in samples if seconds <= far)


def _steps(counts: Sequence[float], top: float) -> list[tuple[float, float]]:
    """Return the outline of columns."""
    wide = _LEFT / len(counts)
    points = [(0.0, float(_HIGH))]
    for number, count in enumerate(counts):
        y = _HIGH - (_HIGH - _TOP - 4) * count / top
        points += [(number * wide, y), ((number + 1) * wide, y)]
    return [*points, (_LEFT, _HIGH)]


def _columns(counts: Sequence[float]) -> str:
    """Return one column for each count, empty only where there is nothing."""
    top = max(counts)
    return "".join(HEIGHTS[math.ceil(8 * n / top) - 1] if n else " " for n in counts)
