"""What one piece of code takes in all processes of a job, and who waits for whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench import stats, units
from ipyjaxbench.cluster.clock_offset import ClockOffset
from ipyjaxbench.cluster.exchange import Exchange
from ipyjaxbench.cluster.rank_facts import RankFacts
from ipyjaxbench.record_types import NonNegativeFloat
from ipyjaxbench.records import find_measurements
from ipyjaxbench.reports import Result
from ipyjaxbench.timing import Estimate, Measurement
from ipyjaxbench.usercode import first_line
from ipyjaxbench.validation import kept_name

_MIN_WAIT_SHARE = 0.05  # of a call: what the others wait for a rank matters from here on
_SURE = 3  # times the error of the clocks: from there on a skew is one
#: Verdicts from the one that says least of a figure on.
_WEAKEST = ("INVALID", "RECOMPILES", "ONCE", "FEW", "NOISY", "OK", "QUIET")
_MIN_AGREEING = 0.9  # of the calls in which that rank must be the last one


@dataclass(frozen=True)
class RankMeasurement:
    """What one rank measured.

    Attributes:
        rank: its number in the job.
        host: the name of its machine.
        pid: its process ID there.
        measurement: its own first call, samples and notes.
        collectives: seconds in collectives, of each call that was profiled; empty if unknown.
        started: nanoseconds on the host's clock after each meeting before samples.
        exchanged: collectives that each call makes; empty if unknown.
        facts: what it runs on; None if unknown.
        clock: how far its host's clock is from that of rank 0; None in the other ranks of a host,
            and where it is the same clock.
        unknown: why the seconds in collectives are not known; "" if they are.
    """

    rank: int
    host: str
    pid: int
    measurement: Measurement
    collectives: tuple[NonNegativeFloat, ...] = ()
    started: tuple[int, ...] = ()
    exchanged: tuple[Exchange, ...] = ()
    facts: RankFacts | None = None
    clock: ClockOffset | None = None
    unknown: str = ""

    @property
    def waits(self) -> float | None:
        """Seconds per call in collectives; None if unknown."""
        return stats.median(self.collectives) if self.collectives else None


@dataclass(frozen=True, repr=False)
class JobMeasurement(Result):
    """One piece of code, timed in all ranks of a job in step.

    Attributes:
        code: what was timed.
        ranks: what each of them measured, in their order.
        job: the framework that connects them; "" if each is an engine that runs by itself.
        names: names of engines that run by themselves; empty for ranks.
    """

    kind: ClassVar[str] = "job"

    code: str
    ranks: tuple[RankMeasurement, ...]
    job: str = ""
    names: tuple[str, ...] = ()

    def check(self) -> str | None:
        """Return why these facts contradict each other."""
        numbers = [each.rank for each in self.ranks]
        if not numbers or numbers != [*range(len(numbers))]:
            return "ranks are missing, or not in order"
        if self.names and len(self.names) != len(self.ranks):
            return "not all engines have a name"
        return next(filter(None, (each.measurement.check() for each in self.ranks)), None)

    @property
    def member(self) -> str:
        """What each of them is: "rank" of a job, or "engine" or "worker"."""
        return self.labels[0].partition(" ")[0] if self.ranks else "rank"

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What each is called, such as "rank 0"."""
        kind = "rank" if self.job else "engine"
        return self.names or tuple(f"{kind} {each.rank}" for each in self.ranks)

    @cached_property
    def longest(self) -> Measurement:
        """The measurement of the rank that takes longest, for which all wait."""
        return max((each.measurement for each in self.ranks), key=lambda m: m.median)

    @property
    def headline(self) -> Estimate:
        """The figure to quote: that of the rank which takes longest."""
        return self.longest.headline

    @property
    def median(self) -> float:
        """Median seconds per call of the rank that takes longest."""
        return self.longest.median

    @property
    def is_elapsed(self) -> bool:
        """Whether times are elapsed ones: those of CPUs do not show what a rank waits for."""
        return all(each.measurement.clock != "cpu" for each in self.ranks)

    @property
    def verdict(self) -> str:
        """The weakest verdict of all ranks: one that is unsteady makes all unsteady."""
        own = {each.measurement.verdict for each in self.ranks}
        return next(word for word in _WEAKEST if word in own)

    @cached_property
    def waits(self) -> tuple[float, ...]:
        """Seconds per call that each rank waits for the last one; empty if unknown.

        In a collective the last rank to come waits least: what others spend there beyond that is
        time in which they wait for it. Without collectives, ranks wait for none.
        """
        own = [each.waits for each in self.ranks]
        known = [wait for wait in own if wait is not None]
        if len(known) < len(own) or not self.is_elapsed:
            return ()
        return tuple(wait - min(known) for wait in known)

    @cached_property
    def slowest(self) -> int | None:
        """The rank for which the others wait; None where there is no such rank."""
        if len(self.waits) < 2:
            return None
        calls = list(zip(*(each.collectives for each in self.ranks), strict=False))
        last = self.waits.index(0.0)
        others = [wait for rank, wait in enumerate(self.waits) if rank != last]
        agreeing = sum(min(call) == call[last] for call in calls) / len(calls)
        waited = min(others) >= _MIN_WAIT_SHARE * self.median
        return last if waited and agreeing >= _MIN_AGREEING else None

    @property
    def lost(self) -> float | None:
        """The share of a call that ranks spend waiting for the last one, 0 to 1; None if unknown.

        The mean over ranks of their waits, over the time of a call.
        """
        if not self.waits:
            return None
        return sum(self.waits) / len(self.waits) / self.median

    @property
    def scores(self) -> tuple[float, ...]:
        """How fast each rank is, against the fastest, over 0 to 1: least own time / own time.

        Own time is that of a call less what it waits for others. It is the relative score of
        NVIDIA's resiliency extension. Empty where ranks may wait and it is not known how long.
        """
        if self.job and not self.waits:
            return ()
        waits = self.waits or (0.0,) * len(self.ranks)
        medians = [each.measurement.median for each in self.ranks]
        own = [max(t - w, 1e-9) for t, w in zip(medians, waits, strict=True)]
        return tuple(min(own) / time for time in own)

    @property
    def skew(self) -> float | None:
        """Seconds between the first and the last rank to begin a sample, the median of samples.

        None where it is not known, or not above the error of comparing the hosts' clocks.
        """
        clocks = self._clocks()
        own = [clocks.get(each.facts.boot) if each.facts else None for each in self.ranks]
        known = [clock for clock in own if clock is not None]
        if len(known) < len(own):
            return None
        starts = [
            [start + clock.offset for start in each.started]
            for each, clock in zip(self.ranks, known, strict=True)
        ]
        spans = [max(sample) - min(sample) for sample in zip(*starts, strict=False)]
        skew = stats.median(spans) if spans else None
        error = max(clock.error for clock in known)
        return skew * 1e-9 if skew is not None and skew >= _SURE * error else None

    def _clocks(self) -> dict[str, ClockOffset]:
        """Return the clock of each host, by what the ranks on it share."""
        first = self.ranks[0].facts
        found = {first.boot: ClockOffset(0, 0)} if first is not None and first.boot else {}
        for each in self.ranks:
            if each.facts is not None and each.clock is not None:
                found[each.facts.boot] = each.clock
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each rank."""
        unknown = (None,) * len(self.ranks)
        waits, scores = self.waits or unknown, self.scores or unknown
        return [
            {
                "rank": each.rank, "host": each.host, "pid": each.pid,
                "first_call_s": each.measurement.first_call,
                "headline_s": each.measurement.headline.value,
                "statistic": each.measurement.headline.statistic,
                "median_s": each.measurement.median,
                "wait_s": wait, "score": score,
            }
            for each, wait, score in zip(self.ranks, waits, scores, strict=True)
        ]  # fmt: skip

    def __repr__(self) -> str:
        """One line."""
        where = units.count(len(self.ranks), self.member)
        return f"<JobMeasurement {first_line(self.code)}: {self.headline.words()}, {where}>"


@find_measurements.register
def _(job: JobMeasurement, label: str) -> Iterator[tuple[str, dict[str, str], Measurement]]:
    """Yield the measurement of the rank that takes longest: runs of as many ranks are compared."""
    yield kept_name(label), {f"{job.member}s": str(len(job.ranks))}, job.longest
