"""The result of timing one piece of code."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from ipyjaxbench import stats
from ipyjaxbench.device import MemoryPeak
from ipyjaxbench.frameworks import Autotuned, CacheUse, Placement, Program
from ipyjaxbench.host import Conditions, causes
from ipyjaxbench.record_types import (
    Digits,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
)
from ipyjaxbench.reports import Note, Result
from ipyjaxbench.timing import verdict
from ipyjaxbench.timing.cold_cache import ColdCache
from ipyjaxbench.timing.compile_cost import ColdCallResult, Counterpart
from ipyjaxbench.timing.device_time import DeviceTime
from ipyjaxbench.timing.energy import Energy
from ipyjaxbench.timing.estimate import Estimate, low_end, predict, spread
from ipyjaxbench.timing.figure_change import Against, Figure
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.perfetto.trace_file import TraceFile
from ipyjaxbench.usercode import first_line


@dataclass(frozen=True, repr=False)
class Measurement(Result):
    """One piece of code, timed; all times in seconds.

    Attributes:
        code: the code, as typed.
        frameworks: versions of the frameworks involved, by name.
        first_call: time of the first call, including tracing and compiling.
        phases: parts of the first call by name; None if a part's time is unknown.
        compilations: programs compiled in the first call; None if no framework involved compiles.
        loops: calls per sample.
        batches: (calls, nanoseconds) of each steady sample, in order.
        rounds: number of consecutive samples in each round. A round is a group taken in a row; in
            a comparison, one sample in each of ten passes over all arms.
        exact: whether ``-n`` or ``-r`` set the number of calls, including the first.
        waited: whether asynchronous work was waited for in each call.
        inputs: the arrays that the code reads, and where they live.
        outputs: the arrays that the code returns, and where they live.
        notes: what to know before trusting the figure.
        compile_time: time that Python took to compile the code.
        elapsed: time of all calls after the first, with warm-up and pauses.
        precision: significant digits shown.
        clock: "elapsed", "calendar" (``-t``) or "cpu" (``-c``).
        throughputs: samples of the throughput, in seconds per call.
        dispatches: samples of the time until a call returns, in seconds.
        programs: programs compiled, loaded or traced in the first call.
        caches: whether compilation caches on disk keep these, if compiling took a second.
        autotuned: kernels that compilers chose by running candidates, in the first call.
        fresh: the cold call of ``--fresh``; None without it.
        counterpart: the same function compiled or eager, if it was measured before.
        device: busy time of devices, with ``--profile``; None without it.
        energy: what GPUs used per call, with ``--energy``; None without it.
        cold: calls with cold caches, with ``--cold``; None without it.
        memory: the most memory that a call needs, with ``--memory``; empty without it.
        roof: the share of the device's peak, if ``%fwdevices --peak`` has measured it.
        conditions: what the machine did meanwhile.
        trace: the file of the profiled pass, with ``--trace``; None without it.
        against: the run to compare with, with ``--against``; None without it.

    Example:
        >>> batches = ((1, 1000), (1, 3000), (1, 2000))
        >>> m = Measurement("f(x)", {}, 0.01, {}, None, 1, batches, (1, 1, 1))
        >>> m.median, m.floor
        (2e-06, 1e-06)
    """

    kind: ClassVar[str] = "measurement"

    code: str
    frameworks: dict[str, str]
    first_call: NonNegativeFloat
    phases: dict[str, NonNegativeFloat | None]
    compilations: int | None
    loops: PositiveInt
    batches: tuple[tuple[PositiveInt, NonNegativeInt], ...]
    rounds: tuple[NonNegativeInt, ...]
    exact: bool = False
    waited: bool = False
    inputs: tuple[Placement, ...] = ()
    outputs: tuple[Placement, ...] = ()
    notes: tuple[Note, ...] = ()
    compile_time: NonNegativeFloat = 0.0
    elapsed: NonNegativeFloat = 0.0
    precision: Digits = 3
    clock: Literal["elapsed", "calendar", "cpu"] = "elapsed"
    throughputs: tuple[NonNegativeFloat, ...] = ()
    dispatches: tuple[NonNegativeFloat, ...] = ()
    programs: tuple[Program, ...] = ()
    fresh: ColdCallResult | None = None
    counterpart: Counterpart | None = None
    device: DeviceTime | None = None
    roof: Roofline | None = None
    conditions: Conditions | None = None
    energy: Energy | None = None
    cold: ColdCache | None = None
    trace: TraceFile | None = None
    memory: tuple[MemoryPeak, ...] = ()
    against: Against | None = None
    caches: tuple[CacheUse, ...] = ()
    autotuned: tuple[Autotuned, ...] = ()

    @cached_property
    def samples(self) -> tuple[float, ...]:
        """Seconds per call of each steady sample; the first call if there is no other."""
        steady = tuple(ns / calls / 1e9 for calls, ns in self.batches)
        return steady or (self.first_call,)

    @cached_property
    def median(self) -> float:
        """Median seconds per call."""
        return stats.median(self.samples)

    @cached_property
    def half_width(self) -> float:
        """Relative half width of `interval`: the ± of the report; infinite if unknown."""
        return stats.repeatability(self.samples, self.rounds)

    @cached_property
    def known(self) -> float:
        """Relative half width of the 95 % confidence interval of this run's own median."""
        return stats.half_width(self.samples, self.rounds)

    @cached_property
    def headline(self) -> Estimate:
        """The figure to quote, the same wherever this run is shown: its value, statistic, interval.

        It is `estimate`, or the low end of the samples if noise scatters them.
        """
        return low_end(self.spread) if self._low_end_leads else self.estimate

    @property
    def estimate(self) -> Estimate:
        """The median with its interval for another run; arms and runs are compared by it."""
        return predict(self.median, self.half_width, len(self.batches))

    @cached_property
    def spread(self) -> Estimate:
        """The median with the range of the samples of this run."""
        return spread(self.samples)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the median of another such run will be; (0, inf) if unknown."""
        return self.estimate.ends if self.estimate.is_known else (0.0, math.inf)

    @cached_property
    def floor(self) -> float:
        """Seconds per call with little disturbance: the 5th percentile, or the fastest of few."""
        return stats.floor(self.samples)

    @property
    def verdict(self) -> str:
        """QUIET, OK, NOISY or FEW; RECOMPILES, INVALID or ONCE if the figure cannot be trusted."""
        codes = [note.code for note in self.notes]
        return verdict.verdict(self.samples if self.batches else (), self.half_width, codes)

    @property
    def causes(self) -> tuple[str, ...]:
        """Why it is not QUIET, the most important reason first."""
        if self.verdict not in ("OK", "NOISY"):
            return ()
        moved = tuple(verdict.movements(self.samples))
        # Code that uses all CPUs can wait for them and be steady: then nothing is to be explained.
        if self.conditions is None or self.verdict != "NOISY":
            return moved
        return (*moved, *causes(self.conditions))

    @property
    def throughput(self) -> float | None:
        """Seconds per call when many are queued and waited for once; None if not measured."""
        return self._part(self.throughputs)

    @property
    def dispatch(self) -> float | None:
        """Seconds until an asynchronous call returns; None if not measured."""
        return self._part(self.dispatches)

    def _part(self, times: Sequence[float]) -> float | None:
        """Their headline's statistic; no part of a call takes longer than the call."""
        if not times:
            return None
        statistic = stats.floor if self._low_end_leads else stats.median
        return min(statistic(times), self.headline.value)

    @property
    def _low_end_leads(self) -> bool:
        codes = [note.code for note in self.notes]
        # Of few samples it is not known what another run will read, but how they scatter.
        width = self.known if self.verdict == "FEW" else self.half_width
        return verdict.low_end_leads(width, self.verdict, codes)

    # What IPython's TimeitResult has, so that code written for `%timeit -o` goes on working.

    @property
    def all_runs(self) -> list[float]:
        """Seconds of each sample of ``loops`` calls; with ``-n`` the first call is among them."""
        runs = [ns / 1e9 for _, ns in self.batches]
        if not runs:
            return [self.first_call]
        if not self.exact:
            return runs
        if self.batches[0][0] < self.loops:  # the first call and the rest of its sample
            return [self.first_call + runs[0], *runs[1:]]
        return [self.first_call, *runs] if self.loops == 1 else runs

    @property
    def timings(self) -> list[float]:
        """Seconds per call of each of `all_runs`."""
        calls = self.loops if self.batches else 1
        return [seconds / calls for seconds in self.all_runs]

    @property
    def repeat(self) -> int:
        """Number of `all_runs`."""
        return len(self.all_runs)

    @property
    def best(self) -> float:
        """Seconds per call of the fastest of `all_runs`."""
        return min(self.timings)

    @property
    def worst(self) -> float:
        """Seconds per call of the slowest of `all_runs`."""
        return max(self.timings)

    @property
    def average(self) -> float:
        """Mean of `timings`."""
        return math.fsum(self.timings) / len(self.timings)

    @property
    def stdev(self) -> float:
        """Standard deviation of `timings` as a population."""
        mean = self.average
        return math.sqrt(math.fsum((t - mean) ** 2 for t in self.timings) / len(self.timings))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: the times per call, in seconds."""
        lead, rerun, samples = self.headline, self.estimate, self.spread
        times = {
            "headline_s": lead.value, "statistic": lead.statistic,
            "median_s": self.median, "rerun_low_s": rerun.low, "rerun_high_s": rerun.high,
            "samples_low_s": samples.low, "samples_high_s": samples.high, "fastest_s": self.floor,
            "throughput_s": self.throughput, "dispatch_s": self.dispatch,
            "first_call_s": self.first_call,
        }  # fmt: skip
        return [{"code": self.code, **times, "samples": len(self.batches), "verdict": self.verdict}]

    def __repr__(self) -> str:
        """One line."""
        shown = self.headline.words(self.precision)
        return f"<Measurement {first_line(self.code)}: {shown}, {self.verdict}>"

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if sum(self.rounds) != len(self.batches):
            return "the rounds do not add up to the samples"
        known = (self.device, self.conditions, self.energy, self.cold, *self.memory)
        parts = (part for part in known if part is not None)
        return next((wrong for part in parts if (wrong := part.check())), None)


def summarize(m: Measurement) -> Figure:
    """Return what is left of a measurement without its samples."""
    known = None if math.isinf(m.half_width) else m.half_width
    lead = m.headline
    return Figure(
        m.median, known, len(m.batches), m.verdict, "median" if lead == m.estimate else lead
    )
