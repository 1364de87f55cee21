"""The cells of one library: what they need, and each of them as one line."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Cell(NamedTuple):
    """One cell.

    Attributes:
        setup: runs before, in a fresh namespace.
        code: is run once plainly, and once timed.
        undo: runs after all, where the code changes more than names.
        left: an expression that shows what looking at the names does not.
    """

    setup: str
    code: str
    undo: str = ""
    left: str = "0"


@dataclass(frozen=True)
class Cells:
    """Those of one library.

    Attributes:
        name: as it is imported.
        setup: code that runs before each of them.
        text: a cell on each line: what it needs, its code, and as `Cell`'s, between ``||``.
    """

    name: str
    setup: str
    text: str

    def __iter__(self) -> Iterator[Cell]:
        for line in self.text.strip().splitlines():
            setup, *others = (part.strip() for part in line.split("||"))
            yield Cell(f"{self.setup}\n{setup}", *others)
