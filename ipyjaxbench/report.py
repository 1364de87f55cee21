"""What a result says, as blocks, before how it looks."""

from dataclasses import dataclass

from ipyjaxbench.notes import Note


@dataclass(frozen=True)
class Headline:
    """The one line to read.

    Attributes:
        title: what was measured.
        figure: the number with its unit; empty where it cannot be believed.
        detail: what the number means.
        verdict: one word.
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
class Distribution:
    """How often samples took how long, as a small picture.

    Attributes:
        label: what is counted.
        low: time of the first step's beginning, with its unit.
        high: time of the last step's end, with its unit.
        counts: samples in each step, all of the same width; what is slower is in the last one.
        beyond: what lies outside of the picture, in words; empty where nothing does.
    """

    label: str
    low: str
    high: str
    counts: tuple[int, ...]
    beyond: str = ""


@dataclass(frozen=True)
class Notes:
    """What to know before believing the number, the weightiest first."""

    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Table:
    """Rows of numbers, each with a name in front; details for those who want them.

    Attributes:
        caption: what the rows are.
        head: the names of the columns.
        rows: a name, and a number for each further column.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Headline | Facts | Distribution | Notes | Table


@dataclass(frozen=True)
class Report:
    """Blocks in the order in which they are read."""

    blocks: tuple[Block, ...]
