"""Benchmarks over the commits at which they were measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench import units
from ipyjaxbench.ratios import Ratio
from ipyjaxbench.record_types import NonNegativeInt, PositiveInt
from ipyjaxbench.records.benchmark_change import Baseline, BenchmarkChange
from ipyjaxbench.records.entry import EntryHead
from ipyjaxbench.reports import Result

SHORT = 7  # characters of a hash that people read


@dataclass(frozen=True)
class AtCommit:
    """What was measured at one commit.

    Attributes:
        commit: its hash.
        subject: first line of its message.
        entry: the measurement; of several that with the middle median.
        runs: how many there are.
    """

    commit: str
    subject: str
    entry: EntryHead
    runs: PositiveInt = 1

    @property
    def short(self) -> str:
        """The hash as people read it."""
        return self.commit[:SHORT]


@dataclass(frozen=True)
class Step:
    """A commit from which on calls take longer, or less long.

    Attributes:
        before: the commit that was measured before it.
        at: the first commit that shows a difference for sure.
        ratio: how many times as long a call takes.
        verdict: "SLOWER" or "FASTER".
        lasts: whether nothing shows that the newest commit is as it was before.
        differs: what else is not the same, such as versions.
    """

    before: AtCommit
    at: AtCommit
    ratio: Ratio
    verdict: str
    lasts: bool
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommitLine:
    """One benchmark, the oldest commit first.

    Attributes:
        name: of the benchmark.
        points: what was measured at each commit.
        elsewhere: measurements left out: of another machine or device than the newest one.
    """

    name: str
    points: tuple[AtCommit, ...]
    elsewhere: NonNegativeInt = 0

    def steps(self, among: int = 1) -> Iterator[Step]:
        """Yield where it became slower or faster, the oldest first.

        Each commit is held against the last step, so that a slow drift is found, too, by the rule
        of `BenchmarkChange`.

        Args:
            among: how many comparisons are made together.
        """
        base = 0  # the last step
        for number, point in enumerate(self.points[1:], 1):
            change = _change(self.points[base], point, among)
            if change.verdict not in ("SLOWER", "FASTER") or change.ratio is None:
                continue
            newest = self.points[-1]
            since = _change(self.points[base], newest, among).verdict
            undone = _change(point, newest, among).verdict
            others = tuple(d for d in change.base.differs if not d.startswith("git "))
            yield Step(
                before=self.points[number - 1],
                at=point,
                ratio=change.ratio,
                verdict=change.verdict,
                lasts=since == change.verdict
                or (since == "CAN'T TELL" and undone not in ("SLOWER", "FASTER")),
                differs=others,
            )
            base = number


def _change(before: AtCommit, now: AtCommit, among: int) -> BenchmarkChange:
    return BenchmarkChange(now.entry, Baseline.of(before.entry, now.entry), among)


@dataclass(frozen=True, repr=False)
class Commits(Result, Sequence[CommitLine]):
    """Benchmarks over the commits that lead to the one that is checked out.

    Attributes:
        lines: the benchmarks.
        found: how many measurements match.
        without: how many of them have no commit, as outside of a repository.
        unreachable: how many are of commits that do not lead to this one.
    """

    kind: ClassVar[str] = "commits"

    lines: tuple[CommitLine, ...]
    found: NonNegativeInt = 0
    without: NonNegativeInt = 0
    unreachable: NonNegativeInt = 0

    def __len__(self) -> int:
        """How many benchmarks there are."""
        return len(self.lines)

    def __getitem__(self, index: Any) -> Any:
        """One of them, or some."""
        return self.lines[index]

    @cached_property
    def steps(self) -> tuple[tuple[CommitLine, tuple[Step, ...]], ...]:
        """Each benchmark with its steps; with 95 % confidence for all comparisons together."""
        among = max(sum(len(line.points) - 1 for line in self.lines), 1)
        return tuple((line, tuple(line.steps(among))) for line in self.lines)

    @property
    def slower(self) -> tuple[tuple[CommitLine, Step], ...]:
        """Benchmarks that became slower and still are, with their last such step."""
        found = []
        for line, steps in self.steps:
            lasting = [step for step in steps if step.lasts and step.verdict == "SLOWER"]
            found += [(line, step) for step in lasting[-1:]]
        return tuple(found)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each benchmark and commit; times per call in seconds."""
        return [
            {
                "name": line.name,
                "commit": point.commit,
                "subject": point.subject,
                "median_s": point.entry.median,
                "rerun_low_s": point.entry.figure.estimate.low,
                "rerun_high_s": point.entry.figure.estimate.high,
                "change": next((s.verdict for s in steps if s.at == point), ""),
            }
            for line, steps in self.steps
            for point in line.points
        ]

    def __repr__(self) -> str:
        """One line."""
        shown = units.count(len(self.lines), "benchmark")
        return f"<Commits: {shown}, {len(self.slower)} slower>"
