"""A Report as HTML that survives an untrusted notebook and reads in light and dark.

No script, no style sheet, no colour for text: muted parts by opacity, literal mid-tones for
the rest. What JupyterLab's sanitiser drops is not used.
"""

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ipyjaxbench.reports import highlight
from ipyjaxbench.reports.badges import badge
from ipyjaxbench.reports.blocks import Block, Grid, Report
from ipyjaxbench.reports.note import OPEN_NOTES
from ipyjaxbench.reports.pictures import Picture
from ipyjaxbench.reports.visible import make_visible

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_TINTS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf")
#: Untrusted notebooks drop colours of text.
_STYLES = {"": "", "comment": "opacity:0.7", "string": "opacity:0.7", "type": "opacity:0.7",
           "keyword": "opacity:0.7", "operation": "font-weight:600",
           "added": "background-color:#2ea04355",
           "removed": "background-color:#f8514955"}  # fmt: skip
_UNBROKEN_LETTERS = 14  # a text that short stays on one line
_CODE = re.compile(r"`([^`\n]+)`")
_LONG_WORD = re.compile(r"\S{24}(?=\S)")


def render(report: Report) -> str:
    """Return the report as one self-contained element, with all text escaped."""
    return _template().render(
        blocks=make_visible(report.blocks),
        kind=_kind,
        badge=badge,
        open_notes=OPEN_NOTES,
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


def _mark_code(text: str) -> "Markup":
    """Return words in which what stands between backticks looks like code."""
    from markupsafe import Markup

    words, *rest = _CODE.split(text)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    marked = (Markup("<code>{}</code>{}").format(*map(_add_breaks, pair)) for pair in pairs)
    return _add_breaks(words) + Markup().join(marked)


def _tint(grid: Grid, cell: str) -> str:
    """Return the same colour for the same devices, which reads in light and dark."""
    devices = list(dict.fromkeys(cell for row in grid.rows for cell in row[1:]))
    return f"{_TINTS[devices.index(cell) % len(_TINTS)]}55"


def _kind(block: Block) -> str:
    """Return the name under which the template shows a block."""
    return "Picture" if isinstance(block, Picture) else type(block).__name__


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
    environment.filters["words"] = _mark_code
    return environment.get_template("report.html")
