"""Lines over each other, on logarithmic scales or over time: as letters, and as a picture."""

import base64
import math
import string
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ipyjaxbench import units
from ipyjaxbench.reports.blocks import Chart, Series

if TYPE_CHECKING:
    from rich.console import Console

_LABEL_COLUMNS, _LINES = 22, 12
_WIDE, _HIGH, _EDGE, _SAMPLE = 640, 240, 8, 36  # pixels
#: Mid-tones that differ on white and on black, also for most who see colours differently.
COLOURS = ("#3b82c4", "#c8701a", "#3a9d6a", "#c2559b", "#8a6fd1", "#9a8b2f", "#c0504d", "#5f8f9f")
_SHAPES = {
    "circles": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "squares": "M-3.5 -3.5h7v7h-7z",
    "triangles": "M0 -4.5L4.5 3.5H-4.5z",
    "diamonds": "M0 -5L5 0L0 5L-5 0z",
    "crosses": "M-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
}
_MIN_RATIO = 2.0  # of the ends of the vertical scale
_DASHES = ("", "6 3", "2 3", "8 3 2 3")


def _choose_letters(series: Sequence[Series]) -> list[str]:
    """Return a sign for each line: the first letter of its name that no other has taken."""
    taken: list[str] = []
    for line in series:
        wanted = [*line.label, *string.ascii_letters, *string.digits]
        free = (c for c in wanted if c.isascii() and c.isalnum() and c not in taken)
        taken.append(next(free, "*"))
    return taken


def draw(console: "Console", chart: Chart, say: Callable[[str], str]) -> None:
    """Print the picture; where lines meet, ``*`` stands."""
    from rich.text import Text

    across, up = _scales(chart)
    columns = console.width - _LABEL_COLUMNS
    grid = [[" "] * columns for _ in range(_LINES)]
    signs = _choose_letters(chart.series)
    for sign, line in zip(signs, chart.series, strict=True):
        for x, y, *_ in line.points:
            column = round(across(x) * (columns - 1))
            row = grid[_LINES - 1 - round(up(y) * (_LINES - 1))]
            row[column] = "*" if row[column] not in (" ", sign) else sign
    low, high = _heights(chart)
    labels = {0: units.duration(high, 2), _LINES - 1: units.duration(low, 2)}
    for number, row in enumerate(grid):
        console.print(Text(say(f"{labels.get(number, ''):>10} | {''.join(row).rstrip()}")))
    first, last = _across(chart)
    gap = " " * (columns - len(first) - len(last))
    console.print(Text(say(f"{'':>10}   {first}{gap}{last}")))
    named = ", ".join(
        f"{sign} {line.label}" for sign, line in zip(signs, chart.series, strict=True)
    )
    also = ", * several" if any("*" in row for row in grid) else ""
    console.print(Text(say(f"{'':>10}   {chart.up} over {chart.across}: {named}{also}")))


def draw_image(chart: Chart) -> str:
    """Return an image as an address that holds it; it has no words, since those need a theme."""
    across, up = _scales(chart)
    least, most = _heights(chart)

    def position(x: float, y: float) -> tuple[float, float]:
        return _EDGE + across(x) * _WIDE, _EDGE + (1 - up(y)) * _HIGH

    parts = []
    for number, line in enumerate(chart.series):
        parts.append(_line([position(x, y) for x, y, *_ in line.points], number))
        for x, y, low, high in line.points:
            ends = [position(x, max(low, least)), position(x, min(high, most))]
            parts.append(_polyline(ends, f'stroke="{_colour(number)}" stroke-width="1.5"'))
            parts.append(_mark(position(x, y), number))
    frame = (
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_WIDE}" height="{_HIGH}" fill="none"'
        ' stroke="#888888" stroke-opacity="0.5"/>'
    )
    return encode_svg(_WIDE + 2 * _EDGE, _HIGH + 2 * _EDGE, [frame, *parts])


def legend(chart: Chart) -> list[tuple[str, str, str]]:
    """Return an image, its words and a name for each line, from the highest end to the lowest."""
    order = sorted(enumerate(chart.series), key=lambda line: -line[1].points[-1][1])
    return [(_sample(number), _shape(number), line.label) for number, line in order]


def describe_scales(chart: Chart) -> str:
    """Return where both scales begin and end, in words."""
    first, last = _across(chart)
    low, high = (units.duration(height, 2) for height in _heights(chart))
    kind = "both logarithmic" if chart.ends is None else "upwards logarithmic"
    return (
        f"to the right {chart.across} from {first} to {last},"
        f" upwards {chart.up} from {low} to {high}; {kind}"
    )


def _sample(number: int) -> str:
    middle = (_SAMPLE / 2, _EDGE)
    line = _line([(0, _EDGE), (_SAMPLE, _EDGE)], number)
    return encode_svg(_SAMPLE, 2 * _EDGE, [line, _mark(middle, number)])


def encode_svg(wide: int, high: int, parts: Sequence[str], style: str = "") -> str:
    """Return a drawing as an address that holds it."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"{style}>'
        f"{''.join(parts)}</svg>"
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _line(points: Sequence[tuple[float, float]], number: int) -> str:
    dashes = _DASHES[number // len(COLOURS) % len(_DASHES)]
    style = f'fill="none" stroke="{_colour(number)}" stroke-width="2" stroke-dasharray="{dashes}"'
    return _polyline(points, style)


def _polyline(points: Sequence[tuple[float, float]], style: str) -> str:
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" {style}/>'


def _mark(at: tuple[float, float], number: int) -> str:
    """Return a shape of its own for each of neighbouring lines, for those who see no difference."""
    where = f"translate({at[0]:.1f} {at[1]:.1f})"
    return f'<path transform="{where}" d="{_SHAPES[_shape(number)]}" fill="{_colour(number)}"/>'


def _shape(number: int) -> str:
    return list(_SHAPES)[number % len(_SHAPES)]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def describe(chart: Chart) -> str:
    """Return the picture in words, for those who do not see it."""
    scales = "both logarithmic" if chart.ends is None else f"from {' to '.join(chart.ends)}"
    lines = (
        f"{line.label}: " + ", ".join(f"{_place(chart, x)}{y:.3g} s" for x, y, *_ in line.points)
        for line in chart.series
    )
    return f"{chart.up} over {chart.across}, {scales}: {'; '.join(lines)}"


def _place(chart: Chart, x: float) -> str:
    return f"{x:g} " if chart.ends is None else ""


def _across(chart: Chart) -> tuple[str, str]:
    """Return words for the ends of the horizontal scale."""
    if chart.ends is not None:
        return chart.ends
    left, right = _ends(chart, 0)
    return _plain(left), _plain(right)


def _ends(chart: Chart, which: int) -> tuple[float, float]:
    values = [point[which] for line in chart.series for point in line.points]
    return min(values), max(values)


def _heights(chart: Chart) -> tuple[float, float]:
    """Return the ends of the vertical scale: a factor of two, lest noise looks like hills."""
    low, high = _ends(chart, 1)
    more = max(math.sqrt(_MIN_RATIO * low / high), 1.0)
    return low / more, high * more


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _scales(chart: Chart) -> tuple[Callable[[float], float], Callable[[float], float]]:
    def logarithmic(low: float, high: float) -> Callable[[float], float]:
        span = math.log(high / low) or 1.0
        return lambda value: math.log(value / low) / span

    def even(low: float, high: float) -> Callable[[float], float]:
        span = (high - low) or 1.0
        return lambda value: (value - low) / span

    across = logarithmic if chart.ends is None else even
    return across(*_ends(chart, 0)), logarithmic(*_heights(chart))
