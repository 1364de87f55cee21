"""What a result says, as blocks, before how it looks."""

from dataclasses import dataclass

from ipyjaxbench.reports.note import Note


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
class Bars:
    """Lengths to be compared by eye.

    Attributes:
        rows: for each bar its name, its length, and that in words.
    """

    rows: tuple[tuple[str, float, str], ...]


@dataclass(frozen=True)
class Series:
    """One line of a picture.

    Attributes:
        label: its name.
        points: for each point where it lies, its height, and the interval of that.
    """

    label: str
    points: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class Chart:
    """Lines over each other, both scales logarithmic; heights are seconds.

    Attributes:
        across: what the horizontal scale is.
        up: what the vertical scale is.
        series: the lines, of two points each at least.
        ends: words for the two ends of a horizontal scale that is even, as that of time; None
            where it is logarithmic.
    """

    across: str
    up: str
    series: tuple[Series, ...]
    ends: tuple[str, str] | None = None


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


Block = Headline | Facts | Distribution | Notes | Table | Bars | Chart | Code | Calls | Grid


@dataclass(frozen=True)
class Report:
    """Blocks in the order in which they are read."""

    blocks: tuple[Block, ...]
