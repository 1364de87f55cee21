"""A Report as HTML that survives an untrusted notebook and reads in light and dark.

No script, no style sheet, no colour for text: muted parts by opacity, literal mid-tones for
the rest. What JupyterLab's sanitiser drops is not used.
"""

import math
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ipyjaxbench.reports import chart, highlight
from ipyjaxbench.reports.blocks import Grid, Report

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

#: Notes shown open; the rest fold.
_OPEN_NOTES = 3
_WIDTH, _HEIGHT = 8, 32  # pixels
_TINTS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf")
#: Untrusted notebooks drop colours of text.
_STYLES = {"": "", "comment": "opacity:0.7", "string": "opacity:0.7", "type": "opacity:0.7",
           "keyword": "opacity:0.7", "operation": "font-weight:600",
           "added": "background-color:#2ea04355",
           "removed": "background-color:#f8514955"}  # fmt: skip
_UNBROKEN_LETTERS = 14  # a text that short stays on one line
_LONG_WORD = re.compile(r"\S{24}(?=\S)")


def render(report: Report) -> str:
    """Return the report as one self-contained element, with all text escaped."""
    blocks = [(type(block).__name__, block) for block in report.blocks]
    return _template().render(
        blocks=blocks,
        open_notes=_OPEN_NOTES,
        picture=_draw_bars,
        chart=chart.draw_image,
        described=chart.describe,
        legend=chart.legend,
        scales=chart.describe_scales,
        pieces=highlight.split_line,
        styles=_STYLES,
        tint=_tint,
        short=_UNBROKEN_LETTERS,
    )


def _add_breaks(text: str) -> "Markup":
    """Return text with places to break long words, lest a table leaves the page."""
    from markupsafe import Markup

    starts = [0, *(word.end() for word in _LONG_WORD.finditer(text)), len(text)]
    parts = (text[start:end] for start, end in pairwise(starts))
    return Markup("<wbr>").join(parts)


def _tint(grid: Grid, cell: str) -> str:
    """Return the same colour for the same devices, which reads in light and dark."""
    devices = list(dict.fromkeys(cell for row in grid.rows for cell in row[1:]))
    return f"{_TINTS[devices.index(cell) % len(_TINTS)]}55"


def _draw_bars(counts: Sequence[int]) -> str:
    """Return bars as an image inside the page: what an untrusted notebook keeps of a drawing."""
    top = max(counts)
    bars = [
        f'<rect x="{i * _WIDTH}" y="{_HEIGHT - height}" width="{_WIDTH - 1}" height="{height}"/>'
        for i, n in enumerate(counts)
        if (height := math.ceil(_HEIGHT * n / top))
    ]
    return chart.encode_svg(len(counts) * _WIDTH, _HEIGHT, bars, ' fill="#888888"')


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ipyjaxbench.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _add_breaks
    return environment.get_template("report.html")
