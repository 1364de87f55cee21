"""Lengths in rows under one axis, each cut into segments: what a call's time went into."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures.drawing import BOLD, WIDTH, Drawing, shorten, text_width
from ipyjaxbench.reports.pictures.matplotlib_axes import label_rows, label_ticks
from ipyjaxbench.reports.pictures.picture import NARROW, Picture, Spans
from ipyjaxbench.reports.pictures.scales import Scale

#: Kind of a segment -> its colour, its sign in text, its style in a terminal.
KINDS = {
    "trace": ("#3b82c4", "▒", "blue"),
    "lower": ("#8a6fd1", "▓", "magenta"),
    "compile": ("#c8701a", "█", "yellow"),
    "cache load": ("#9a8b2f", "▚", "cyan"),
    "run": ("#3a9d6a", "░", "green"),
    "other work": ("#3a9d6a", "░", "green"),
    "copy": ("#c2559b", "▓", "magenta"),
    "implicit copy": ("#c0504d", "█", "red"),
    "data": ("#c8701a", "▓", "yellow"),
    "host": ("#3b82c4", "▒", "blue"),
    "call": ("#8a6fd1", "█", "magenta"),
    "device": ("#3a9d6a", "░", "green"),
    "rest": ("#888888", "▚", ""),
    "wait": ("#888888", "▒", ""),
    "": ("none", " ", ""),  # nothing: what follows begins later
}
_OTHER = ("#5f8f9f", "▞", "")
_ROW, _BAR, _LEGEND, _AXIS = 22, 15, 18, 20  # pixels
_MAX_LABEL_COLUMNS = 24
_HAIR = 1.0  # pixels between calls
_MIN_CALL_SIGNS = 4  # with the blank before them
_LEAST_SIGN = 0.5  # of a sign: a part from there on has one
_ROOM_INSIDE = 8.0  # pixels beside words in a segment


@dataclass(frozen=True)
class Segment:
    """A part of a row.

    Attributes:
        kind: one of `KINDS`, which gives its colour; or any other word.
        seconds: how long it is.
        starts: whether another call begins here, which a gap shows.
    """

    kind: str
    seconds: float
    starts: bool = False


@dataclass(frozen=True)
class Stack(Picture):
    """Rows of segments on one axis that begins at zero.

    Attributes:
        rows: for each its name, its segments, and its length in words.
        alike: whether all rows are the same sort of thing, so that the legend sums up all of them;
            else it may be that of the first row, beside which the others stand for comparison.
    """

    rows: tuple[tuple[str, tuple[Segment, ...], str], ...]
    alike: bool = False

    def draw(self) -> Drawing:
        """Return bars under each other, an axis, and what the colours are."""
        label = min(max(text_width(name) for name, _, _ in self.rows) + 16, WIDTH / 4)
        beside = max(text_width(shown, bold=True) for _, _, shown in self.rows) + 12
        room = WIDTH - label - beside
        drawing = Drawing(WIDTH, _ROW * len(self.rows) + _AXIS + _LEGEND)
        scale = self._scale()
        for value, shown in scale.ticks(5):
            x = label + scale.place(value) * room
            drawing.line((x, 0), (x, _ROW * len(self.rows)))
            drawing.text(x, _ROW * len(self.rows) + 13, shown, "middle")
        for number, (name, segments, shown) in enumerate(self.rows):
            top = number * _ROW + (_ROW - _BAR) / 2
            drawing.text(label - 8, top + 12, shorten(name, label - 8), "end")
            end = self._draw_row(drawing, segments, label, top, room)
            drawing.text(end + 6, top + 12, shown, more=BOLD)
        self._draw_legend(drawing, label)
        return drawing

    def _draw_row(
        self, drawing: Drawing, segments: tuple[Segment, ...], left: float, top: float, room: float
    ) -> float:
        at, scale = 0.0, self._scale()
        end = left
        for segment in segments:
            start, at = left + scale.place(at) * room, at + segment.seconds
            end = max(left + scale.place(at) * room, start + _HAIR)
            if not segment.kind:
                continue
            gap = _HAIR if segment.starts and end - start > 2 * _HAIR else 0.0
            drawing.rect(start + gap, top, end - start - gap, _BAR, look(segment.kind)[0])
            if end - start > text_width(segment.kind) + _ROOM_INSIDE and not segment.starts:
                middle, white = (start + end) / 2, ' font-size="11"'
                drawing.text(middle, top + 11.5, segment.kind, "middle", "#ffffff", white)
        return end

    def _draw_legend(self, drawing: Drawing, left: float) -> None:
        x, y = left, drawing.height - 5
        for words, kind in self._legend():
            if x + 15 + text_width(words) > WIDTH and x > left:
                break
            drawing.rect(x, y - 9, 10, 10, look(kind)[0])
            drawing.text(x + 14, y, words)
            x += 14 + text_width(words) + 12

    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:
        """Yield a bar for each row, then what the signs are."""
        widest = monospace.widest(name for name, _, _ in self.rows)
        label = max(min(widest, _MAX_LABEL_COLUMNS), labels)
        if columns < NARROW:
            label = 0
            room = columns - 2
        else:
            room = columns - label - monospace.widest(shown for _, _, shown in self.rows) - 4
        names = monospace.shorten_all([name for name, _, _ in self.rows], label or columns)
        for name, (_, segments, shown) in zip(names, self.rows, strict=True):
            signs = tuple(self._signs(segments, room))
            if columns < NARROW:
                yield from (((each, ""),) for each in monospace.beside(name, shown, columns))
                yield (("  ", ""), *signs)
            else:
                yield ((f"{monospace.left(name, label)}  ", ""), *signs, (f" {shown}", ""))
        line: list[tuple[str, str]] = []
        for words, kind in self._legend():
            piece = f"{look(kind)[1]} {words}"
            if line and sum(len(text) for text, _ in line) + len(piece) + 3 > columns - label - 2:
                yield ((" " * (label + 2), ""), *line)
                line = []
            line += [(" · ", "")] if line else []
            line += [(piece[:1], look(kind)[2]), (piece[1:], "")]
        yield ((" " * (label + 2), ""), *line)

    def _signs(self, segments: tuple[Segment, ...], room: int) -> Iterator[tuple[str, str]]:
        """Yield signs, and a blank before each call that has room for one.

        A part that is shorter than half a sign is rounded away; an empty bar has one sign.
        """
        at, done = 0.0, 0
        for number, segment in enumerate(segments):
            if segment.starts and done:
                length = _call_seconds(segments[number:])
                if round(self._scale().place(at + length) * room) - done >= _MIN_CALL_SIGNS:
                    yield " ", ""
                    done += 1
            at += segment.seconds
            here, length = (self._scale().place(each) * room for each in (at, segment.seconds))
            # At most one sign farther than it should be, or many short parts would make it long.
            is_seen = length >= _LEAST_SIGN and done <= here
            if not done and at > 0:  # a labelled call, or the whole bar
                is_seen |= segment.starts or number == len(segments) - 1
            end = max(round(here), done + is_seen)
            if end > done:
                _, sign, style = look(segment.kind)
                yield sign * (end - done), style
                done = end

    def describe(self) -> str:
        """Return each row with its parts."""
        rows = []
        for name, segments, shown in self.rows:
            some = [segment for segment in segments if segment.kind]
            parts = ", ".join(f"{s.kind} {units.duration(s.seconds, 2)}" for s in some[:12])
            more = f" and {len(some) - 12} more" if len(some) > 12 else ""
            rows.append(f"{name} {shown}" + (f": {parts}{more}" if len(some) > 1 else ""))
        return "; ".join(rows)

    def plot(self, axes: Any) -> None:
        """Draw bars of matplotlib, from the top."""
        seen = set()
        for place, (_, segments, shown) in enumerate(self.rows):
            at = 0.0
            for segment in segments:
                label = segment.kind if segment.kind and segment.kind not in seen else None
                seen.add(segment.kind)
                axes.barh(place, segment.seconds, left=at, color=look(segment.kind)[0], label=label)
                at += segment.seconds
            axes.annotate(f" {shown}", (at, place), va="center")
        names = [name for name, _, _ in self.rows]
        label_rows(axes, monospace.shorten_all(names, _MAX_LABEL_COLUMNS))
        axes.margins(x=0.5)
        axes.set_xlabel("time")
        label_ticks(axes.xaxis, "s")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)

    def _scale(self) -> Scale:
        longest = max(math.fsum(s.seconds for s in segments) for _, segments, _ in self.rows)
        return Scale(0.0, longest or 1.0, "s")

    def _legend(self) -> Iterator[tuple[str, str]]:
        """Yield each kind with its time, in words, and the kind itself."""
        spent: dict[str, float] = {}
        for segment in self.rows[0][1] if self._first_says_all() else self._counted():
            spent[segment.kind] = spent.get(segment.kind, 0.0) + segment.seconds
        order = [*KINDS]
        known = sorted(spent, key=lambda kind: order.index(kind) if kind in order else len(order))
        for kind in known:
            yield f"{kind} {units.duration(spent[kind], 2)}", kind

    def _first_says_all(self) -> bool:
        """Whether the first row is what is explained, and the others stand for comparison."""
        kinds = {segment.kind for segment in self.rows[0][1]}
        all_kinds = {segment.kind for segment in self._all() if segment.kind}
        return not self.alike and all_kinds == kinds and len(kinds) > 1

    def _counted(self) -> list[Segment]:
        """Return what the legend sums up: a row that begins later is a part of another one."""
        whole = [s for _, segments, _ in self.rows for s in segments if segments[0].kind]
        kinds = {"", *(segment.kind for segment in whole)}
        return [*whole, *(segment for segment in self._all() if segment.kind not in kinds)]

    def _all(self) -> list[Segment]:
        return [segment for _, segments, _ in self.rows for segment in segments]


def _call_seconds(segments: Sequence[Segment]) -> float:
    """Return how long the call takes that the first segment begins."""
    more = itertools.takewhile(lambda segment: not segment.starts, segments[1:])
    return math.fsum(segment.seconds for segment in (segments[0], *more))


def look(kind: str) -> tuple[str, str, str]:
    """Return colour, sign and style of a kind."""
    return KINDS.get(kind, _OTHER)
