"""Tables, programs, calls, listings and grids of devices as text."""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, assert_never

from ipyjaxbench import units
from ipyjaxbench.reports import highlight
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
_MIN_NAME = 8  # columns
_MIN_COLUMNS = 3  # of a table from which columns are left out
_MAX_CODE = 200  # columns
_HEAT_COLUMNS = 5
_GAP = "  "
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
    """Print lines as they are; a terminal may break them, and what is copied stays whole."""
    from rich.text import Text

    for line in code.splitlines():
        pieces = (
            (text, _STYLES[kind]) for kind, text in highlight.split_line(line[:_MAX_CODE], language)
        )
        console.print(Text.assemble(*pieces), soft_wrap=True)


def _print_table(console: "Console", block: Table, say: Spell) -> None:
    """Print numbers to the right; a name that leaves them no room loses its middle.

    Where that does not do, the last columns are left out, and named; in a narrow page each row
    becomes several lines.
    """
    from rich.cells import cell_len
    from rich.text import Text

    if block.caption:
        console.print(keep_units(say(block.caption)))
    rows = [[" ".join(say(cell).split()) for cell in row] for row in (block.head, *block.rows)]
    columns = len(block.head)
    if console.width >= NARROW:
        while columns > _MIN_COLUMNS and _measure(console, rows, columns)[0] < 0:
            columns -= 1
    left_out = ", ".join(rows[0][columns:])
    rows = [row[:columns] for row in rows]
    spare, widths = _measure(console, rows, columns)
    if spare < 0:
        head, *named = rows
        for row in named:
            console.print(Text(_GAP + row[0]))
            cells = [cell for cell in zip(head[1:], row[1:], strict=True) if cell[1]]
            print_rows(console, cells, max(map(len, head)), say)
        return
    room = spare + min(_MIN_NAME, widths[0])
    for row in rows:
        name = _shorten_middle(row[0], room, say("…"))
        line = _GAP + name + " " * (min(widths[0], room) - cell_len(name))
        for cell, width in zip(row[1:], widths[1:], strict=True):
            line += _GAP + " " * (width - cell_len(cell)) + cell
        console.print(Text(line))
    if left_out:
        console.print(Text(f"{_GAP}a wider terminal also shows: {left_out}"), style="dim")


def _measure(console: "Console", rows: list[list[str]], columns: int) -> tuple[int, list[int]]:
    """Return what the first columns leave beyond the least that names need, and their widths."""
    from rich.cells import cell_len

    widths = [max(cell_len(row[n]) for row in rows) for n in range(columns)]
    taken = sum(len(_GAP) + width for width in (0, *widths[1:]))
    return console.width - taken - min(_MIN_NAME, widths[0]), widths


def _print_calls(console: "Console", block: Calls, say: Spell) -> None:
    """Print words beside the short cells, or on lines of their own where there is little room."""
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.table import Table as RichTable

    if console.width < NARROW:
        for *cells, text in (block.head, *block.rows):
            console.print(keep_units(say(_GAP.join(cells))))
            console.print(Padding(keep_units(say(text)), (0, 0, 0, 2 * len(_GAP))))
        return
    rows = [[say(cell) for cell in row] for row in (block.head, *block.rows)]
    *widths, last = (max(map(cell_len, column)) for column in zip(*rows, strict=True))
    taken = sum(min(width, SHORT_TITLE) + len(_GAP) for width in widths) + last
    most = SHORT_TITLE + max(console.width - taken, 0)
    grid = RichTable.grid(padding=(0, len(_GAP), 0, 0), expand=True)
    for _ in widths:
        grid.add_column(no_wrap=True, max_width=most)
    grid.add_column(ratio=1, overflow="fold")
    for *cells, text in rows:
        short = (_shorten_middle(cell, most, say("…")) for cell in cells)
        grid.add_row(*map(keep_units, short), keep_units(text))
    console.print(grid)


def _print_grid(console: "Console", block: Grid, say: Spell) -> None:
    """Print boxes, as wide as their names; what is too wide for the page is cut by it."""
    from rich import box
    from rich.table import Table as RichTable

    grid = RichTable(
        title=say(block.caption), title_justify="left", title_style="", box=box.ASCII,
        show_header=any(block.tops), header_style="",
    )  # fmt: skip
    grid.add_column("")
    for top in block.tops:
        grid.add_column(say(top))
    for row in block.rows:
        grid.add_row(*(say(cell) for cell in row))
    console.print(grid)


def _print_listing(console: "Console", block: Listing, say: Spell) -> None:
    """Print lines of source behind what they cost, with a bar as long as their share."""
    from rich.text import Text

    if block.caption:
        console.print(keep_units(say(block.caption)), style="dim")
    widths = [max(len(row[n]) for row in block.rows) for n in (0, 2)]  # type: ignore[arg-type]
    for number, share, cost, source in block.rows:
        filled = round(share * _HEAT_COLUMNS) or int(share > 0)
        heat = say("█" * filled + "░" * (_HEAT_COLUMNS - filled) if cost else " " * _HEAT_COLUMNS)
        line = f"{number:>{widths[0]}} {heat} {say(cost):>{widths[1]}}{_GAP}{say(source)}"
        console.print(Text(units.cut(line, console.width)))


def _shorten_middle(name: str, room: int, sign: str) -> str:
    """Return a name in that many columns: its ends say more than its middle."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(name) <= room:
        return name
    half = (room - len("...")) // 2  # the same letters stay, however the sign is spelled
    end = len(name)
    while cell_len(name[end - 1 :]) <= half:
        end -= 1
    return set_cell_size(name, half) + sign + name[end:]


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
