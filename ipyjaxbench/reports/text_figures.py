"""Tables, programs, calls, listings and grids of devices as text."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, assert_never

from ipyjaxbench.reports import highlight, monospace
from ipyjaxbench.reports.blocks import Calls, Code, Grid, Listing, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

#: Makes of a text what standard output can show.
Spell = Callable[[str], str]
NARROW = 60  # columns: below that nothing stands side by side
#: A title up to this long stands beside the figure, a longer one above it.
SHORT_TITLE = 22  # columns
_MIN_NAME = 16  # columns
_MIN_COLUMNS = 3  # of a table from which columns are left out
_MAX_CODE = 200  # columns
_HEAT_COLUMNS = 5
_GAP = "  "
_DEEPER = " " * 4
_EDGES = 3  # cells that a line between two boxes takes, with its blanks
JOINT = "\ue000"  # a letter to the line breaker, which would break at a no-break space too
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|min|h|%|[KMGT]?i?B)(?:\W|$))")
_STYLES = {"": "", "comment": "dim", "string": "green", "type": "cyan", "keyword": "magenta",
           "operation": "bold", "added": "green", "removed": "red"}  # fmt: skip


def print_figure(
    console: "Console", block: Table | Code | Calls | Grid | Listing, say: Spell
) -> None:
    """Print a block that is no line with a label."""
    match block:
        case Table():
            _print_table(console, block, say)
        case Code():
            _print_code(console, say(block.text), block.language)
        case Grid():
            _print_grid(console, block, say)
        case Calls():
            _print_calls(console, block, say)
        case Listing():
            _print_listing(console, block, say)
        case _:
            assert_never(block)


def print_rows(
    console: "Console", rows: Iterable[tuple[str, str]], labels: int, say: Spell
) -> None:
    """Print labels, each with its text beside it."""
    grid = label_grid(labels)
    for label, text in rows:
        grid.add_row(keep_units(say(label)), keep_units(say(text)))
    console.print(grid)


def _print_code(console: "Console", code: str, language: str) -> None:
    """Print lines as they are; a terminal may break them, and what is copied stays whole.

    In a narrow page the lines of a program, which nobody runs, go on below, deeper indented.
    """
    from rich.text import Text

    wraps = console.width < NARROW and language not in ("diff", "text")
    for line in code.splitlines():
        pieces = (
            (text, _STYLES[kind]) for kind, text in highlight.split_line(line[:_MAX_CODE], language)
        )
        shown = Text.assemble(*pieces)
        for part in _wrap(shown, console) if wraps else (shown,):
            console.print(part, soft_wrap=True)


def _wrap(line: "Text", console: "Console") -> "Iterator[Text]":
    """Yield a line in parts that fit, all but the first indented by four more blanks."""
    from rich.text import Text

    plain = line.plain
    indent = " " * min(len(plain) - len(plain.lstrip()), console.width // 3)
    if monospace.width(plain) <= console.width:
        yield line
        return
    line = line[len(plain) - len(plain.lstrip()) :]
    parts = line.wrap(console, console.width - len(indent) - len(_DEEPER), overflow="fold")
    for number, part in enumerate(parts):
        part.rstrip()
        yield Text(indent + _DEEPER * (number > 0)).append_text(part)


def _print_table(console: "Console", block: Table, say: Spell) -> None:
    """Print numbers to the right; a name that leaves them no room loses its middle.

    Where that does not do, the last columns are left out, and named; in a narrow page each row
    becomes several lines.
    """
    from rich.text import Text

    if block.caption:
        console.print(keep_units(say(block.caption)))
    rows = [[" ".join(say(cell).split()) for cell in row] for row in (block.head, *block.rows)]
    columns = len(block.head)
    if console.width >= NARROW:
        while columns > _MIN_COLUMNS and not _names_fit(console, rows, columns):
            columns -= 1
    left_out = ", ".join(rows[0][columns:])
    rows = [row[:columns] for row in rows]
    spare, widths = _measure(console, rows, columns)
    if spare < 0:
        _print_each_row(console, rows, say)
        return
    room = spare + min(_MIN_NAME, widths[0])
    names = monospace.shorten_all([row[0] for row in rows], room, say("…"))
    for name, row in zip(names, rows, strict=True):
        line = _GAP + monospace.left(name, min(widths[0], room))
        for cell, width in zip(row[1:], widths[1:], strict=True):
            line += _GAP + monospace.right(cell, width)
        console.print(Text(line))
    if left_out:
        console.print(Text(f"{_GAP}a wider terminal also shows: {left_out}"), style="dim")


def _print_each_row(console: "Console", rows: list[list[str]], say: Spell) -> None:
    """Print a name, and below it a line for each of its cells."""
    from rich.padding import Padding

    head, *named = rows
    labels = max(map(monospace.width, head[1:]), default=0)
    for name, *row in named:
        console.print(monospace.shorten(name, console.width, say("…")), markup=False)
        grid = label_grid(labels)
        for label, cell in zip(head[1:], row, strict=True):
            if cell:
                grid.add_row(label, keep_units(cell))
        console.print(Padding(grid, (0, 0, 0, len(_GAP))))


def _names_fit(console: "Console", rows: list[list[str]], columns: int) -> bool:
    """Whether names beside so many columns are long enough to be told apart."""
    spare, widths = _measure(console, rows, columns)
    room = spare + min(_MIN_NAME, widths[0])
    names = {row[0] for row in rows}
    return spare >= 0 and len(set(monospace.shorten_all([*names], room))) == len(names)


def _measure(console: "Console", rows: list[list[str]], columns: int) -> tuple[int, list[int]]:
    """Return what the first columns leave beyond the least that names need, and their widths."""
    widths = [max(monospace.width(row[n]) for row in rows) for n in range(columns)]
    taken = sum(len(_GAP) + width for width in (0, *widths[1:]))
    return console.width - taken - min(_MIN_NAME, widths[0]), widths


def _print_calls(console: "Console", block: Calls, say: Spell) -> None:
    """Print words beside the short cells, or on lines of their own where there is little room."""
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    if console.width < NARROW:
        for *texts, text in (block.head, *block.rows):
            short = (monospace.shorten(say(cell), console.width, say("…")) for cell in texts)
            console.print(Text(_GAP.join(cell.replace(" ", JOINT) for cell in short if cell)))
            if text:
                console.print(Padding(keep_units(say(text)), (0, 0, 0, 2 * len(_GAP))))
        return
    spelled = (map(say, row) for row in (block.head, *block.rows))
    *columns, words = zip(*spelled, strict=True)
    widths, last = [*map(monospace.widest, columns)], monospace.widest(words)
    taken = sum(min(width, SHORT_TITLE) + len(_GAP) for width in widths) + last
    most = SHORT_TITLE + max(console.width - taken, 0)
    grid = RichTable.grid(padding=(0, len(_GAP), 0, 0), expand=True)
    for _ in widths:
        grid.add_column(no_wrap=True, max_width=most)
    grid.add_column(ratio=1, overflow="fold")
    shown = [monospace.shorten_all(column, most, say("…")) for column in columns]
    for *cells, text in zip(*shown, words, strict=True):
        grid.add_row(*map(keep_units, cells), keep_units(text))
    console.print(grid)


def _print_grid(console: "Console", block: Grid, say: Spell) -> None:
    """Print boxes, as wide as their names; heads that are too wide for the page stay distinct."""
    from rich import box
    from rich.table import Table as RichTable

    tops = [*map(say, block.tops)]
    columns = zip(tops, *([*map(say, row[1:])] for row in block.rows), strict=True)
    taken = monospace.widest(say(row[0]) for row in block.rows) + _EDGES * (len(tops) + 1)
    if taken + sum(map(monospace.widest, columns)) > console.width:
        tops = monospace.shorten_all(tops, (console.width - taken) // len(tops), say("…"))
    grid = RichTable(
        title=say(block.caption), title_justify="left", title_style="", box=box.ASCII,
        show_header=any(block.tops), header_style="",
    )  # fmt: skip
    grid.add_column("")
    for top in tops:
        grid.add_column(top)
    for row in block.rows:
        grid.add_row(*(say(cell) for cell in row))
    console.print(grid)


def _print_listing(console: "Console", block: Listing, say: Spell) -> None:
    """Print lines of source behind what they cost, with a bar as long as their share."""
    from rich.text import Text

    if block.caption:
        console.print(keep_units(say(block.caption)), style="dim")
    numbers = max(len(number) for number, *_ in block.rows)
    costs = max(len(cost) for _, _, cost, _ in block.rows)
    for number, share, cost, source in block.rows:
        filled = round(share * _HEAT_COLUMNS) or int(share > 0)
        heat = say("█" * filled + "░" * (_HEAT_COLUMNS - filled) if cost else " " * _HEAT_COLUMNS)
        line = f"{number:>{numbers}} {heat} {say(cost):>{costs}}{_GAP}"
        room = console.width - monospace.width(line)
        console.print(Text(line + monospace.cut(say(source), room, say("…"))))


def keep_units(text: str) -> "Text":
    """Return text in which no line breaks between a number and its unit."""
    from rich.text import Text

    return Text(_BEFORE_UNIT.sub(JOINT, text))


def label_grid(labels: int) -> "RichTable":
    """Return an empty table with a column for labels of that width, and one for texts."""
    from rich.table import Table as RichTable

    grid = RichTable.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(overflow="fold", width=labels)
    grid.add_column(ratio=1, overflow="fold")
    return grid
