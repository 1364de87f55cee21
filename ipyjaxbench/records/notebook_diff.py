"""Two runs of the same notebook, one held against the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench.record_types import NonNegativeInt
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import Change, Figure


@dataclass(frozen=True)
class Pair:
    """One measurement in both runs.

    Attributes:
        name: the label, or the first line of the code.
        cell: its number in the second notebook, from 1.
        before: what the first run found.
        after: what the second run found.
        edited: whether the code is another one.
    """

    name: str
    cell: int
    before: Figure
    after: Figure
    edited: bool = False


@dataclass(frozen=True, repr=False)
class Rerun(Result):
    """What comparing two runs of the same notebook found.

    Attributes:
        before: path of the first notebook.
        after: path of the second one.
        pairs: what both of them measured.
        differs: what is not the same around them, in words.
        only_before: what the first one alone measured.
        only_after: what the second one alone measured.
        refused: how many records of both could not be read.

    Example:
        >>> # compare_notebooks("a.ipynb", "b.ipynb").slower
    """

    kind: ClassVar[str] = "rerun"

    before: str
    after: str
    pairs: tuple[Pair, ...]
    differs: tuple[str, ...] = ()
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    refused: NonNegativeInt = 0

    @cached_property
    def changes(self) -> Sequence[Change]:
        """Each pair's figures against each other; all together may be wrong in 5 % of cases."""
        return tuple(Change(p.before, p.after, len(self.pairs)) for p in self.pairs)

    @property
    def slower(self) -> tuple[Pair, ...]:
        """Those that take longer in the second run, by more than what runs differ by themselves."""
        return self._pairs_with("SLOWER")

    @property
    def faster(self) -> tuple[Pair, ...]:
        """Those that take less time in the second run."""
        return self._pairs_with("FASTER")

    def _pairs_with(self, verdict: str) -> tuple[Pair, ...]:
        both = zip(self.pairs, self.changes, strict=True)
        return tuple(pair for pair, change in both if change.verdict == verdict)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each pair; times per call in seconds."""
        return [
            {
                "name": pair.name,
                "cell": pair.cell,
                "before_s": pair.before.median,
                "after_s": pair.after.median,
                "ratio": change.ratio and change.ratio.value,
                "ratio_low": change.ratio and change.ratio.low,
                "ratio_high": change.ratio and change.ratio.high,
                "verdict": change.verdict,
                "edited": pair.edited,
            }
            for pair, change in zip(self.pairs, self.changes, strict=True)
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Rerun of {len(self.pairs)}: {len(self.slower)} slower, {len(self.faster)} faster>"
