"""A Report as text of at most 80 columns, fewer in a narrow terminal, readable without colour."""

import importlib
import io
import math
import os
import random
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ipyjaxbench import units
from ipyjaxbench.reports.blocks import (
    Block,
    Calls,
    Code,
    Distribution,
    Facts,
    Headline,
    Notes,
    Report,
)
from ipyjaxbench.reports.note import Note
from ipyjaxbench.reports.text_figures import (
    HEIGHTS,
    JOINT,
    NARROW,
    SHORT_TITLE,
    Spell,
    keep_units,
    label_grid,
    print_figure,
    print_rows,
)

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80
_NARROWEST = 30
#: What a terminal would obey, in names that come from elsewhere.
_CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10, 13})


def render(report: Report, *, coloured: bool = False) -> str:
    """Return the report as lines; ASCII only where standard output cannot show more."""
    text = _lines(report, str, coloured=coloured)
    return text if _is_printable(text) else _lines(report, units.plain, coloured=coloured)


def to_printable(line: str) -> str:
    """Return a line as standard output can show it: ASCII where it cannot show more."""
    return line if _is_printable(line) else units.plain(line)


def width() -> int:
    """Return the columns of the terminal where there is one, 80 at most."""
    if not (_is_terminal() or "COLUMNS" in os.environ):
        return WIDTH  # a process may have a terminal that is not where it shows
    return max(min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH), _NARROWEST)


def is_coloured() -> bool:
    """Whether standard output is a terminal whose user wants colours (https://no-color.org)."""
    return _is_terminal() and not os.environ.get("NO_COLOR")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _is_printable(text: str) -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _load_rich() -> None:
    """Import rich, which draws from `random`: the numbers that follow stay those of the session."""
    if "rich.style" not in sys.modules:
        state = random.getstate()
        importlib.import_module("rich.console")
        random.setstate(state)


def _lines(report: Report, spell: Spell, *, coloured: bool) -> str:
    _load_rich()
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width(),
        color_system="standard" if coloured else None,
        force_terminal=coloured,
        legacy_windows=False,
        force_jupyter=False,  # in a kernel it would display each line by itself
    )

    def say(text: str) -> str:
        return spell(text.translate(_CONTROLS)).expandtabs(4)

    labels = _label_width(report)
    for block in report.blocks:
        _print(console, block, labels, say)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue().replace(JOINT, " ")
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def _print(console: "Console", block: Block, labels: int, say: Spell) -> None:
    match block:
        case Headline():
            _print_headline(console, block, labels, say)
        case Facts(rows):
            print_rows(console, rows, labels, say)
        case Distribution():
            shown = f"{block.low} {_bars(block.counts)} {block.high}{block.beyond}"
            print_rows(console, [(block.label, shown)], labels, say)
        case Notes(notes):
            lines = [row for note in notes for row in _note_rows(note)]
            print_rows(console, lines, len(say("→")), say)
        case _:
            print_figure(console, block, say)


def _print_headline(console: "Console", block: Headline, labels: int, say: Spell) -> None:
    from rich.cells import cell_len

    title = say(block.title)
    if console.width < NARROW:
        for line in filter(None, (title, say(block.figure), say(block.detail), block.verdict)):
            console.print(keep_units(line))
        return
    beside = cell_len(title) <= labels
    if not beside:
        console.print(keep_units(title))
    row = label_grid(labels)
    row.add_column(justify="right", no_wrap=True)
    figure = say(f"{block.figure}   {block.detail}")
    row.add_row(keep_units(title if beside else ""), keep_units(figure), keep_units(block.verdict))
    console.print(row)


def _bars(counts: Sequence[int]) -> str:
    """Return one column for each count, empty only where there is nothing."""
    top = max(counts)
    return "".join(HEIGHTS[math.ceil(8 * n / top) - 1] if n else " " for n in counts)


def _note_rows(note: Note) -> list[tuple[str, str]]:
    advice = [("→", note.advice)] if note.advice else []
    return [(note.mark, note.text), *advice]


def _label_width(report: Report) -> int:
    """Return the columns of the left side; a longer title gets a line of its own."""
    from rich.cells import cell_len

    apart = any(isinstance(b, Calls | Code) for b in report.blocks)  # there is no one column
    titles = [b.title for b in report.blocks if isinstance(b, Headline) and not apart]
    labels = [label for b in report.blocks if isinstance(b, Facts) for label, _ in b.rows]
    labels += [b.label for b in report.blocks if isinstance(b, Distribution)]
    widths = [cell_len(text.expandtabs(4)) for text in labels + titles]
    return max([width for width in widths if width <= SHORT_TITLE], default=0)
