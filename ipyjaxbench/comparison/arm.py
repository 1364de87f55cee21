"""One arm while it is compared: its first call, its warm-up, and its samples, on its own names."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ipyjaxbench import stats
from ipyjaxbench.comparison import fairness
from ipyjaxbench.comparison.comparison import Side
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.timing.isolation import Snapshot
from ipyjaxbench.timing.measure import Timing
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.runner import First
from ipyjaxbench.timing.steady_state import Steady
from ipyjaxbench.usercode import exceptions
from ipyjaxbench.usercode.output import Muted
from ipyjaxbench.usercode.snippet import Namespace, Snippet

_MISSING = object()
PER_ROUND = 10  # samples
_QUEUED_SHARE = 0.3  # of the time, for throughput
#: A framework's threads go on spinning, and stay where they were put, when a call is over: after a
#: turn of NumPy products of PyTorch took twice as long for 60-120 ms (two CPUs). So an arm that
#: follows one of another framework makes calls until they are as fast as without it.
_SETTLE_NS = 120_000_000
_SETTLED = 1.05
_SAMPLE_NS, _TURN_NS = 1_000_000, 20_000_000
_SAMPLES = 5  # that say how long a call takes without others
_PARTS = 4  # of a turn's calls, one of which shows whether they are as fast


@dataclass
class Entry:
    """An arm before it is timed: its name, its code, and what runs before each sample."""

    label: str
    snippet: Snippet
    setup: Snippet | None = None

    @property
    def parts(self) -> list[Snippet]:
        """All code of the arm."""
        return [part for part in (self.snippet, self.setup) if part is not None]


class _OwnNames:
    """The names that an arm binds, with its own values while it runs and the user's otherwise."""

    def __init__(self, names: Namespace, bound: Sequence[str]) -> None:
        self._names = names
        self._other = {name: names.get(name, _MISSING) for name in bound}

    def swap(self) -> None:
        """Take the other values."""
        now = {name: self._names.get(name, _MISSING) for name in self._other}
        for name, value in self._other.items():
            if value is not _MISSING:
                self._names[name] = value
            else:
                self._names.pop(name, None)
        self._other = now


class Contender:
    """One arm while it is compared.

    Attributes:
        label: its name.
        failed: the error that ended its first call; None where none did.
        value: of its first call.
        steady: makes its further calls; None where the first one failed.
        alone: nanoseconds of a call before there were turns of other frameworks; 0 where all
            arms are of one.
    """

    def __init__(self, entry: Entry, options: TimeOptions, muted: Muted, clock: Clock) -> None:
        self.label = entry.label
        self.failed: Exception | None = None
        self.alone = 0.0
        self._few = 1
        self.value: Any = None
        self.steady: Steady | None = None
        self._binds = entry.snippet.binds
        self._muted, self._mine = muted, Muted()
        self.timing = Timing(entry.snippet, entry.setup, options, clock, self._mine)
        used = dict.fromkeys(name for part in entry.parts for name in (*part.reads, *part.binds))
        self._own = _OwnNames(entry.snippet.names, list(used))

    def first_call(self, frameworks: Sequence[Framework], names: Namespace) -> None:
        """Make the first call, with the user's names and random state as every arm finds them."""
        __tracebackhide__ = True
        before = Snapshot(names, (), frameworks, later=False)
        try:
            with self.here():
                first: First = self.timing.first_call(spare=True)
                # What a statement gives is what it binds.
                bound = [names[name] for name in self._binds if name in names]
                self.value = bound if first.value is None and bound else first.value
                self.timing.learn(first)
                self.steady = self.timing.steady()
        except Exception as error:  # noqa: BLE001  the others go on
            self.failed = error
        finally:
            before.restore(frameworks)

    @contextmanager
    def here(self) -> Iterator[None]:
        """Its own names in place of the user's."""
        self._own.swap()
        try:
            yield
        finally:
            self._own.swap()

    @property
    def frameworks(self) -> list[str]:
        """Names of those that compute something in it."""
        return [] if self.steady is None else self.timing.frameworks()

    @property
    def going(self) -> bool:
        """Whether more samples can be taken of it."""
        return self.steady is not None and not self.steady.ended_early

    def choose_state(self, nanoseconds: float) -> None:
        """Try whether calls are to start from the state that the first one found."""
        with self._making_calls() as steady:
            self.timing.rewind.choose(steady.calls, nanoseconds)

    def warm_up(self, nanoseconds: float, *, alone: bool) -> None:
        """Until nothing changes any more; ``alone`` where no other framework has turns."""
        with self._making_calls() as steady:
            if not alone:
                self._settle(steady)
            steady.warm_up(steady.calls.clock.wall() + int(nanoseconds))
            if not alone:
                self.alone = _per_call(steady)
            if not (steady.calls.one_by_one or steady.differ):
                wanted = _SAMPLE_NS if alone else _TURN_NS
                self.number = max(round(wanted / max(_fastest(steady), 1)), 1)

    @property
    def number(self) -> int:
        """Calls per sample."""
        return 1 if self.steady is None else self.steady.number

    @number.setter
    def number(self, calls: int) -> None:
        assert self.steady is not None
        self.steady.number = calls
        self._few = math.ceil(calls / _PARTS)

    def sample(self) -> None:
        """Take one sample."""
        with self._making_calls() as steady:
            rounds = steady.samples.rounds
            if not rounds or rounds[-1] == PER_ROUND:
                rounds.append(0)
            if self.alone:
                self._settle(steady)
            steady.samples.take(steady.calls, steady.number, ahead=steady.ahead)

    def _settle(self, steady: Steady) -> None:
        """Make calls until they are as fast as they are without other arms, or a while."""
        wall = steady.calls.clock.wall
        end = wall() + _SETTLE_NS
        while wall() < end:
            taken, _ = steady.calls.sample(self._few)
            if taken <= _SETTLED * self.alone * self._few:
                return

    @property
    def slowed(self) -> float:
        """How many times as long a call takes in turns with others as without them."""
        if not self.alone or self.steady is None or not self.steady.samples.batches:
            return 1.0
        return self.steady.samples.per_call / self.alone

    def look(self, spent: int) -> None:
        """Look at queued calls, for a share of the time at most."""
        queued = self.steady.queued if self.steady is not None else None
        if queued is not None and queued.spent <= _QUEUED_SHARE * spent:
            with self._making_calls():
                queued.look()

    @contextmanager
    def _making_calls(self) -> Iterator[Steady]:
        assert self.steady is not None
        writes = self._muted.writes
        with self.here(), self.steady.counted():
            yield self.steady
        self._mine.writes += self._muted.writes - writes

    def seen(self) -> fairness.Seen:
        """What fairness is judged by."""
        timing = self.timing
        return fairness.Seen(timing.scene, timing.outputs, self.value, timing.said())

    def side(self, conditions: Conditions | None) -> Side:
        """What was found."""
        failed = "" if self.failed is None else exceptions.one_line(self.failed)
        if self.steady is None:
            return Side(self.label, None, failed)
        self.steady.conditions = conditions
        self.steady.close()
        with self.here():
            self.timing.put_back()
            self.timing.look_back()
        return Side(self.label, self.timing.measurement(0.0), failed)


def _fastest(steady: Steady) -> float:
    """Nanoseconds of a call when nothing disturbs it; a busy machine makes others far longer."""
    fastest = float(min(probe.waited for probe in steady.samples.settled_probes()))
    if fastest > _SAMPLE_NS:
        return fastest
    taken = [steady.calls.sample(steady.number)[0] for _ in range(_SAMPLES)]
    return min(fastest, min(taken) / steady.number)


def _per_call(steady: Steady) -> float:
    """Nanoseconds of a call after the warm-up; of several at once where they are short."""
    if steady.number == 1:
        return steady.samples.probed
    taken = [steady.calls.sample(steady.number)[0] for _ in range(_SAMPLES)]
    return stats.median(taken) / steady.number
