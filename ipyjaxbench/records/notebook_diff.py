"""Two runs of the same notebook or test suite, one held against the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench.record_types import NonNegativeInt
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import Change, Figure


@dataclass(frozen=True)
class Pair:
    """One measurement that both runs have.

    Attributes:
        name: the label, or the first line of the code.
        cell: number of the cell in the second notebook, from 1; 0 for a benchmark of pytest.
        before: the figure of the first run.
        after: the figure of the second run.
        edited: whether the code differs.
    """

    name: str
    cell: int
    before: Figure
    after: Figure
    edited: bool = False


@dataclass(frozen=True, repr=False)
class Rerun(Result):
    """Two runs of the same notebook or test suite, compared.

    Attributes:
        before: path of the first run's file.
        after: path of the second run's file.
        pairs: the measurements that both have.
        differs: what differs around them, such as versions and devices.
        only_before: measurements that only the first one has.
        only_after: measurements that only the second one has.
        refused: the number of unreadable records.

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
        """The change of each pair; with 95 % confidence for all pairs together."""
        return tuple(Change(p.before, p.after, len(self.pairs)) for p in self.pairs)

    @property
    def slower(self) -> tuple[Pair, ...]:
        """Pairs that are slower in the second run, by more than runs usually differ."""
        return self._pairs_with("SLOWER")

    @property
    def faster(self) -> tuple[Pair, ...]:
        """Pairs that are faster in the second run."""
        return self._pairs_with("FASTER")

    @property
    def invalid(self) -> tuple[Pair, ...]:
        """Pairs without a figure in the second run, which are compared with nothing."""
        return tuple(p for p in self.pairs if p.after.verdict in ("INVALID", "RECOMPILES"))

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
