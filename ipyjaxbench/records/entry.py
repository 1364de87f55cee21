"""One measurement of the past: what is kept of it, beside the notebook."""

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, singledispatch
from types import MappingProxyType
from typing import Any

from ipyjaxbench import stats
from ipyjaxbench.comparison import Comparison, Sweep
from ipyjaxbench.record_types import Moment, NonNegativeFloat, NonNegativeInt, PositiveFloat
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import (
    Estimate,
    Figure,
    Measurement,
    low_end,
    split_phases,
    summarize_samples as summarize,
)
from ipyjaxbench.usercode import first_line
from ipyjaxbench.validation import kept_name

SCHEMA = 1
_MAX_SAMPLES = 120  # evenly taken of more: a line of the store has about 2 kB with them
_MAX_CODE = 4000  # characters
_MAX_SECONDS = 1e9


@dataclass(frozen=True)
class Location:
    """Where a measurement was made.

    Attributes:
        directory: the working directory.
        notebook: path or name of the notebook; empty if unknown.
        cell: the cell's id in the notebook; empty if unknown.
        execution: the number of the execution in its session, as in ``In [5]``; 0 if unknown.
    """

    directory: str = ""
    notebook: str = ""
    cell: str = ""
    execution: NonNegativeInt = 0


@dataclass(frozen=True)
class RelativeTime:
    """How long a call takes in steps of a fixed loop that was made between the calls.

    Attributes:
        value: steps that take as long as a call.
        low: lower end of its 99 % confidence interval.
        high: upper end of it.
        pairs: samples of each of the two.
    """

    value: PositiveFloat
    low: PositiveFloat
    high: PositiveFloat
    pairs: NonNegativeInt


@dataclass(frozen=True)
class EntryHead:
    """One saved measurement without its samples, which take most of the time to read.

    Attributes:
        schema: version of the file format.
        when: time of the measurement, in seconds since 1970.
        magic: "fwtime", "fwcompare" or "fwbench", the fixture.
        label: its name or arm; empty if it has none.
        code: what was measured.
        figure: the headline, the median with its interval, and the verdict.
        floor: seconds per call with little disturbance.
        clock: "elapsed", "calendar" or "cpu".
        at: values of swept names.
        environment: versions, devices, settings and Git revision.
        where: directory, notebook and cell.
        first_call: seconds of each phase of the first call, "run" among them; empty if unknown.
        taken: share of all CPUs that other programs had meanwhile; None if unknown.
        relative: the time in steps of a loop, of ``fwbench`` alone; None if unknown.
    """

    schema: int
    when: Moment
    magic: str
    label: str
    code: str
    figure: Figure
    floor: NonNegativeFloat
    clock: str = "elapsed"
    at: dict[str, str] = field(default_factory=dict)
    environment: Environment = field(default_factory=Environment)
    where: Location = field(default_factory=Location)
    first_call: dict[str, NonNegativeFloat] = field(default_factory=dict)
    taken: NonNegativeFloat | None = None
    relative: RelativeTime | None = None

    def __post_init__(self) -> None:
        """Give a noisy run what its report led with, where an earlier version did not keep it."""
        kept = self.figure
        if kept.leads is None and kept.verdict == "NOISY" and kept.half_width is not None:
            coverage = 1.0 if kept.samples < stats.FEW else 0.9
            leads = low_end(Estimate(self.floor, None, None, of="samples", coverage=coverage))
            object.__setattr__(self, "figure", replace(kept, leads=leads))

    @property
    def headline(self) -> Estimate:
        """The figure to quote, as the report of the measurement does."""
        return self.figure.headline

    @property
    def median(self) -> float:
        """Median seconds per call."""
        return self.figure.median

    @property
    def interval(self) -> tuple[float, float]:
        """Where the median of another such run will be; (0, inf) if unknown."""
        return self.figure.interval

    @property
    def name(self) -> str:
        """What it can be called in ``--against``, or one line of its code."""
        return kept_name(self.label, **self.at) if self.label else first_line(self.code)

    def row(self) -> dict[str, Any]:
        """Return it as one row of a table; times per call in seconds."""
        rerun = self.figure.estimate
        around = self.environment
        versions = (f"{name} {version}" for name, version in sorted(around.frameworks.items()))
        return {
            "name": self.name,
            "measured": _moment(self.when),
            "headline_s": self.headline.value,
            "statistic": self.headline.statistic,
            "median_s": self.median,
            "rerun_low_s": rerun.low,
            "rerun_high_s": rerun.high,
            "fastest_s": self.floor,
            "verdict": self.figure.verdict,
            "code": self.code,
            "devices": ", ".join(around.devices),
            "versions": ", ".join(versions),
            "revision": around.revision,
            "notebook": self.where.notebook,
        }

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if self.schema != SCHEMA:
            return f"it has schema {self.schema}; this version reads {SCHEMA}"
        if not max(self.median, self.headline.value) < _MAX_SECONDS:
            return "a call cannot have taken longer than 30 years"
        return None


@dataclass(frozen=True)
class HistoryEntry(EntryHead):
    """One saved measurement.

    Attributes:
        picoseconds: samples in order, per call; a long run is thinned out evenly.
        rounds: the number of samples in each round.
        programs: digests of compiled programs that were kept, by what was called.
    """

    picoseconds: tuple[NonNegativeInt, ...] = ()
    rounds: tuple[NonNegativeInt, ...] = ()
    programs: dict[str, str] = field(default_factory=dict)

    @cached_property
    def samples(self) -> tuple[float, ...]:
        """Seconds per call of the saved samples."""
        return tuple(ps * 1e-12 for ps in self.picoseconds)

    @property
    def half_width(self) -> float:
        """Relative half width of the interval, from the saved samples."""
        return stats.repeatability(self.samples, self.rounds)

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if sum(self.rounds) != len(self.picoseconds):
            return "the rounds do not add up to the samples"
        return super().check()


def _moment(when: float) -> datetime | None:
    """Return a moment in UTC; None where no calendar has it, as in a forged record."""
    try:
        return datetime.fromtimestamp(when, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def make_entries(
    result: Result,
    label: str,
    *,
    when: float,
    where: Location,
    revision: str,
    programs: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[HistoryEntry]:
    """Yield what is kept of a result: one entry for each measurement in it.

    Args:
        result: of a magic; a comparison of measurements that were kept gives nothing.
        label: under which it was kept; empty where it was not.
        when: time of the measurement, in seconds since 1970.
        where: directory, notebook and cell.
        revision: of the code in Git.
        programs: digests of the compiled programs that were kept.
    """
    if isinstance(result, Comparison) and not result.interleaved:
        return
    for name, at, m in find_measurements(result, label):
        picoseconds, rounds = thin(m.batches, m.rounds)
        yield HistoryEntry(
            schema=SCHEMA,
            when=when,
            magic="fwcompare" if any(find_comparisons(result)) else "fwtime",
            label=name,
            code=m.code[:_MAX_CODE],
            figure=summarize(m),
            floor=m.floor,
            clock=m.clock,
            at=at,
            environment=Environment.here(m, revision),
            where=where,
            first_call=_first_call(m),
            picoseconds=picoseconds,
            rounds=rounds,
            programs=dict(programs),
            taken=None if m.conditions is None else round(m.conditions.taken, 3),
        )


@singledispatch
def find_measurements(
    result: Result, label: str
) -> Iterator[tuple[str, dict[str, str], Measurement]]:
    """Yield the measurements in a result, each with its name and the values of swept names.

    Arms are named by their labels, or as ``before.numpy`` where the comparison has a name. Results
    of rooms above this one are registered there.
    """
    if isinstance(result, Measurement):
        yield kept_name(label), {}, result
    for at, compared in find_comparisons(result):
        for arm in compared.sides:
            if arm.measured is not None:
                yield kept_name(label, arm.label) if label else arm.label, at, arm.measured


def find_comparisons(result: Result) -> Iterator[tuple[dict[str, str], Comparison]]:
    """Yield the comparisons in a result, each with the values of swept names."""
    if isinstance(result, Comparison):
        yield {}, result
    elif isinstance(result, Sweep):
        for point in result.points:
            yield dict(zip(result.names, point.values, strict=True)), point.compared


def _first_call(m: Measurement) -> dict[str, float]:
    """Return the seconds of each phase of the first call, to four digits: a bar needs no more."""
    phases = split_phases(m.first_call, m.phases)
    return {phase: float(f"{seconds:.4g}") for phase, seconds in phases.items()}


def thin(
    batches: Sequence[tuple[int, int]], rounds: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return some of the samples, evenly taken, with as much of their rounds."""
    n, most = len(batches), _MAX_SAMPLES
    taken = list(range(n)) if n <= most else [i * n // most for i in range(most)]
    ends = [0, *itertools.accumulate(rounds)]
    places = [bisect_left(taken, end) for end in ends]
    counts = [b - a for a, b in itertools.pairwise(places) if b > a]
    return tuple(batches[i][1] * 1000 // batches[i][0] for i in taken), tuple(counts)
