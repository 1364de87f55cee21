"""A chart in letters, one for each series."""

import itertools
import string
import textwrap
from collections.abc import Iterator, Sequence

from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.pictures.axes import Plotted, Series
from ipyjaxbench.reports.pictures.picture import NARROW, Spans
from ipyjaxbench.reports.pictures.scales import Scale

_ROWS, _MIN_LEFT = 12, 11
_MAX_LABEL = 18
_SEVERAL = "*"  # where points of several series meet


def draw_letters(plotted: Plotted, columns: int) -> Iterator[Spans]:
    """Yield a grid with ticks; names stand at the ends of lines, or below them all."""
    across, up = plotted.scales()
    labels = [each.label for each in plotted.series]
    label = min(monospace.widest(labels), _MAX_LABEL)
    rows = [_row(up, each.points[-1][1]) for each in plotted.series]
    beside = label + 5 if columns >= NARROW and len({*rows}) == len(rows) else 0
    heights = {_row(up, value): shown for value, shown in up.ticks(5)}
    left = max([_MIN_LEFT, *(len(shown) + 1 for shown in heights.values())])
    wide = columns - left - 1 - beside
    signs = choose_letters(labels)
    grid = _fill(plotted, signs, wide)
    names = monospace.shorten_all(labels, label if beside else wide - 2)
    named = [f"{sign} {name}" for sign, name in zip(signs, names, strict=True)]
    ends = dict(zip(rows, named, strict=True)) if beside else {}
    yield ((plotted.y.name, "dim"),)
    for number, row in enumerate(grid):
        edge = "┤" if number in heights else "│"
        line = f"{heights.get(number, ''):>{left - 1}} {edge}{''.join(row)}  {ends.get(number, '')}"
        yield ((line.rstrip(), ""),)
    places = {round(across.place(x) * (wide - 1)): s for x, s in plotted.across_ticks(6)}
    gap = " " * (left + 1)
    yield ((" " * left + "└" + "".join("┬" if n in places else "─" for n in range(wide)), ""),)
    yield ((f"{gap}{_under(places, wide + beside)}", ""),)
    yield ((f"{gap}{plotted.x.name:^{wide}}".rstrip(), "dim"),)
    marks = [f"{'' if mark.y is None else '○ '}{mark.words}" for mark in plotted.marks]
    below = [part for mark in marks for part in textwrap.wrap(mark, wide + beside)]
    below += [] if beside else named
    if any(_SEVERAL in row for row in grid):
        below.append(f"{_SEVERAL} several at one place")
    yield from (((f"{gap}{words}", ""),) for words in below)


def choose_letters(names: Sequence[str]) -> list[str]:
    """Return a sign for each name: its first letter that no other has taken.

    Example:
        >>> choose_letters(["jax", "numpy", "jit"])
        ['j', 'n', 'i']
    """
    taken: list[str] = []
    for name in names:
        wanted = [*name, *string.ascii_letters, *string.digits]
        free = (c for c in wanted if c.isascii() and c.isalnum() and c not in taken)
        taken.append(next(free, "*"))
    return taken


def _row(up: Scale, height: float) -> int:
    return _ROWS - 1 - round(up.place(height) * (_ROWS - 1))


def _fill(plotted: Plotted, signs: Sequence[str], wide: int) -> list[list[str]]:
    """Return rows of signs: points as letters, ``*`` where several meet, lines as dots, rings."""
    across, up = plotted.scales()
    grid = [[" "] * wide for _ in range(_ROWS)]

    def column(x: float) -> int:
        return round(across.place(x) * (wide - 1))

    for mark in plotted.marks:
        for row in grid if mark.y is None else ():
            row[column(mark.x)] = "┊"
    rings = [(mark.x, mark.y) for mark in plotted.marks if mark.y is not None]
    for each in plotted.series:
        for x, y in _between_points(each, across, up, wide):
            grid[_row(up, y)][column(x)] = "·"
    for x, y in rings:
        grid[_row(up, y)][column(x)] = "○"
    for sign, each in zip(signs, plotted.series, strict=True):
        for x, y, *_ in each.points:
            there = grid[_row(up, y)][column(x)]
            grid[_row(up, y)][column(x)] = sign if there in (" ", "·", "┊", "○", sign) else _SEVERAL
    return grid


def _between_points(
    each: Series, across: Scale, up: Scale, wide: int
) -> Iterator[tuple[float, float]]:
    """Yield places on the line between its points, one for each column."""
    if not each.line:
        return

    def between(scale: Scale, start: float, end: float, share: float) -> float:
        if scale.log:
            return float(start * (end / start) ** share)
        return start + share * (end - start)

    for (x0, y0, *_), (x1, y1, *_) in itertools.pairwise(each.points):
        steps = max(round(abs(across.place(x1) - across.place(x0)) * wide), 1)
        for n in range(1, steps):
            yield between(across, x0, x1, n / steps), between(up, y0, y1, n / steps)


def _under(places: dict[int, str], wide: int) -> str:
    """Return labels centred under their columns, without those that would overlap."""
    line, free = "", 0
    for column, shown in sorted(places.items()):
        start = max(column - len(shown) // 2, 0)
        if start < free or start + len(shown) > wide:
            continue
        line = f"{line:{start}}{shown}"
        free = len(line) + 1
    return line
