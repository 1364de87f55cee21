"""A Report as text of at most 80 columns, readable without colour."""

import io
import sys
from typing import TYPE_CHECKING, assert_never

from ipyjaxbench import units
from ipyjaxbench.report import Facts, Headline, Notes, Report

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 80
#: A title up to this long stands beside the figure, a longer one above it.
_SHORT_TITLE = 22


def render(report: Report) -> str:
    """The report as lines; ASCII only where standard output cannot show more.

    Args:
        report: what to show.

    Returns:
        Text without a final newline.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=io.StringIO(),
        width=WIDTH,
        color_system=None,
        legacy_windows=False,
        force_jupyter=False,  # in a kernel it would display each line by itself
    )
    labels = _label_width(report)
    for block in report.blocks:
        match block:
            case Headline():
                beside = len(block.title) <= labels
                if not beside:
                    console.print(Text(block.title))
                row = _grid(labels)
                row.add_column(justify="right", no_wrap=True)
                figure = f"{block.figure}   {block.detail}"
                row.add_row(Text(block.title if beside else ""), Text(figure), Text(block.verdict))
                console.print(row)
            case Facts(rows):
                grid = _grid(labels)
                for label, text in rows:
                    grid.add_row(Text(label), Text(text))
                console.print(grid)
            case Notes(notes):
                grid = _grid(1)
                for note in notes:
                    grid.add_row(Text(note.mark), Text(note.text))
                    if note.advice:
                        grid.add_row(Text("→"), Text(note.advice))
                console.print(grid)
            case _:
                assert_never(block)
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    return _showable("\n".join(lines).rstrip())


def _label_width(report: Report) -> int:
    """Columns of the left side, the same for all blocks; a long title gets a line of its own."""
    titles = [b.title for b in report.blocks if isinstance(b, Headline)]
    labels = [label for b in report.blocks if isinstance(b, Facts) for label, _ in b.rows]
    return max([len(label) for label in labels + titles if len(label) <= _SHORT_TITLE], default=0)


def _grid(labels: int) -> "Table":
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(no_wrap=True, width=labels)
    grid.add_column(ratio=1, overflow="fold")
    return grid


def _showable(text: str) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return units.plain(text)
    return text
