"""One arm while it is compared: its first call, its warm-up, and its samples, on its own names."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ipyjaxbench import stats
from ipyjaxbench.comparison import fairness
from ipyjaxbench.comparison.start_state import StartState
from ipyjaxbench.host import Conditions
from ipyjaxbench.timing import (
    ContainerGrowth,
    LaterCalls,
    Measurement,
    Session,
    Snapshot,
    Steady,
    make_first_call,
    make_steady,
    plan_calls,
    put_back,
    review,
    summarize,
)
from ipyjaxbench.usercode import Muted, Snippet

_MISSING = object()
PER_ROUND = 10  # samples of an arm, one in each pass over all arms
_QUEUED_SHARE = 0.3  # of the time, for throughput
#: A framework's threads go on spinning, and stay where they were put, when a call is over: after a
#: sample of NumPy products of PyTorch took twice as long for 60-120 ms (two CPUs). So an arm that
#: follows one of another framework makes calls until they are as fast as without it.
_SETTLE_NS = 120_000_000
_SETTLED_RATIO = 1.05
_SAMPLE_NS, _APART_NS = 1_000_000, 20_000_000
_MIN_CALLS_ALONE = 3  # of slow calls, before they say anything about the comparison
_CALIBRATION_SAMPLES = 5  # that say how long a call takes without others
_SETTLE_PARTS = 4  # a quarter of a sample shows whether the calls are as fast as alone


@dataclass
class ArmSpec:
    """An arm before it is timed: its name, its code, and what runs before each sample."""

    label: str
    snippet: Snippet
    setup: Snippet | None = None

    @property
    def parts(self) -> list[Snippet]:
        """All code of the arm."""
        return [part for part in (self.snippet, self.setup) if part is not None]


class OwnNames:
    """The names that an arm uses, with its own values while it runs and the user's otherwise."""

    def __init__(self, entry: ArmSpec) -> None:
        self._names = entry.snippet.names
        used = dict.fromkeys(name for part in entry.parts for name in (*part.reads, *part.binds))
        self._other = {name: self._names.get(name, _MISSING) for name in used}

    @contextmanager
    def swap_in(self) -> Iterator[None]:
        """Put its own values in place of the user's."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        now = {name: self._names.get(name, _MISSING) for name in self._other}
        for name, value in self._other.items():
            if value is not _MISSING:
                self._names[name] = value
            else:
                self._names.pop(name, None)
        self._other = now


def start_arm(entry: ArmSpec, session: Session, own: OwnNames, muted: Muted) -> "Arm":
    """Make the first call, with names, objects and random state as every arm finds them."""
    __tracebackhide__ = True
    names, frameworks = entry.snippet.names, session.frameworks
    before = Snapshot(names, (), frameworks, later=False)
    start = StartState(session) if session.options.restore else None
    try:
        with own.swap_in():
            first = make_first_call(session, donate_copies=True)
            # What a statement gives is what it binds.
            bound = [names[name] for name in entry.snippet.binds if name in names]
            value = bound if first.call.value is None and bound else first.call.value
            if start is not None and start.inspect_first_call():
                value = fairness.freeze(value, frameworks)  # it may be among what is put back
            return Arm(entry.label, plan_calls(session, first), own, value, muted, start)
    finally:
        before.restore(frameworks)
        if start is not None:
            start.put_back()


class Arm:
    """One arm while it is compared."""

    def __init__(
        self,
        label: str,
        later: LaterCalls,
        own: OwnNames,
        value: object,
        muted: Muted,
        start: StartState | None,
    ) -> None:
        self.label = label  # its name
        self.later = later  # how its calls are made
        self.steady = make_steady(later)  # makes them
        self.alone = 0.0  # nanoseconds of a call on its own; 0 where not known
        self.is_sure_alone = False  # whether that is of enough calls
        self._settles = False  # whether threads of other frameworks have to come to rest first
        self._own, self._value, self._muted, self._start = own, value, muted, start
        self._few = 1

    def choose_state(self, nanoseconds: float) -> None:
        """Try whether calls are to start from the state that the first one found."""
        with self._making_calls() as steady:
            self.later.rewind.choose(steady.calls, nanoseconds)

    def warm_up(self, nanoseconds: float, *, alone: bool) -> None:
        """Make calls until nothing changes; ``alone`` where there is no other framework."""
        with self._making_calls() as steady:
            self._settles = not alone
            if self._settles:
                self._settle(steady)
            steady.warm_up(steady.calls.clock.wall() + int(nanoseconds))
            self.alone = _per_call(steady)
            calls = len(steady.samples.settled_warmup)
            self.is_sure_alone = steady.number > 1 or calls >= _MIN_CALLS_ALONE
            if not (steady.calls.one_by_one or steady.differ):
                wanted = _SAMPLE_NS if alone else _APART_NS
                self.number = max(round(wanted / max(_fastest(steady), 1)), 1)

    @property
    def number(self) -> int:
        """Calls per sample."""
        return self.steady.number

    @number.setter
    def number(self, calls: int) -> None:
        self.steady.number = calls
        self._few = math.ceil(calls / _SETTLE_PARTS)

    def sample(self) -> None:
        """Take one sample."""
        __tracebackhide__ = True
        with self._making_calls() as steady:
            rounds = steady.samples.rounds
            if not rounds or rounds[-1] == PER_ROUND:
                rounds.append(0)
            if self._settles:
                self._settle(steady)
            steady.samples.take(steady.calls, steady.number, ahead=steady.ahead)

    def _settle(self, steady: Steady) -> None:
        """Make calls until they are as fast as they are without other arms, or a while."""
        __tracebackhide__ = True
        wall = steady.calls.clock.wall
        end = wall() + _SETTLE_NS
        while wall() < end:
            if steady.calls.sample(self._few).ns <= _SETTLED_RATIO * self.alone * self._few:
                return

    @property
    def slowed(self) -> float:
        """How many times as long a call takes between those of another framework as alone."""
        if not (self._settles and self.alone and self.steady.samples.taken):
            return 1.0
        return self.steady.samples.per_call / self.alone

    @property
    def outgrows_samples(self) -> bool:
        """Whether a container grows by calls of which many make a sample: more tell nothing."""
        return self.number > 1 and bool(self._growth.growing(self.later.session.calls.made))

    def measure_throughput(self, spent: int) -> None:
        """Measure queued calls, for a share of the time at most."""
        queued = self.steady.queued
        if queued is not None and queued.spent <= _QUEUED_SHARE * spent:
            with self._making_calls():
                queued.measure()

    @contextmanager
    def _making_calls(self) -> Iterator[Steady]:
        writes, warned = self._muted.writes, {*self._muted.warned}
        calls, growth = self.later.session.calls, self._growth
        with self._own.swap_in(), self.steady.counted():
            growth.begin()
            try:
                yield self.steady
            finally:
                growth.end(calls.made - calls.set_up_at)
        own = self.later.session.muted
        own.writes += self._muted.writes - writes
        own.warned |= dict.fromkeys(each for each in self._muted.warned if each not in warned)

    @staticmethod
    def share_growth(arms: "Sequence[Arm]") -> None:
        """Tell each arm, before any is finished, which containers others make longer."""
        grown = [arm._growth.growing(arm.later.session.calls.made) for arm in arms]
        for arm in arms:
            arm._growth.add_others(frozenset().union(*grown))

    @property
    def _growth(self) -> ContainerGrowth:
        return self.later.first.carryover.growth

    def finish(self, conditions: Conditions | None) -> Measurement:
        """Put back what the calls changed, and return what was found."""
        self.steady.conditions = conditions
        self.steady.close()
        with self._own.swap_in():
            self._growth.begin()
            notes = review(self.later, self.steady, put_back(self.later))
        return summarize(self.later, self.steady, notes)

    def leave(self) -> None:
        """Leave what the first call changed as that did, when all arms are finished."""
        if self._start is not None:
            self._start.leave()

    def facts(self, measured: Measurement) -> fairness.ArmFacts:
        """Return what fairness is judged by."""
        scope, outputs = self.later.first.scope, self.later.outputs
        return fairness.ArmFacts(scope, outputs, self._value, measured.notes)


def _fastest(steady: Steady) -> float:
    """Nanoseconds of a call when nothing disturbs it; a busy machine makes others far longer."""
    fastest = float(min(call.waited for call in steady.samples.settled_warmup))
    if fastest > _SAMPLE_NS:
        return fastest
    taken = [steady.calls.sample(steady.number).ns for _ in range(_CALIBRATION_SAMPLES)]
    return min(fastest, min(taken) / steady.number)


def _per_call(steady: Steady) -> float:
    """Nanoseconds of a call after the warm-up; of several at once where they are short."""
    if steady.number == 1:
        return stats.median([call.waited for call in steady.samples.settled_warmup])
    taken = [steady.calls.sample(steady.number).ns for _ in range(_CALIBRATION_SAMPLES)]
    return stats.median(taken) / steady.number
