"""What a result says, as blocks, before how it looks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ipyjaxbench.reports.note import OPEN_NOTES, Note
from ipyjaxbench.reports.pictures import Picture


@dataclass(frozen=True)
class Headline:
    """The one line to read.

    Attributes:
        title: what was measured.
        figure: the number with its unit; empty where it cannot be believed.
        detail: what the number means.
        verdict: one word of `badges.BADGES`; empty where there is nothing to judge.
        explained: the verdict in a few words, for those who see it for the first time.
    """

    title: str
    figure: str
    detail: str
    verdict: str
    explained: str


@dataclass(frozen=True)
class Facts:
    """Labelled lines."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notes:
    """What to know before believing the number, the weightiest first."""

    notes: tuple[Note, ...]

    def advised(self) -> list[tuple[Note, str]]:
        """Return each note with its advice: what several notes advise stands at the last one.

        Example:
            >>> same = [Note("a", "Slow.", "wait"), Note("b", "Slower.", "wait")]
            >>> [advice for _, advice in Notes(tuple(same)).advised()]
            ['', 'wait']
        """
        last = {note.advice: number for number, note in enumerate(self.notes[:OPEN_NOTES])}
        return [
            (note, note.advice if last.get(note.advice, number) <= number else "")
            for number, note in enumerate(self.notes)
        ]


@dataclass(frozen=True)
class Table:
    """Rows of numbers, each with a name in front.

    Attributes:
        caption: what the rows are; empty where nothing need be said.
        head: the names of the columns.
        rows: a name, and a number for each further column.
        folded: whether it is for those who want the details.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = True


@dataclass(frozen=True)
class Code:
    """The text of a program.

    Attributes:
        language: what it is written in.
        text: its lines.
    """

    language: str
    text: str


@dataclass(frozen=True)
class Calls:
    """What became of calls, a line for each.

    Attributes:
        head: the names of the columns.
        rows: of each line the short cells, and words in the last one, which may take several
            lines.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Grid:
    """Which devices hold which part of an array, drawn.

    Attributes:
        caption: whose parts they are.
        tops: the names of the columns; one empty name where there is but one.
        rows: of each row its name, and its cells; equal cells are the same devices.
    """

    caption: str
    tops: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Listing:
    """Lines of source with what each costs.

    Attributes:
        caption: what is counted, as "FLOP by line".
        rows: for each line its number, its share of all (0 to 1), that cost in words, its text.
    """

    caption: str
    rows: tuple[tuple[str, float, str, str], ...]


@dataclass(frozen=True)
class Footer:
    """Where and with what: one quiet line at the end.

    Attributes:
        parts: its pieces; empty ones are left out.
    """

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Details:
    """Blocks for those who want more: folded in a page, below the rest in text.

    Attributes:
        summary: what is folded, as "6 calls".
        blocks: what unfolds.
        printed: whether text shows the blocks; else it leaves them out.
    """

    summary: str
    blocks: tuple["Block", ...]
    printed: bool = True


Block = (
    Headline | Facts | Notes | Table | Code | Calls | Grid | Listing | Footer | Details | Picture
)


@dataclass(frozen=True)
class Report:
    """Blocks in the order in which they are read."""

    blocks: tuple[Block, ...]

    def notes(self) -> list[Note]:
        """Return its notes, from the top."""
        return [n for block in self.blocks if isinstance(block, Notes) for n in block.notes]

    def without(self, is_known: Callable[[Note], bool]) -> "Report":
        """Return it without the notes that its reader knows."""
        return Report(tuple(_without(block, is_known) for block in self.blocks))

    def pictures(self) -> list[Picture]:
        """Return the pictures among the blocks, from the top; folded ones too."""
        return [*_pictures(self.blocks)]


def _without(block: Block, is_known: Callable[[Note], bool]) -> Block:
    if not isinstance(block, Notes):
        return block
    return Notes(tuple(note for note in block.notes if not is_known(note)))


def _pictures(blocks: Iterable[Block]) -> Iterator[Picture]:
    for block in blocks:
        if isinstance(block, Picture):
            yield block
        elif isinstance(block, Details):
            yield from _pictures(block.blocks)
