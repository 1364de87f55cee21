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
class Notes:
    """What to know before believing the number, the weightiest first."""

    notes: tuple[Note, ...]


Block = Headline | Facts | Notes


@dataclass(frozen=True)
class Report:
    """Blocks in the order in which they are read."""

    blocks: tuple[Block, ...]
