"""A drawing in SVG, as an address that an ``<img>`` shows: alive where a notebook is not trusted.

An image does not know whether the page around it is light or dark, so all is drawn in mid-tones
that read on both.
"""

import base64
import re
from collections.abc import Sequence
from html import escape

from ipyjaxbench.reports import monospace

INK = "#777777"  # words, axes: 4.5 to 1 on white, 4.2 on JupyterLab's black
GRID = "#88888855"
#: Mid-tones that differ on white and on black, also for most who see colours differently.
COLOURS = ("#3b82c4", "#c8701a", "#3a9d6a", "#c2559b", "#8a6fd1", "#9a8b2f", "#c0504d", "#5f8f9f")
WIDTH = 640  # pixels of every picture, so that those of one report stand under each other
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = 'font-family="system-ui,sans-serif" font-size="12"'
_LETTER, _BOLD = 6.9, 7.6  # pixels that a letter takes, about
BOLD = ' font-weight="600"'

Point = tuple[float, float]


class Drawing:
    """Shapes in pixels, from the upper left corner.

    Example:
        >>> drawing = Drawing(100, 20)
        >>> drawing.rect(0, 0, 50, 20, COLOURS[0])
        >>> drawing.address()[:26]
        'data:image/svg+xml;base64,'
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._shapes: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, more: str = ""
    ) -> None:
        """Add a filled rectangle."""
        self._shapes.append(
            f'<rect x="{_px(x)}" y="{_px(y)}" width="{_px(width)}" height="{_px(height)}"'
            f' fill="{fill}"{more}/>'
        )

    def line(self, start: Point, end: Point, stroke: str = GRID, more: str = "") -> None:
        """Add a straight line, one pixel wide."""
        self.polyline((start, end), stroke, 1, more)

    def polyline(self, points: Sequence[Point], stroke: str, width: float, more: str = "") -> None:
        """Add a line through points."""
        self._shapes.append(
            f'<polyline points="{_points(points)}" fill="none" stroke="{stroke}"'
            f' stroke-width="{width:g}"{more}/>'
        )

    def polygon(self, points: Sequence[Point], fill: str, more: str = "") -> None:
        """Add a filled shape."""
        self._shapes.append(f'<polygon points="{_points(points)}" fill="{fill}"{more}/>')

    def path(self, at: Point, outline: str, fill: str) -> None:
        """Add a shape whose outline begins at a point."""
        self._shapes.append(
            f'<path transform="translate({_px(at[0])} {_px(at[1])})" d="{outline}" fill="{fill}"/>'
        )

    def dots(self, points: Sequence[Point], fill: str, radius: float = 1.3) -> None:
        """Add many small dots in few bytes: lines of no length with round ends."""
        outline = "".join(f"M{_px(x)} {_px(y)}h0" for x, y in points)
        self._shapes.append(
            f'<path d="{outline}" stroke="{fill}" stroke-opacity="0.6" stroke-linecap="round"'
            f' stroke-width="{2 * radius:g}"/>'
        )

    def text(
        self, x: float, y: float, words: str, anchor: str = "start", fill: str = INK, more: str = ""
    ) -> None:
        """Add words whose first line stands on ``y``."""
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        shown = escape(_NOT_XML.sub("", words))
        self._shapes.append(
            f'<text x="{_px(x)}" y="{_px(y)}" fill="{fill}"{side}{more}>{shown}</text>'
        )

    def svg(self) -> str:
        """Return the drawing as XML."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}"'
            f' height="{self.height}" {_FONT}>{"".join(self._shapes)}</svg>'
        )

    def address(self) -> str:
        """Return an address that holds the drawing."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg().encode()).decode()}"


def text_width(words: str, *, bold: bool = False) -> float:
    """Return about how many pixels words take."""
    return (_BOLD if bold else _LETTER) * monospace.width(words)


def shorten(words: str, pixels: float) -> str:
    """Return words that fit, without their middle where they do not."""
    return monospace.shorten(words, max(int(pixels / _BOLD), 1))


def shorten_all(words: Sequence[str], pixels: float) -> list[str]:
    """Return words that fit, without what makes them too long, and still distinct."""
    return monospace.shorten_all(words, max(int(pixels / _BOLD), 1))


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{_px(x)},{_px(y)}" for x, y in points)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
