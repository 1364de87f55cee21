"""A Report as HTML that survives an untrusted notebook and reads in light and dark.

No script, no style sheet, no colour for text: muted parts by opacity, literal mid-tones for
the rest. What JupyterLab's sanitiser drops is not used.
"""

from functools import cache
from typing import TYPE_CHECKING

from ipyjaxbench.report import Report

if TYPE_CHECKING:
    from jinja2 import Template

#: Notes shown open; the rest fold.
_OPEN_NOTES = 3


def render(report: Report) -> str:
    """The report as one self-contained element.

    Args:
        report: what to show.

    Returns:
        HTML with all text escaped.
    """
    blocks = [(type(block).__name__, block) for block in report.blocks]
    return _template().render(blocks=blocks, open_notes=_OPEN_NOTES)


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ipyjaxbench.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")
