"""Lines over each other, on logarithmic scales or over time: as letters, and as a picture."""

import base64
import math
import string
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ipyjaxbench import units
from ipyjaxbench.report import Chart, Series

if TYPE_CHECKING:
    from rich.console import Console

_BESIDE, _LINES = 22, 12
_WIDE, _HIGH, _LEFT, _BELOW, _RIGHT = 560, 240, 70, 34, 110  # pixels
#: Mid-tones that can be told apart on white and on black, by most who see colours differently too.
_COLOURS = ("#3b82c4", "#d9822b", "#3a9d6a", "#c2559b", "#8a6fd1", "#9a8b2f", "#c0504d", "#5f8f9f")
_LEAST = 2.0  # times as high as the lower end
_DASHES = ("", "6 3", "2 3", "8 3 2 3")


def letters(series: Sequence[Series]) -> list[str]:
    """A sign for each line: the first letter of its name that no other has taken."""
    taken: list[str] = []
    for each in series:
        wanted = [*each.label, *string.ascii_letters, *string.digits]
        free = (c for c in wanted if c.isascii() and c.isalnum() and c not in taken)
        taken.append(next(free, "*"))
    return taken


def draw(console: "Console", chart: Chart, say: Callable[[str], str]) -> None:
    """Print the picture; where lines meet, ``*`` stands."""
    from rich.text import Text

    across, up = _scales(chart)
    columns = console.width - _BESIDE
    grid = [[" "] * columns for _ in range(_LINES)]
    signs = letters(chart.series)
    for sign, each in zip(signs, chart.series, strict=True):
        for x, y, *_ in each.points:
            column = round(across(x) * (columns - 1))
            row = grid[_LINES - 1 - round(up(y) * (_LINES - 1))]
            row[column] = "*" if row[column] not in (" ", sign) else sign
    low, high = _heights(chart)
    labels = {0: units.duration(high, 2), _LINES - 1: units.duration(low, 2)}
    for number, line in enumerate(grid):
        console.print(Text(say(f"{labels.get(number, ''):>10} | {''.join(line).rstrip()}")))
    first, last = _across(chart)
    gap = " " * (columns - len(first) - len(last))
    console.print(Text(say(f"{'':>10}   {first}{gap}{last}")))
    named = ", ".join(
        f"{sign} {each.label}" for sign, each in zip(signs, chart.series, strict=True)
    )
    also = ", * several" if any("*" in line for line in grid) else ""
    console.print(Text(say(f"{'':>10}   {chart.up} over {chart.across}: {named}{also}")))


def picture(chart: Chart) -> str:
    """The address of an image that holds itself."""
    across, up = _scales(chart)

    def at(x: float, y: float) -> str:
        return f"{_LEFT + across(x) * _WIDE:.1f},{8 + (1 - up(y)) * _HIGH:.1f}"

    parts = []
    for number, each in enumerate(chart.series):
        colour = _COLOURS[number % len(_COLOURS)]
        dashes = _DASHES[number // len(_COLOURS) % len(_DASHES)]
        line = " ".join(at(x, y) for x, y, *_ in each.points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dashes}"/>'
        )
        for x, y, low, high in each.points:
            least, most = _heights(chart)
            ends = f"{at(x, max(low, least))} {at(x, min(high, most))}"
            parts.append(f'<polyline points="{ends}" stroke="{colour}" stroke-width="1.5"/>')
            cx, cy = at(x, y).split(",")
            parts.append(f'<circle cx="{cx}" cy="{cy}" r="3" fill="{colour}"/>')
    parts += _names(chart, at)
    wide, high = _LEFT + _WIDE + _RIGHT, 8 + _HIGH + _BELOW
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"'
        f' font-family="sans-serif" font-size="12" fill="#888888">'
        f'<rect x="{_LEFT}" y="8" width="{_WIDE}" height="{_HIGH}" fill="none" stroke="#888888"'
        f' stroke-opacity="0.5"/>{"".join(parts)}</svg>'
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _names(chart: Chart, at: Callable[[float, float], str]) -> list[str]:
    """Names of lines at their ends, pushed apart where they meet, and of both scales' ends."""
    ends: list[tuple[float, str, str]] = []
    for number, each in enumerate(chart.series):
        x, y, *_ = each.points[-1]
        height = float(at(x, y).split(",")[1]) + 4
        ends.append((height, _COLOURS[number % len(_COLOURS)], _escaped(each.label)))
    placed, below = [], -math.inf
    for height, colour, label in sorted(ends):
        below = max(height, below + 13)
        where = f'x="{_LEFT + _WIDE + 6}" y="{below:.1f}"'
        placed.append(f'<text {where} fill="{colour}">{label}</text>')
    (left, right), (low, high) = _across(chart), _heights(chart)
    foot, middle = 8 + _HIGH + 16, _LEFT + _WIDE / 2
    return [
        *placed,
        f'<text x="{_LEFT}" y="{foot}">{_escaped(left)}</text>',
        f'<text x="{_LEFT + _WIDE}" y="{foot}" text-anchor="end">{_escaped(right)}</text>',
        f'<text x="{middle}" y="{foot + 12}" text-anchor="middle">{_escaped(chart.across)}</text>',
        f'<text x="{_LEFT - 6}" y="18" text-anchor="end">{units.duration(high, 2)}</text>',
        f'<text x="{_LEFT - 6}" y="{8 + _HIGH}" text-anchor="end">{units.duration(low, 2)}</text>',
    ]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def described(chart: Chart) -> str:
    """The picture in words, for those who do not see it."""
    scales = "both logarithmic" if chart.ends is None else f"from {' to '.join(chart.ends)}"
    lines = (
        f"{each.label}: " + ", ".join(f"{_at(chart, x)}{y:.3g} s" for x, y, *_ in each.points)
        for each in chart.series
    )
    return f"{chart.up} over {chart.across}, {scales}: {'; '.join(lines)}"


def _at(chart: Chart, x: float) -> str:
    return f"{x:g} " if chart.ends is None else ""


def _across(chart: Chart) -> tuple[str, str]:
    """Words for the ends of the horizontal scale."""
    if chart.ends is not None:
        return chart.ends
    left, right = _ends(chart, 0)
    return _plain(left), _plain(right)


def _ends(chart: Chart, which: int) -> tuple[float, float]:
    values = [point[which] for each in chart.series for point in each.points]
    return min(values), max(values)


def _heights(chart: Chart) -> tuple[float, float]:
    """The ends of the vertical scale: a factor of two at least, lest noise looks like hills."""
    low, high = _ends(chart, 1)
    more = max(math.sqrt(_LEAST * low / high), 1.0)
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
