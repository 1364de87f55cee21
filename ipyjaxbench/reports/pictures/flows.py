"""What went where: arrows as wide as their bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures.drawing import BOLD, WIDTH, Drawing, shorten, text_width
from ipyjaxbench.reports.pictures.matplotlib_axes import label_rows, set_ticks
from ipyjaxbench.reports.pictures.picture import NARROW, Picture, Spans
from ipyjaxbench.reports.pictures.scales import Scale
from ipyjaxbench.reports.pictures.stack import look

HOST = "host"
_ROW, _WIDEST, _HEAD = 30, 18.0, 9.0  # pixels
_MAX_NAME = 150.0
_ARROW, _SHORTEST_ARROW, _MAX_COLUMNS = 24, 6, 24  # columns
_WEIGHTS = ((0.5, "█"), (0.1, "━"), (0.0, "─"))  # of the largest flow -> a sign


@dataclass(frozen=True)
class Flow:
    """Data that went from one place to another.

    Attributes:
        source: where it came from, such as "host".
        target: where it went.
        nbytes: how much.
        shown: that in words.
        implicit: whether the code does not say that it goes.
    """

    source: str
    target: str
    nbytes: int
    shown: str
    implicit: bool = False

    @property
    def route(self) -> tuple[str, str]:
        """From where to where, in few letters."""
        source, target = (
            monospace.shorten(end, _MAX_COLUMNS) for end in (self.source, self.target)
        )
        return source, target

    @property
    def is_back(self) -> bool:
        """Whether it is drawn to the left: the host stands there."""
        return self.target == HOST and self.source != HOST

    @property
    def ends(self) -> tuple[str, str]:
        """What stands on the left and on the right."""
        source, target = self.route
        return (target, source) if self.is_back else (source, target)

    @property
    def kind(self) -> str:
        """The kind of segment that has its colour."""
        return "implicit copy" if self.implicit else "copy"

    @property
    def words(self) -> str:
        """How much, and whether it was implicit."""
        return f"{self.shown} implicit" if self.implicit else self.shown


@dataclass(frozen=True)
class Flows(Picture):
    """Flows under each other, with the host on the left."""

    rows: tuple[Flow, ...]

    def draw(self) -> Drawing:
        """Return arrows between names; implicit ones are red, and say so."""
        drawing = Drawing(WIDTH, _ROW * len(self.rows))
        left = min(max(text_width(flow.ends[0], bold=True) for flow in self.rows), _MAX_NAME)
        right = min(max(text_width(flow.ends[1], bold=True) for flow in self.rows), _MAX_NAME)
        beside = max(text_width(flow.words) for flow in self.rows) + 12
        end = max(min(WIDTH - right - beside - 16, 400), left + 60)
        for number, flow in enumerate(self.rows):
            middle = number * _ROW + _ROW / 2
            first, second = flow.ends
            drawing.text(left, middle + 4, shorten(first, left), "end", more=BOLD)
            drawing.text(end + 8, middle + 4, shorten(second, right), more=BOLD)
            drawing.text(end + right + 20, middle + 4, flow.words)
            self._draw_arrow(drawing, flow, (left + 8, end), middle)
        return drawing

    def _draw_arrow(
        self, drawing: Drawing, flow: Flow, ends: tuple[float, float], middle: float
    ) -> None:
        half = max(_WIDEST * self._share(flow), 1.5) / 2
        tail, tip = ends[::-1] if flow.is_back else ends
        neck = tip + _HEAD * (1 if flow.is_back else -1)
        wide = half + 4
        points = [
            (tail, middle - half), (neck, middle - half), (neck, middle - wide), (tip, middle),
            (neck, middle + wide), (neck, middle + half), (tail, middle + half),
        ]  # fmt: skip
        colour = look(flow.kind)[0]
        dashes = f' stroke="{colour}" stroke-dasharray="5 3"' if flow.implicit else ""
        drawing.polygon(points, f"{colour}55" if dashes else colour, dashes)

    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:
        """Yield an arrow for each, of a stronger line where more bytes go."""
        words = monospace.widest(flow.words for flow in self.rows)
        label = labels if columns >= NARROW else 0
        most = max((columns - label - words - 8 - _SHORTEST_ARROW) // 2, 0)
        ends = [[monospace.shorten(end, most) for end in flow.ends] for flow in self.rows]
        left, right = (monospace.widest(names) for names in zip(*ends, strict=True))
        arrow = min(max(columns - label - left - right - words - 8, _SHORTEST_ARROW), _ARROW)
        for flow, (first, second) in zip(self.rows, ends, strict=True):
            sign = next(sign for least, sign in _WEIGHTS if self._share(flow) >= least)
            shaft = f"◀{sign * (arrow - 1)}" if flow.is_back else f"{sign * (arrow - 1)}▶"
            indent = " " * (label + 2) if label else ""
            yield (
                (f"{indent}{monospace.right(first, left)} ", ""),
                (shaft, look(flow.kind)[2]),
                (f" {monospace.left(second, right)}  {flow.words}", ""),
            )

    def describe(self) -> str:
        """Return each flow in words."""
        return "; ".join(f"{flow.source} to {flow.target} {flow.words}" for flow in self.rows)

    def plot(self, axes: Any) -> None:
        """Draw bars of matplotlib, as long as the bytes."""
        sizes = [flow.nbytes for flow in self.rows]
        colours = [look(flow.kind)[0] for flow in self.rows]
        bars = axes.barh(range(len(sizes)), sizes, color=colours)
        axes.bar_label(bars, [flow.words for flow in self.rows], padding=6)
        label_rows(axes, [" → ".join(flow.route) for flow in self.rows])
        axes.margins(x=0.25)
        axes.set_xlabel("bytes copied")
        set_ticks(axes.xaxis, Scale(0, max(*sizes, 1), "B"), 4)

    def _share(self, flow: Flow) -> float:
        return flow.nbytes / max(1, *(each.nbytes for each in self.rows))
