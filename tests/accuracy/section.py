"""One part of the benchmark: how it is measured, its table, and what the table comes to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        title: its title.
        width: characters that it takes.
        meaning: what it means.
        cell: a row's cell in it: a format with the row's keys, or what makes it of the row.
    """

    title: str
    width: int
    meaning: str
    cell: str | Callable[[Row], str]

    def shown(self, row: Row) -> str:
        """The cell of a row."""
        return self.cell.format_map(row) if isinstance(self.cell, str) else self.cell(row)


@dataclass(frozen=True)
class Section:
    """One part.

    Attributes:
        name: what ``--only`` calls it.
        title: its heading.
        method: how it is measured, in sentences.
        columns: those of its table, beside the expression's name.
        summary: what all rows that could be measured come to, a sentence each.
        measure: gives the rows of one group, in that group's own process; None where the rows
            are those of the section that it needs.
        groups: each measured in a process of its own.
        needs: name of a section whose facts about the same expression join each row.
    """

    name: str
    title: str
    method: str
    columns: tuple[Column, ...]
    summary: Callable[[Sequence[Row]], Iterator[str]]
    measure: Callable[[str, int], Iterator[Row]] | None
    groups: tuple[str, ...] = ()
    needs: str = ""


def joined(row: Row, known: Sequence[Row]) -> Row:
    """A row with what is known of the same expression."""
    for other in known:
        if (other["group"], other["name"]) == (row["group"], row["name"]):
            return {**other, **row}
    return {"left_out": "it is missing in a table above", **row}


def complete(rows: Sequence[Row]) -> list[Row]:
    """The rows of expressions that could run."""
    return [row for row in rows if "left_out" not in row]


def sentences(section: Section, rows: Sequence[Row]) -> Iterator[str]:
    """What those rows of a section come to that could be measured."""
    if measured := complete(rows):
        yield from section.summary(measured)


def label(row: Row) -> str:
    """The expression's name with its framework's."""
    return f"{row['group']}: {row['name']}"


def reached(is_reached: bool) -> str:
    """What a sentence says of a target."""
    return "reached" if is_reached else "NOT REACHED"


def counted(
    rows: Sequence[Row], is_right: Callable[[Row], bool], what: str, others: str = "wrong"
) -> str:
    """How many rows are right, and the names of the others."""
    wrong = [row for row in rows if not is_right(row)]
    return f"{len(rows) - len(wrong)} of {len(rows)} {what}; {others}: {names_of(wrong)}."


def names_of(rows: Sequence[Row]) -> str:
    """Their names in a row; "none" where there are none."""
    return ", ".join(label(row) for row in rows) or "none"
