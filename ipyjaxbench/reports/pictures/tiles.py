"""An array as it lies on devices: a tile for each part, with the devices that hold it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures.drawing import (
    BOLD,
    COLOURS,
    WIDTH,
    Drawing,
    Point,
    shorten,
    text_width,
)
from ipyjaxbench.reports.pictures.picture import Picture, Spans

_HIGHEST, _WIDEST = 150.0, 230.0  # pixels of a panel
_ROW, _COLUMN = 20.0, 44.0  # pixels that a part takes at least
_LINE, _SPACE = 16, 18  # pixels of a line of words; between panels
_TEXT_SPACE = 3  # columns between panels
_MANY = re.compile("[-,]")
_MAX_CELLS = 24  # that are described one by one
_STYLES = ("blue", "yellow", "green", "magenta", "cyan", "red")


@dataclass(frozen=True)
class Panel:
    """One array, or a part of one: two of its axes.

    Attributes:
        name: what it is.
        rows: the parts along the axis that goes down, each with its name and length.
        columns: those along the other one; a name may be empty where there is but one.
        cells: for each row the devices that hold its parts, as "cpu:0,1".
    """

    name: str
    rows: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, int], ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Tiles(Picture):
    """Panels side by side; parts on the same devices have the same colour in all of them."""

    panels: tuple[Panel, ...]

    def draw(self) -> Drawing:
        """Return panels with tiles as large as their parts, as far as words fit into them."""
        places: list[tuple[_Shape, float, float]] = []
        x = y = below = 0.0
        for panel in self.panels:
            shape = _Shape(panel)
            if x and x + shape.width > WIDTH:
                x, y, below = 0.0, below + _SPACE, 0.0
            places.append((shape, x, y))
            x += shape.width + _SPACE
            below = max(below, y + shape.height)
        drawing = Drawing(WIDTH, round(below) + 2)
        for shape, left, top in places:
            self._draw_panel(drawing, shape, left, top)
        return drawing

    def _draw_panel(self, drawing: Drawing, shape: "_Shape", left: float, top: float) -> None:
        name = shorten(shape.panel.name, shape.width)
        drawing.text(left, top + 12, name, more=BOLD)
        y = top + shape.top
        for (words, _), x, width in zip(shape.panel.columns, *shape.columns, strict=True):
            shown = _short(words, width)
            drawing.text(left + shape.left + x + width / 2, y - 5, shown, "middle")
        for (words, _), down, height, cells in zip(
            shape.panel.rows, *shape.rows, shape.panel.cells, strict=False
        ):
            drawing.text(left, y + down + height / 2 + 4, shorten(words, shape.left))
            for cell, x, width in zip(cells, *shape.columns, strict=False):
                at = (left + shape.left + x, y + down)
                self._draw_tile(drawing, at, (width, height), cell)

    def _draw_tile(self, drawing: Drawing, at: Point, size: Point, devices: str) -> None:
        (x, y), (width, height) = at, size
        drawing.rect(x, y, width - 2, height - 2, COLOURS[self._number(devices) % len(COLOURS)])
        middle = (x + width / 2 - 1, y + height / 2 + 3)
        drawing.text(*middle, _fit(devices, width - 6), "middle", "#ffffff", BOLD)

    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:  # noqa: ARG002
        """Yield panels beside each other as far as they fit, with a line for each row of tiles."""
        beside: list[list[Spans]] = []
        taken = 0
        for panel in self.panels:
            block = [*self._panel_lines(panel, columns)]
            width = max(map(_width, block))
            if beside and taken + _TEXT_SPACE + width > columns:
                yield from _join(beside)
                beside, taken = [], 0
            taken += width + (_TEXT_SPACE if beside else 0)
            beside.append(block)
        yield from _join(beside)

    def _panel_lines(self, panel: Panel, columns: int) -> Iterator[Spans]:
        label = monospace.widest(words for words, _ in panel.rows)
        room = max((columns - label - 2) // len(panel.columns) - 3, 1)
        tops = [words for words, _ in panel.columns]
        if monospace.widest(tops) > room:
            tops = [_indices(words) for words in tops]
        fit = monospace.widest(cell for row in panel.cells for cell in row) <= room
        rows = [[cell if fit else _numbers(cell) for cell in row] for row in panel.cells]
        wide = [min(monospace.widest(each), room) for each in zip(tops, *rows, strict=False)]
        yield ((monospace.shorten(panel.name, columns), "bold"),)
        if any(tops):
            heads = (f" {_centre(top, width)} " for top, width in zip(tops, wide, strict=False))
            yield ((f"{'':{label}}  {' '.join(heads)}", "dim"),)
        for (words, _), cells, texts in zip(panel.rows, panel.cells, rows, strict=False):
            spans: list[tuple[str, str]] = [(f"{monospace.left(words, label)} │", "")]
            for cell, text, width in zip(cells, texts, wide, strict=False):
                style = f"reverse {_STYLES[self._number(cell) % len(_STYLES)]}"
                spans += [(f" {_centre(text, width)} ", style), ("│", "")]
            yield tuple(spans)

    def describe(self) -> str:
        """Return which devices hold which part."""
        parts = [
            f"{', '.join(filter(None, (row, column)))} on {cell}".removeprefix(" ")
            if (row or column) else f"all on {cell}"
            for panel in self.panels
            for (row, _), cells in zip(panel.rows, panel.cells, strict=False)
            for (column, _), cell in zip(panel.columns, cells, strict=False)
        ]  # fmt: skip
        more = f" and {len(parts) - _MAX_CELLS} more" if len(parts) > _MAX_CELLS else ""
        names = ", ".join(panel.name for panel in self.panels)
        return f"{names}: {'; '.join(parts[:_MAX_CELLS])}{more}"

    def plot(self, axes: Any) -> None:
        """Draw rectangles of matplotlib, with panels side by side."""
        from matplotlib.patches import Rectangle

        left = lowest = 0.0
        for panel in self.panels:
            shape = _Shape(panel)
            axes.text(left, -_LINE - 6, panel.name, weight="bold")
            inside = left + shape.left
            for (words, _), x, width in zip(panel.columns, *shape.columns, strict=False):
                axes.text(inside + x + width / 2, -6, _short(words, width), ha="center")
            for (words, _), cells, down, height in zip(
                panel.rows, panel.cells, *shape.rows, strict=False
            ):
                axes.text(left, down + height / 2, shorten(words, shape.left), va="center")
                for cell, x, width in zip(cells, *shape.columns, strict=False):
                    colour = COLOURS[self._number(cell) % len(COLOURS)]
                    at = (inside + x, down)
                    axes.add_patch(Rectangle(at, width - 2, height - 2, color=colour))
                    middle = (at[0] + width / 2, down + height / 2)
                    shown = _fit(cell, width - 6)
                    axes.text(*middle, shown, ha="center", va="center", color="white")
                lowest = max(lowest, down + height)
            left += shape.width + _SPACE
        axes.set_xlim(0, max(left, WIDTH))
        axes.set_ylim(lowest, -2 * _LINE - 6)
        axes.set_axis_off()

    def _number(self, devices: str) -> int:
        """Return which of all the groups this is, by its first device."""
        cells = (cell for panel in self.panels for row in panel.cells for cell in row)
        return [*dict.fromkeys(map(_first, cells))].index(_first(devices))


class _Shape:
    """Where the parts of a panel lie, in pixels.

    Attributes:
        columns: for each where it begins and how wide it is.
        rows: for each where it begins and how high it is.
        left: pixels of the names of rows.
        top: pixels of the lines above the tiles.
    """

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        down, across = (max(sum(n for _, n in parts), 1) for parts in (panel.rows, panel.columns))
        scale = min(_HIGHEST / down, _WIDEST / across)
        # As `shorten` counts: in bold letters.
        named = max(text_width(words, bold=True) for words, _ in panel.rows)
        self.left = min(named + 8, WIDTH / 3) if named else 0.0
        room = WIDTH - self.left - 2
        tops = [text_width(words) for words, _ in panel.columns]
        cells = [text_width(_numbers(cell), bold=True) for row in panel.cells for cell in row]
        named = max([*tops, *cells]) + 8
        least = max(_COLUMN, named if named * len(panel.columns) < WIDTH / 2 else 0)
        self.columns = _places([n for _, n in panel.columns], scale, least, room)
        self.rows = _places([n for _, n in panel.rows], scale, _ROW, WIDTH)
        self.top = _LINE * (1 + any(words for words, _ in panel.columns)) + 3
        inside = sum(self.columns[1])
        named = min(text_width(panel.name, bold=True) + 8, WIDTH)
        self.width = max(self.left + inside, named)
        self.height = self.top + sum(self.rows[1])


def _places(
    lengths: Sequence[int], scale: float, least: float, most: float
) -> tuple[list[float], list[float]]:
    """Return where parts begin and how long they are: long enough for words, if there is room."""
    sizes = [max(length * scale, least) for length in lengths]
    sizes = [size * min(most / sum(sizes), 1.0) for size in sizes]
    return [sum(sizes[:number]) for number in range(len(sizes))], sizes


def _short(words: str, pixels: float) -> str:
    """Return the name of a column, or its numbers alone, or nothing where those do not fit."""
    for shown in (words, _indices(words)):
        if text_width(shown) <= pixels:
            return shown
    return ""


def _first(devices: str) -> str:
    """Return the first device of a group such as "cpu:0-3" or "rank:0,1 cpu:0,2"."""
    return " ".join(_MANY.split(word, maxsplit=1)[0] for word in devices.split())


def _indices(words: str) -> str:
    """Return the last word of a part's name."""
    return words.rpartition(" ")[2]


def _numbers(devices: str) -> str:
    """Return devices without their platform."""
    return devices.partition(":")[2]


def _fit(devices: str, pixels: float) -> str:
    """Return devices, or their numbers alone, or nothing where those do not fit."""
    for shown in (devices, _numbers(devices)):
        if text_width(shown, bold=True) <= pixels:
            return shown
    return ""


def _join(blocks: Sequence[Sequence[Spans]]) -> Iterator[Spans]:
    widths = [max(map(_width, block)) for block in blocks]
    for row in zip_longest(*blocks, fillvalue=()):
        line: list[tuple[str, str]] = []
        for spans, width in zip(row, widths, strict=True):
            line += [*spans, (" " * (width - _width(spans) + _TEXT_SPACE), "")]
        yield tuple(line)


def _centre(words: str, columns: int) -> str:
    return monospace.centre(monospace.shorten(words, columns), columns)


def _width(spans: Spans) -> int:
    return sum(monospace.width(text) for text, _ in spans)
