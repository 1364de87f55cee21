"""What one run of a test suite measured with ``fwbench``, and what it is held against."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ipyjaxbench import units
from ipyjaxbench.record_types import NonNegativeFloat, PositiveInt
from ipyjaxbench.records.benchmark_change import Baseline, BenchmarkChange
from ipyjaxbench.records.entry import EntryHead, HistoryEntry
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import NO_FIGURE


@dataclass(frozen=True)
class Benchmark:
    """One measurement of a test.

    Attributes:
        entry: what was measured.
        why: why there is no figure, in words; empty where there is one.
        base: what it is held against; None if there is nothing.
    """

    entry: HistoryEntry
    why: str = ""
    base: Baseline | None = None


@dataclass(frozen=True, repr=False)
class Benchmarks(Result, Sequence[Benchmark]):
    """What one run of a test suite measured.

    Attributes:
        benchmarks: the measurements, in the order in which they were made.
        against: what they are held against: a file, or "last"; empty if nothing was asked for.
        limit: by how much they may be slower, as a share; None if nothing fails for it.
        among: how many were to be held against something in this run.
    """

    kind: ClassVar[str] = "benchmarks"

    benchmarks: tuple[Benchmark, ...]
    against: str = ""
    limit: NonNegativeFloat | None = None
    among: PositiveInt = 1

    def __len__(self) -> int:
        """How many there are."""
        return len(self.benchmarks)

    def __getitem__(self, index: Any) -> Any:
        """One of them, or some."""
        return self.benchmarks[index]

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """What was measured."""
        return tuple(each.entry for each in self.benchmarks)

    def change(self, benchmark: Benchmark) -> BenchmarkChange | None:
        """Return how a benchmark changed; None where it is new, or nothing was asked for."""
        if benchmark.base is None:
            return None
        return BenchmarkChange(benchmark.entry, benchmark.base, self.among)

    def verdict(self, benchmark: Benchmark) -> str:
        """Return how a benchmark changed, in a word of `BenchmarkChange.verdict`; or NEW, or ""."""
        if not self.against:
            return ""
        change = self.change(benchmark)
        return "NEW" if change is None else change.verdict

    @property
    def without_figure(self) -> tuple[Benchmark, ...]:
        """Those whose time says nothing: they were compared with nothing."""
        return tuple(e for e in self.benchmarks if has_no_figure(e.entry))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each benchmark; times per call in seconds."""
        return [self._row(each) for each in self.benchmarks]

    def _row(self, benchmark: Benchmark) -> dict[str, Any]:
        ratio = (change := self.change(benchmark)) and change.ratio
        return {
            **benchmark.entry.row(),
            "before_s": benchmark.base and benchmark.base.figure.median,
            "ratio": ratio and ratio.value,
            "ratio_low": ratio and ratio.low,
            "ratio_high": ratio and ratio.high,
            "change": self.verdict(benchmark),
        }

    def __repr__(self) -> str:
        """One line."""
        return f"<Benchmarks of {units.count(len(self.benchmarks), 'measurement')}>"

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        return next((wrong for entry in self.entries if (wrong := entry.check())), None)


def has_no_figure(entry: EntryHead) -> bool:
    """Whether the time of a measurement says nothing."""
    return entry.figure.verdict in (*NO_FIGURE, "RECOMPILES")
