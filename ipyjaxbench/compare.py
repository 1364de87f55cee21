"""Compares snippets side by side: each is warmed up, then all are sampled in turns."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ipyjaxbench import fairness, notes, ratios, stats, user_errors
from ipyjaxbench.calls import First
from ipyjaxbench.clock import Clock
from ipyjaxbench.comparison import Comparison, Side
from ipyjaxbench.frameworks import Framework, loaded, usable_cpus
from ipyjaxbench.machine import Conditions, Meter
from ipyjaxbench.muted import Muted
from ipyjaxbench.notes import Note
from ipyjaxbench.options import CompareOptions, TimeOptions
from ipyjaxbench.snippet import Namespace, Snippet
from ipyjaxbench.state import Snapshot
from ipyjaxbench.steady import Steady, gc_paused
from ipyjaxbench.timer import Timing, nobody

_MISSING = object()
_PER_ROUND = 10  # blocks
_SPAN = 0.25  # of the budget at least
_QUEUED_SHARE = 0.3  # of the time, for throughput
#: Frameworks keep threads of their own, which go on spinning when a call is over: for some 5 ms
#: after a turn of another one, code ran up to 2.5 times slower (two CPUs, four frameworks).
_TURN_NS = 20_000_000
_WARM_SHARE = 0.2  # of an arm's share of the budget
#: Slow arms get so many seconds in all for the fewest pairs that allow an answer.
_PATIENCE_NS = 60_000_000_000
_SEED = 20260101

#: Hears what is going on: relative half width of the widest ratio, nanoseconds left.
Told = Callable[[float, int], object]


@dataclass
class Entry:
    """An arm before it is timed: its name, its code, and what runs before each sample."""

    label: str
    snippet: Snippet
    setup: Snippet | None = None


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


class _Arm:
    """One arm while it is compared.

    Attributes:
        label: its name.
        failed: the error that ended it; empty where none did.
        value: of its first call.
        steady: makes its further calls; None where the first one failed.
    """

    def __init__(self, entry: Entry, options: TimeOptions, muted: Muted) -> None:
        self.label = entry.label
        self.failed = ""
        self._ahead = 0
        self.value: Any = None
        self.steady: Steady | None = None
        self._binds = entry.snippet.binds
        self._muted, self._mine = muted, Muted()
        self.timing = Timing(entry.snippet, entry.setup, options, Clock.elapsed(), self._mine)
        parts = [part for part in (entry.snippet, entry.setup) if part is not None]
        used = dict.fromkeys(name for part in parts for name in (*part.reads, *part.binds))
        self._own = _OwnNames(entry.snippet.names, list(used))

    def first_call(self, frameworks: Sequence[Framework], names: Namespace) -> None:
        """Make the first call, with the user's names and random state as every arm finds them."""
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
            self.failed = user_errors.one_line(error)
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

    def warm_up(self, nanoseconds: float, *, alone: bool) -> None:
        """Until nothing changes any more; ``alone`` where no other framework has turns."""
        with self._making_calls() as steady:
            steady.warm_up(steady.calls.clock.wall() + int(nanoseconds))
            if not alone and not steady.calls.one_by_one:
                each = stats.median([probe.waited for probe in steady.samples.settled_probes()])
                steady.number = max(steady.number, math.ceil(_TURN_NS / max(each, 1)))
                self._ahead = steady.number

    def sample(self) -> None:
        """Take one sample."""
        with self._making_calls() as steady:
            rounds = steady.samples.rounds
            if not rounds or rounds[-1] == _PER_ROUND:
                rounds.append(0)
            ahead = self._ahead or steady.ahead
            steady.samples.take(steady.calls, steady.number, ahead=ahead)

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
        copies = [note for note in self.timing.said() if note.code == "copies"]
        return fairness.Seen(self.timing.scene, self.timing.outputs, self.value, copies)

    def side(self, conditions: Conditions | None) -> Side:
        """What was found."""
        if self.steady is None:
            return Side(self.label, None, self.failed)
        self.steady.conditions = conditions
        self.steady.close()
        with self.here():
            self.timing.put_back()
            self.timing.look_back()
        return Side(self.label, self.timing.measurement(0.0), self.failed)


def compare_snippets(
    entries: Sequence[Entry],
    options: CompareOptions,
    *,
    muted: Muted | None = None,
    told: Told = nobody,
) -> Comparison:
    """Compare snippets in their namespace, which is afterwards as it was.

    Args:
        entries: the arms, two at least, in one namespace.
        options: the baseline and how long.
        muted: keeps what later calls print from being shown.
        told: hears after each block how far it is.

    Returns:
        The comparison; an arm that fails is a side of it with its error.
    """
    __tracebackhide__ = True
    clock, muted = Clock.elapsed(), muted or Muted()
    names, baseline = entries[0].snippet.names, options.baseline or entries[0].label
    before = dict(names)
    randomness = Snapshot(names, (), loaded()[0], later=False)
    said: list[Note] = []
    conditions = None
    with ExitStack() as watching:
        if options.align:
            for framework in loaded()[0]:
                watching.enter_context(framework.aligned(usable_cpus()))
        each = TimeOptions(precision=options.precision)
        arms = [_Arm(entry, each, muted) for entry in entries]
        frameworks, _ = loaded()
        begun = clock.wall()
        try:
            for arm in arms:
                watching.enter_context(arm.timing.watching)
                arm.first_call(frameworks, names)
            begun = clock.wall()
            with muted, gc_paused():
                meter = Meter(clock)
                try:
                    deadline = begun + int(options.seconds_for(len(arms)) * 1e9)
                    _in_turns(arms, _Pace(clock, begun, deadline, options.target, told), baseline)
                finally:
                    conditions = meter.read()
        except KeyboardInterrupt:
            said.append(notes.interrupted())
        finally:
            elapsed = (clock.wall() - begun) * 1e-9
            said += _leave_out_compiled(arms)
            sides = tuple(arm.side(conditions) for arm in arms)
            _put_back(names, before)
            randomness.restore(frameworks)
        checked = fairness.checked({arm.label: arm.seen() for arm in arms if arm.steady})
    said += checked.notes
    return Comparison(sides, baseline, elapsed=elapsed, equal=checked.equal, notes=tuple(said))


def _put_back(names: Namespace, before: Namespace) -> None:
    for name in [name for name in names if name not in before]:
        del names[name]
    names.update({n: value for n, value in before.items() if names.get(n) is not value})


def _in_turns(arms: Sequence[_Arm], pace: "_Pace", baseline: str) -> None:
    """Warm up each arm, then take blocks: one sample of each, in random order."""
    alone = len({name for arm in arms for name in arm.frameworks}) < 2
    for arm in arms:
        if arm.going:
            arm.warm_up(_WARM_SHARE * pace.budget / len(arms), alone=alone)
    pace.begin()
    rng = random.Random(_SEED)
    while len(going := [arm for arm in arms if arm.going]) > 1:
        for arm in rng.sample(going, len(going)):
            arm.sample()
        # What is known is known of ratios to the baseline, so it is asked for first.
        if pace.enough(sorted(going, key=lambda arm: arm.label != baseline)):
            return
        if pace.blocks % _PER_ROUND == 0:
            for arm in going:
                arm.look(pace.spent())


class _Pace:
    """Says when enough blocks were taken.

    Attributes:
        blocks: how many there are.
        budget: nanoseconds in all.
    """

    def __init__(self, clock: Clock, begun: int, deadline: int, target: float, told: Told) -> None:
        self.blocks = 0
        self.budget = deadline - begun
        self._wall, self._told = clock.wall, told
        self._begun, self._deadline, self._target = begun, deadline, target
        self._early = begun + _SPAN * self.budget
        self._check = ratios.FEWEST
        self._known = math.inf
        self._first = begun

    def begin(self) -> None:
        """The first block begins."""
        self._first = self._wall()

    def spent(self) -> int:
        """Nanoseconds since the first calls."""
        return self._wall() - self._begun

    def enough(self, arms: Sequence[_Arm]) -> bool:
        """Count a block; True where the ratios are known, or time is up."""
        self.blocks += 1
        now = self._wall()
        self._told(self._known, max(self._deadline - now, 0))
        if self.blocks < ratios.FEWEST:
            needed = (now - self._first) / self.blocks * ratios.FEWEST
            return now > self._deadline and needed > _PATIENCE_NS
        if self.blocks >= self._check and now > self._early:
            self._known = _widest(arms)
            self._check = int(1.2 * self._check) + 1
        return now > self._deadline or self._known <= self._target


def _widest(arms: Sequence[_Arm]) -> float:
    """Relative half width of the widest ratio so far; quickly, so that it can be asked often."""
    base, *others = (arm.steady.samples for arm in arms if arm.steady is not None)
    widths = []
    for other in others:
        logs = ratios.log_ratios(base.seconds, other.seconds)
        widths.append(stats.half_width([math.exp(x) for x in logs], [1] * len(logs)))
    return max(widths)


def _leave_out_compiled(arms: Sequence[_Arm]) -> list[Note]:
    """Drop the blocks in which an arm compiled something that does not do so all the time."""
    lists = [arm.steady.samples for arm in arms if arm.steady is not None]
    rare = [s for s in lists if 0 < 2 * sum(s.compiled) <= len(s.compiled)]
    wrong = {i for samples in rare for i, compiled in enumerate(samples.compiled) if compiled}
    for samples in lists:
        samples.leave_out(wrong)
    return [notes.compiled_late(len(wrong))] if wrong else []
