"""A Report as text: as wide as the terminal up to 110 columns, readable without colour."""

import importlib
import io
import os
import random
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ipyjaxbench import units
from ipyjaxbench.reports import monospace
from ipyjaxbench.reports.badges import badge
from ipyjaxbench.reports.blocks import (
    Block,
    Calls,
    Code,
    Details,
    Facts,
    Footer,
    Headline,
    Notes,
    Report,
)
from ipyjaxbench.reports.note import OPEN_NOTES, Note
from ipyjaxbench.reports.pictures import Distribution, Picture, Stack
from ipyjaxbench.reports.text_figures import (
    JOINT,
    NARROW,
    SHORT_TITLE,
    Spell,
    keep_units,
    label_grid,
    print_figure,
    print_rows,
)
from ipyjaxbench.reports.visible import make_visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDTH = 80  # columns where no terminal says another width
_WIDEST = 110  # columns: longer lines are hard to read
_NARROWEST = 30


def render(report: Report, *, coloured: bool = False) -> str:
    """Return the report as lines; signs that standard output cannot show are written out."""
    report = replace(report, blocks=make_visible(report.blocks))
    text = _lines(report, str, coloured=coloured)
    return text if _is_printable(text) else _lines(report, to_printable, coloured=coloured)


def to_printable(text: str) -> str:
    """Return a text as standard output can show it: ASCII for the signs that it cannot."""
    if _is_printable(text):
        return text
    return "".join(sign if _is_printable(sign) else units.plain(sign) for sign in text)


def width() -> int:
    """Return the columns of the terminal where there is one, 110 at most; else 80."""
    if not (_is_terminal() or "COLUMNS" in os.environ):
        return WIDTH  # a process may have a terminal that is not where it shows
    return max(min(shutil.get_terminal_size((WIDTH, 24)).columns, _WIDEST), _NARROWEST)


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
        return spell(text).expandtabs(4)

    labels = _label_width(report)
    for block in _unfold(report.blocks):
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
        case Notes(notes):
            shown = block.advised()[:OPEN_NOTES]
            lines = [row for note, advice in shown for row in _note_rows(note, advice)]
            print_rows(console, lines, len(say("→")), say)
            _print_briefly(console, notes[OPEN_NOTES:], say)
        case Picture():
            _print_picture(console, block, labels, say)
        case Footer(parts):
            console.print(keep_units(say(" · ".join(filter(None, parts)))), style="dim")
        case Details():
            raise AssertionError("details were unfolded before")
        case _:
            print_figure(console, block, say)


def _print_headline(console: "Console", block: Headline, labels: int, say: Spell) -> None:
    from rich.cells import cell_len

    title, verdict = say(block.title), _verdict(block, say)
    if console.width < NARROW:
        for line in filter(None, (title, say(block.figure), say(block.detail), verdict)):
            console.print(keep_units(line) if isinstance(line, str) else line)
        return
    if not (title or verdict):
        console.print(keep_units(say(f"{block.figure}   {block.detail}")))
        return
    beside = cell_len(title) <= labels
    if not beside:
        console.print(keep_units(title))
    row = label_grid(labels)
    row.add_column(justify="right", no_wrap=True)
    figure = say(f"{block.figure}   {block.detail}")
    row.add_row(keep_units(title if beside else ""), keep_units(figure), verdict)
    console.print(row)


def _verdict(block: Headline, say: Spell) -> "Text":
    from rich.text import Text

    if not block.verdict:
        return Text()
    look = badge(block.verdict)
    icon = "" if look.icon == block.verdict else f"{look.icon} "
    return Text(f"{say(icon)}{block.verdict}", style=look.style)


def _print_picture(console: "Console", picture: Picture, labels: int, say: Spell) -> None:
    """Print lines as they are drawn; what does not fit is cut off."""
    from rich.text import Text

    for spans in picture.lines(console.width, labels):
        line = Text.assemble(*((say(text), style) for text, style in spans))
        console.print(line, no_wrap=True, overflow="crop")


def _note_rows(note: Note, advice: str) -> list[tuple[str, str]]:
    return [(note.mark, note.text), *([("→", advice)] if advice else [])]


def _print_briefly(console: "Console", notes: Sequence[Note], say: Spell) -> None:
    """Print a line for each of the notes that a page folds."""
    for note in notes:
        line = monospace.cut_at_word(say(f"{note.mark}  {note.text}"), console.width, say("…"))
        console.print(keep_units(line), style="dim", no_wrap=True, overflow="crop")


def _label_width(report: Report) -> int:
    """Return the columns of the left side; a longer title gets a line of its own."""
    from rich.cells import cell_len

    blocks = [*_unfold(report.blocks)]
    apart = any(isinstance(b, Calls | Code) for b in blocks)  # there is no one column
    titles = [b.title for b in blocks if isinstance(b, Headline) and not apart]
    labels = [label for b in blocks if isinstance(b, Facts) for label, _ in b.rows]
    labels += [name for b in blocks if isinstance(b, Stack) for name, _, _ in b.rows]
    labels += [b.label for b in blocks if isinstance(b, Distribution)]
    widths = [cell_len(text.expandtabs(4)) for text in labels + titles]
    return max([width for width in widths if width <= SHORT_TITLE], default=0)


def _unfold(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Details):
            yield from _unfold(block.blocks if block.printed else ())
        else:
            yield block
