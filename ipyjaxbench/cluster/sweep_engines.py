"""Times arms on growing numbers of engines, in rounds, for a sweep."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ipyjaxbench.cluster import on_engine
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.job_measurement import JobMeasurement
from ipyjaxbench.cluster.members import Members
from ipyjaxbench.cluster.time_on_engines import merge_timed
from ipyjaxbench.comparison import (
    ArmResult,
    CompareOptions,
    Comparison,
    Kind,
    Point,
    Scaling,
    Sweep,
)
from ipyjaxbench.device import shorten_numbers
from ipyjaxbench.errors import ArmFailedError, Interrupted, OptionError
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import (
    AIMS,
    Measurement,
    OnProgress,
    TimeOptions,
    ignore_progress,
    note_interrupted,
)

#: What the number of engines is called, in the sweep and in the code.
NAME = "engines"
_ROUNDS = 2  # the second one in the reverse order, so that what drifts hits all alike


@dataclass(frozen=True)
class EngineArm:
    """Code that engines run, as plain text: what runs once, before each sample, and what is timed.

    Attributes:
        label: its name.
        code: what is timed.
        setup: what runs, untimed, before each sample; None for nothing.
        before: what runs, untimed, once for each number of engines; None for nothing.
    """

    label: str
    code: str
    setup: str | None = None
    before: str | None = None


def sweep_engines(
    members: Members,
    arms: Sequence[EngineArm],
    numbers: Sequence[object],
    options: CompareOptions,
    *,
    on_progress: OnProgress = ignore_progress,
) -> Sweep:
    """Time arms on the first n engines at the same time, for several n; names stay as they were.

    The name ``engines`` is n meanwhile. In a job all ranks take part each time, and the code makes
    use of n.

    Args:
        members: all engines.
        arms: what to time; one at least.
        numbers: of engines.
        options: how; its budget is that of all together.
        on_progress: is called after each measurement.

    Raises:
        OptionError: a number is none of engines that are there, or code in a job does not use it.
        RankError: an engine failed before anything was measured.
        ArmFailedError: one failed later; it holds what was measured until then.
        Interrupted: the user ended it; it holds what was measured until then.
    """
    __tracebackhide__ = True
    counts = _check_numbers(numbers, members)
    scaling = _find_scaling(members, arms, options)
    points = [(n, arm) for n in counts for arm in arms]
    timing = _options_per_measurement(options, len(points))
    reached = _Reached([arm.label for arm in arms], counts, scaling)
    clock = Clock.elapsed()
    start = clock.wall()
    for done, (n, arm) in enumerate([*points, *reversed(points)], start=1):
        try:
            reached.add(n, arm.label, _time(members, n, arm, timing, options.timeout))
        except Interrupted as stopped:
            reached.add(n, arm.label, stopped.result)
            raise Interrupted(reached.sweep(note_interrupted()), stopped) from None
        except KeyboardInterrupt as stopped:
            if not reached.found:
                raise
            raise Interrupted(reached.sweep(note_interrupted()), stopped) from None
        except RankError as error:
            failed = RankError(f"{arm.label} at {NAME} = {n}: {error}")
            if not reached.found:
                raise failed from None
            raise ArmFailedError(reached.sweep(), failed) from None
        left = _ROUNDS * len(points) - done
        on_progress(math.nan, (clock.wall() - start) // done * left)
    return reached.sweep()


def _time(
    members: Members, n: int, arm: EngineArm, timing: TimeOptions, timeout: float
) -> JobMeasurement:
    """Time an arm on all ranks of a job, or on the first n engines."""
    __tracebackhide__ = True
    chosen = members if members.job else members.first(n)
    sent = (arm.code, arm.setup, arm.before, {NAME: n}, dataclasses.asdict(timing), timeout)
    return merge_timed(chosen, arm.code, on_engine.time_arm, sent)


@dataclass
class _Reached:
    """What there is so far."""

    labels: Sequence[str]
    counts: Sequence[int]
    scaling: Scaling
    #: Of each arm on each number of engines, what each engine measured in each round.
    found: dict[tuple[int, str], list[list[Measurement]]] = field(default_factory=dict)

    def add(self, n: int, label: str, measured: object) -> None:
        """Add what all engines measured; nothing where one of them measured nothing."""
        assert isinstance(measured, JobMeasurement)
        ranks = [each.measurement for each in measured.ranks]
        whole = self.scaling.job or len(ranks) == n
        if ranks and whole and all(m.batches for m in ranks):
            self.found.setdefault((n, label), []).append(ranks)

    def sweep(self, *notes: Note) -> Sweep:
        """Return the result; notes are on where it ended."""
        made = [n for n in self.counts if any((n, label) in self.found for label in self.labels)]
        points = []
        for n in made:
            sides = tuple(ArmResult(label, self._slowest(n, label)) for label in self.labels)
            last = notes if n == made[-1] else ()
            compared = Comparison(sides, self.labels[0], interleaved=False, notes=last)
            points.append(Point((str(n),), compared))
        return Sweep(
            *((NAME,), tuple(self.labels), tuple(points)),
            planned=len(self.counts),
            scaling=self.scaling,
        )

    def _slowest(self, n: int, label: str) -> Measurement | None:
        """Return what the slowest engine measured in all rounds."""
        rounds = self.found.get((n, label))
        if rounds is None:
            return None
        engines = (_join(of_engine) for of_engine in zip(*rounds, strict=True))
        return max(engines, key=lambda m: m.median)


def _join(parts: Sequence[Measurement]) -> Measurement:
    """Return what was measured in several rounds as one; the first call is that of the first."""
    return dataclasses.replace(
        parts[0],
        batches=tuple(batch for m in parts for batch in m.batches),
        rounds=tuple(number for m in parts for number in m.rounds),
        throughputs=tuple(seconds for m in parts for seconds in m.throughputs),
        dispatches=tuple(seconds for m in parts for seconds in m.dispatches),
        notes=tuple(dict.fromkeys(note for m in parts for note in m.notes)),
        elapsed=sum(m.elapsed for m in parts),
        conditions=None,  # of one round alone
    )


def _check_numbers(numbers: Sequence[object], members: Members) -> list[int]:
    """Return the numbers in order, each once."""
    most = len(members.engines)
    for number in numbers:
        if type(number) is not int or not 1 <= number <= most:
            raise OptionError(
                f"--sweep {NAME}: {number!r} is no number of engines from 1 to {most}, which are"
                f" there. Type for example --sweep {NAME}=1,{most}"
            )
    return sorted({number for number in numbers if isinstance(number, int)})


def _find_scaling(members: Members, arms: Sequence[EngineArm], options: CompareOptions) -> Scaling:
    """Return whether each arm's work is divided: its code then reads the number of engines."""
    __tracebackhide__ = True
    codes = {arm.label: [arm.before, arm.setup, arm.code] for arm in arms}
    answers = members.call(on_engine.find_readers, NAME, codes)
    reads = tuple(label for label in codes if any(label in each["read"] for each in answers))
    if members.job and len(reads) < len(arms):
        absent = next(label for label in codes if label not in reads)
        ranks = ",".join(
            shorten_numbers([str(number) for number in sorted(members.engines.numbers)])
        )
        raise OptionError(
            f"{absent}: engines {ranks} are one job: all of them take part in each call. Use the"
            f" name {NAME} in the code, for instance to build a mesh of that many devices."
        )
    kinds: dict[str, Kind] = {
        label: options.scaling or ("strong" if label in reads else "weak") for label in codes
    }
    return Scaling(kinds, members.job, reads)


def _options_per_measurement(options: CompareOptions, points: int) -> TimeOptions:
    """Return how each of the measurements is made: all of them share the budget."""
    seconds = options.budget / points if options.budget else AIMS[options.aim][1] or options.usual
    counted = options.samples is not None
    return TimeOptions(
        number=options.number,
        repeat=options.repeat,
        aim=options.aim,
        budget=None if counted else seconds / _ROUNDS,
        precision=options.precision,
        restore=options.restore,
    )
