"""A Report as text of at most 80 columns, fewer in a narrow terminal, readable without colour."""

import importlib
import io
import math
import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, assert_never

from ipyjaxbench import units
from ipyjaxbench.reports import chart, highlight
from ipyjaxbench.reports.blocks import (
    Bars,
    Block,
    Calls,
    Chart,
    Code,
    Distribution,
    Facts,
    Grid,
    Headline,
    Notes,
    Report,
    Table,
)
from ipyjaxbench.reports.note import Note

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

WIDTH = 80
_NARROWEST, _NARROW = 30, 60
_LEAST_NAME = 8
_LONGEST = 200  # columns of a line of code
_Say = Callable[[str], str]
_Figure = Table | Bars | Code | Chart | Calls | Grid
#: A title up to this long stands beside the figure, a longer one above it.
_SHORT_TITLE = 22
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|min|h|%|[KMGT]?i?B)(?:\W|$))")
_HEIGHTS = "▁▂▃▄▅▆▇█"
_GAP = "  "
_STYLES = {"": "", "comment": "dim", "string": "green", "type": "cyan", "keyword": "magenta",
           "operation": "bold", "added": "green", "removed": "red"}  # fmt: skip
#: What a terminal would obey, in names that come from elsewhere.
_CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10, 13})
_JOINT = "\ue000"  # a letter to the line breaker, which would break at a no-break space too


def render(report: Report, *, coloured: bool = False) -> str:
    """The report as lines; ASCII only where standard output cannot show more.

    Args:
        report: what to show.
        coloured: whether programs are highlighted, for a terminal.

    Returns:
        Text without a final newline.
    """
    text = _lines(report, str, coloured=coloured)
    return text if _can_be_shown(text) else _lines(report, units.plain, coloured=coloured)


def spelled(line: str) -> str:
    """A line as standard output can show it: ASCII where it cannot show more."""
    return line if _can_be_shown(line) else units.plain(line)


def width() -> int:
    """Columns of the terminal where there is one, 80 at most."""
    if not (_is_terminal() or "COLUMNS" in os.environ):
        return WIDTH  # a process may have a terminal that is not where it shows
    return max(min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH), _NARROWEST)


def is_coloured() -> bool:
    """Whether standard output is a terminal whose user wants colours (https://no-color.org)."""
    return _is_terminal() and not os.environ.get("NO_COLOR")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _can_be_shown(text: str) -> bool:
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


def _lines(report: Report, spell: _Say, *, coloured: bool) -> str:
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
    text = console.file.getvalue().replace(_JOINT, " ")
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def _print(console: "Console", block: Block, labels: int, say: _Say) -> None:
    match block:
        case Headline():
            _print_headline(console, block, labels, say)
        case Facts(rows):
            _print_rows(console, rows, labels, say)
        case Distribution():
            shown = f"{block.low} {_bars(block.counts)} {block.high}{block.beyond}"
            _print_rows(console, [(block.label, shown)], labels, say)
        case Notes(notes):
            lines = [row for note in notes for row in _rows_of(note)]
            _print_rows(console, lines, len(say("→")), say)
        case _:
            _print_lines(console, block, say)


def _print_lines(
    console: "Console", block: Table | Bars | Code | Chart | Calls | Grid, say: _Say
) -> None:
    match block:
        case Table():
            _print_table(console, block, say)
        case Bars(rows):
            _print_bars(console, rows, say)
        case Code():
            _print_code(console, say(block.text), block.language)
        case Grid():
            _print_grid(console, block, say)
        case Calls():
            _print_calls(console, block, say)
        case Chart():
            chart.draw(console, block, say)
        case _:
            assert_never(block)


def _print_headline(console: "Console", block: Headline, labels: int, say: _Say) -> None:
    from rich.cells import cell_len

    title = say(block.title)
    if console.width < _NARROW:
        for line in filter(None, (title, say(block.figure), say(block.detail), block.verdict)):
            console.print(_joined(line))
        return
    beside = cell_len(title) <= labels
    if not beside:
        console.print(_joined(title))
    row = _grid(labels)
    row.add_column(justify="right", no_wrap=True)
    figure = say(f"{block.figure}   {block.detail}")
    row.add_row(_joined(title if beside else ""), _joined(figure), _joined(block.verdict))
    console.print(row)


def _print_rows(
    console: "Console", rows: Iterable[tuple[str, str]], labels: int, say: _Say
) -> None:
    grid = _grid(labels)
    for label, text in rows:
        grid.add_row(_joined(say(label)), _joined(say(text)))
    console.print(grid)


def _print_code(console: "Console", code: str, language: str) -> None:
    """Lines as they are; a terminal may break them, and what is copied stays whole."""
    from rich.text import Text

    for line in code.splitlines():
        pieces = (
            (text, _STYLES[kind]) for kind, text in highlight.pieces(line[:_LONGEST], language)
        )
        console.print(Text.assemble(*pieces), soft_wrap=True)


def _bars(counts: Sequence[int]) -> str:
    """One column for each count, empty only where there is nothing."""
    top = max(counts)
    return "".join(_HEIGHTS[math.ceil(8 * n / top) - 1] if n else " " for n in counts)


def _print_table(console: "Console", block: Table, say: _Say) -> None:
    """Numbers to the right; a name that leaves them no room loses its middle."""
    from rich.cells import cell_len
    from rich.text import Text

    if block.caption:
        console.print(_joined(say(block.caption)))
    rows = [[" ".join(say(cell).split()) for cell in row] for row in (block.head, *block.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    room = console.width - sum(len(_GAP) + width for width in (0, *widths[1:]))
    if room < min(_LEAST_NAME, widths[0]):
        head, *named = rows
        for row in named:
            console.print(Text(_GAP + row[0]))
            _print_rows(console, zip(head[1:], row[1:], strict=True), max(map(len, head)), say)
        return
    for row in rows:
        name = _without_middle(row[0], room, say("…"))
        line = _GAP + name + " " * (min(widths[0], room) - cell_len(name))
        for cell, width in zip(row[1:], widths[1:], strict=True):
            line += _GAP + " " * (width - cell_len(cell)) + cell
        console.print(Text(line))


def _print_calls(console: "Console", block: Calls, say: _Say) -> None:
    """Words take what the short cells leave; all, on lines of their own, where that is little.

    A long name loses its middle where the line has no room for it.
    """
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.table import Table as RichTable

    if console.width < _NARROW:
        for *cells, words in (block.head, *block.rows):
            console.print(_joined(say(_GAP.join(cells))))
            console.print(Padding(_joined(say(words)), (0, 0, 0, 2 * len(_GAP))))
        return
    rows = [[say(cell) for cell in row] for row in (block.head, *block.rows)]
    *widths, last = (max(map(cell_len, column)) for column in zip(*rows, strict=True))
    taken = sum(min(width, _SHORT_TITLE) + len(_GAP) for width in widths) + last
    most = _SHORT_TITLE + max(console.width - taken, 0)
    grid = RichTable.grid(padding=(0, len(_GAP), 0, 0), expand=True)
    for _ in widths:
        grid.add_column(no_wrap=True, max_width=most)
    grid.add_column(ratio=1, overflow="fold")
    for *cells, words in rows:
        short = (_without_middle(cell, most, say("…")) for cell in cells)
        grid.add_row(*map(_joined, short), _joined(words))
    console.print(grid)


def _print_grid(console: "Console", block: Grid, say: _Say) -> None:
    """Boxes, as wide as their names; what is too wide for the page is cut by it."""
    from rich import box
    from rich.table import Table as RichTable

    grid = RichTable(
        title=say(block.caption), title_justify="left", title_style="", box=box.ASCII,
        show_header=any(block.tops), header_style="", show_lines=True,
    )  # fmt: skip
    grid.add_column("")
    for top in block.tops:
        grid.add_column(say(top))
    for row in block.rows:
        grid.add_row(*(say(cell) for cell in row))
    console.print(grid)


def _print_bars(console: "Console", rows: Sequence[tuple[str, float, str]], say: _Say) -> None:
    """The longest takes what the names and figures leave."""
    from rich.cells import cell_len
    from rich.text import Text

    names = [_without_middle(say(name), console.width // 4, say("…")) for name, *_ in rows]
    figures = [say(shown) for *_, shown in rows]
    label, figure = (max(map(cell_len, texts)) for texts in (names, figures))
    room = console.width - label - figure - 3 * len(_GAP)
    longest = max(length for _, length, _ in rows) or 1
    for name, (_, length, _), shown in zip(names, rows, figures, strict=True):
        bar = say(_HEIGHTS[-1]) * max(round(room * length / longest), 1)
        gap = " " * (label - cell_len(name))
        console.print(Text(f"{_GAP}{name}{gap}{_GAP}{bar} {shown}"))


def _without_middle(name: str, room: int, sign: str) -> str:
    """A name in so many columns: its ends tell more than its middle."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(name) <= room:
        return name
    each = (room - len("...")) // 2  # the same letters stay, however the sign is spelled
    end = len(name)
    while cell_len(name[end - 1 :]) <= each:
        end -= 1
    return set_cell_size(name, each) + sign + name[end:]


def _rows_of(note: Note) -> list[tuple[str, str]]:
    advice = [("→", note.advice)] if note.advice else []
    return [(note.mark, note.text), *advice]


def _joined(text: str) -> "Text":
    """Text in which no line ends between a number and its unit."""
    from rich.text import Text

    return Text(_BEFORE_UNIT.sub(_JOINT, text))


def _label_width(report: Report) -> int:
    """Columns of the left side, the same for all blocks; a long title gets a line of its own."""
    from rich.cells import cell_len

    apart = any(isinstance(b, Calls | Code) for b in report.blocks)  # there is no one column
    titles = [b.title for b in report.blocks if isinstance(b, Headline) and not apart]
    labels = [label for b in report.blocks if isinstance(b, Facts) for label, _ in b.rows]
    labels += [b.label for b in report.blocks if isinstance(b, Distribution)]
    widths = [cell_len(text.expandtabs(4)) for text in labels + titles]
    return max([width for width in widths if width <= _SHORT_TITLE], default=0)


def _grid(labels: int) -> "RichTable":
    from rich.table import Table as RichTable

    grid = RichTable.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(overflow="fold", width=labels)
    grid.add_column(ratio=1, overflow="fold")
    return grid
