"""When to call, how often, and when to stop: warm-up, sample size, rounds."""

import itertools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from ipyjaxbench import stats
from ipyjaxbench.timing import call_kinds
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.runner import Calls, TimedCall

_SAMPLE_NS = 1_000_000  # hides a clock of 100 ns
_AHEAD = 5  # calls before each sample, untimed: asking devices whether they are idle cools them
_CHEAP = 0.1  # of a sample at most
_ROUND_SAMPLES = 20
_MIN_ROUNDS = 12
_ENOUGH = 50_000  # samples: more would not narrow the interval, and a record is to be saved
_PART_NS = 20_000_000  # of a sample that is so long that a user may end it
_SPAN = 0.25  # of the budget at least: what a short look sees is one mood of the machine

_TRIES = 3  # of a size of samples: one may be disturbed
_LOOKS = 3  # without a warm-up; `waiting.leaves_work` takes one "yes" of so many
_WARM_CALLS = 50
_WARM_NS = 50_000_000
_WARM_SHARE = 0.2  # of the budget
_CLEAN = 3  # calls in a row without a compilation


@dataclass
class Samples:
    """What was timed so far; it survives an interrupt.

    Attributes:
        batches: (calls, nanoseconds) of each sample.
        spent: nanoseconds of CPU time of each sample.
        compiled: for each sample, whether something was compiled in it.
        rounds: number of samples in each round.
        warmup: the calls of the warm-up.
        warmup_compiled: for each of them, whether it compiled something.
        warmup_spent: nanoseconds of CPU time of each of them.
        known: relative half width of the interval when it was last looked at.
        spins: whether threads that compute may spin while they wait for each other.
    """

    batches: list[tuple[int, int]] = field(default_factory=list)
    spent: list[int] = field(default_factory=list)
    compiled: list[bool] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    warmup: list[TimedCall] = field(default_factory=list)
    warmup_compiled: list[bool] = field(default_factory=list)
    warmup_spent: list[int] = field(default_factory=list)
    known: float = math.inf
    spins: bool = False

    def take(self, calls: Calls, number: int, *, begun: bool = False, ahead: int = 0) -> int:
        """Add one sample, call by call where each has to be prepared; return its nanoseconds."""
        __tracebackhide__ = True
        arranged = -1
        while arranged != calls.arranged:  # what was timed in another way is no part of it
            arranged, spent, parts = calls.arranged, 0, []
            for index in range(number if calls.one_by_one else 1):
                each = 1 if calls.one_by_one else number
                parts.append(calls.sample(each, begun=begun or index > 0, ahead=ahead))
                spent += calls.spent
        taken = sum(ns for ns, _ in parts)
        self.batches.append((number, taken))
        self.spent.append(spent)
        self.compiled.append(any(compiled for _, compiled in parts))
        self.rounds[-1] += 1
        return taken

    @property
    def seconds(self) -> list[float]:
        """Seconds per call of each sample."""
        return _per_call(self.batches)

    @property
    def per_call(self) -> float:
        """Nanoseconds of a call in the middle of the samples."""
        return stats.median([taken / number for number, taken in self.batches])

    def settled_warmup(self) -> list[TimedCall]:
        """The calls of the warm-up but the first, which may find cold caches."""
        return self.warmup[1:] or self.warmup

    @property
    def warmup_median(self) -> float:
        """Nanoseconds of a call in the middle of the warm-up."""
        return stats.median([call.waited for call in self.settled_warmup()])

    def count_what_was_left(self) -> None:
        """From now on calls are waited for to the end of all that they start.

        The calls of the warm-up were looked at so closely that they tell it, too. Samples do not.
        """
        self.warmup = [TimedCall(p.returned, p.waited + p.left, 0) for p in self.warmup]
        self.batches, self.spent, self.compiled = [], [], []
        self.rounds = [0] if self.rounds else []

    def use_warmup_as_samples(self) -> None:
        """Count the calls of the warm-up as samples, where calls are too slow to waste any."""
        looks = zip(self.warmup, self.warmup_compiled, self.warmup_spent, strict=True)
        for call, compiled, spent in looks:
            self.batches.append((1, call.waited))
            self.spent.append(spent)
            self.compiled.append(compiled)
            self.rounds.append(1)

    def use_warmup_as_one_sample(self, calls: Calls, more: int) -> None:
        """Count them, and more calls, as one sample, part by part: an interrupt loses little."""
        __tracebackhide__ = True
        number, taken = len(self.warmup), sum(call.waited for call in self.warmup)
        compiled, end = any(self.warmup_compiled), len(self.warmup) + more
        self._set_only(number, taken, compiled=compiled)
        while number < end:
            part = max(1, int(_PART_NS * number / max(taken, 1))) if number else 1
            spent, anew = calls.sample(min(part, end - number), begun=True)
            number, taken = min(number + part, end), taken + spent
            compiled |= anew
            self._set_only(number, taken, compiled=compiled)

    def _set_only(self, number: int, taken: int, *, compiled: bool) -> None:
        """So many calls, in so many nanoseconds, are the only sample."""
        if number:
            self.batches, self.compiled, self.rounds = [(number, taken)], [compiled], [1]

    def look(self, calls: Calls, *, begun: bool = False) -> None:
        """Make one call, looked at closely, with the work that it left running."""
        __tracebackhide__ = True
        before = calls.compilations()
        self.warmup.append(calls.time_one(begun=begun))
        self.warmup_spent.append(calls.spent)
        self.warmup_compiled.append(calls.compilations() > before)

    def leave_out_compiled(self) -> None:
        """Drop the samples in which something was compiled."""
        self.leave_out({i for i, compiled in enumerate(self.compiled) if compiled})

    def leave_out(self, wrong: Collection[int]) -> None:
        """Drop samples by their indices."""
        kept = [i not in wrong for i in range(len(self.batches))]
        starts = itertools.accumulate(self.rounds, initial=0)
        self.rounds = [sum(kept[a : a + n]) for a, n in zip(starts, self.rounds, strict=False)]
        self.batches = list(itertools.compress(self.batches, kept))
        self.spent = list(itertools.compress(self.spent, kept))
        self.compiled = list(itertools.compress(self.compiled, kept))

    def half_width(self) -> float:
        """Relative half width of the interval of the median, where calls differ of merged ones."""
        batches, rounds = self.batches, self.rounds
        if found := call_kinds.kinds(batches, self.spent, spins=self.spins):
            batches = call_kinds.merged(batches, found)
            rounds = [1] * len(batches)
        self.known = stats.half_width(_per_call(batches), rounds)
        return self.known

    def kinds(self) -> Kinds | None:
        """Whether calls of the warm-up did different work."""
        if any(self.warmup_compiled):
            return None
        looks = [(1, call.waited) for call in self.warmup]
        return call_kinds.kinds(looks, self.warmup_spent, spins=self.spins)

    def merge(self) -> Kinds | None:
        """Where calls do different work, put samples together until each has some of all."""
        found = call_kinds.kinds(self.batches, self.spent, spins=self.spins)
        if found and not any(self.compiled):
            self.batches = call_kinds.merged(self.batches, found)
            self.rounds = [1] * len(self.batches)
            self.compiled, self.spent = [False] * len(self.batches), []
            return found
        return None


def _per_call(batches: Collection[tuple[int, int]]) -> list[float]:
    """Seconds per call."""
    return [taken / number * 1e-9 for number, taken in batches]


def take_samples(
    calls: Calls, samples: Samples, number: int, repeat: int, after: Callable[[int], object]
) -> None:
    """Take ``repeat`` samples of ``number`` calls; ``after`` each, how many are left is told."""
    __tracebackhide__ = True
    wanted = len(samples.batches) + repeat
    while len(samples.batches) < wanted:
        samples.rounds.append(0)
        samples.take(calls, number)
        after(max(wanted - len(samples.batches), 0))


def take_exact_samples(
    calls: Calls,
    samples: Samples,
    number: int,
    repeat: int,
    learn: Callable[[], None],
    after: Callable[[int], object],
) -> None:
    """Make ``number * repeat`` calls, the first of which was made before.

    Args:
        calls: makes them.
        samples: they are added to.
        number: calls per sample.
        repeat: number of samples.
        learn: called when the second call and a few more were looked at closely: there is no
            warm-up.
        after: told after each sample how many are left.
    """
    __tracebackhide__ = True
    one_each = number == 1
    if number * repeat == 1:
        return
    most = repeat - 1 if one_each else number - 1
    looks = min(_LOOKS, most) if calls.hidden.may_wait else 0
    for _ in range(looks):
        samples.look(calls, begun=not one_each)
        if one_each:
            after(repeat - 1 - len(samples.warmup))
    learn()
    if one_each:
        samples.use_warmup_as_samples()
        take_samples(calls, samples, 1, repeat - 1 - looks, after)
        return
    samples.use_warmup_as_one_sample(calls, number - 1 - looks)
    take_samples(calls, samples, number, repeat - 1, after)


def warm_up(calls: Calls, samples: Samples, deadline: int) -> None:
    """Call until nothing compiles and calls get no faster, within a share of the budget."""
    __tracebackhide__ = True
    wall = calls.clock.wall
    start = wall()
    enough = start + max(int((deadline - start) * _WARM_SHARE), 0)
    while len(samples.warmup) < _WARM_CALLS:
        samples.look(calls)
        if wall() > enough or (wall() - start > _WARM_NS and _is_warm(samples)):
            return


def _is_warm(samples: Samples) -> bool:
    times = [call.waited for call in samples.warmup]
    if len(times) < 10 or any(samples.warmup_compiled[-_CLEAN:]):
        return False
    return stats.median(times[-5:]) >= 0.9 * stats.median(times[-10:-5])


def calls_per_sample(calls: Calls, samples: Samples) -> int:
    """As many as the clock needs and no more: large samples catch every disturbance."""
    __tracebackhide__ = True
    # The fastest: after each of these calls devices were asked, which makes the next one slower.
    fastest = min(call.waited for call in samples.warmup[-5:])
    if calls.one_by_one or samples.kinds() or fastest >= _SAMPLE_NS:
        return 1
    number = 1
    while True:
        # The fastest: on a busy machine most of them are disturbed, and one call would do.
        tries = [_taken(calls, number) for _ in range(_TRIES)]
        taken = min((each for each in tries if each > 0), default=0)
        if taken >= _SAMPLE_NS / 2:
            return max(1, round(number * _SAMPLE_NS / taken))
        number = max(2 * number, min(100 * number, int(number * _SAMPLE_NS / (taken + 1))))


def calls_per_mixed_sample(calls: Calls, found: Kinds, deadline: int) -> int:
    """Calls that a sample holds where they do different work, two slow ones at least."""
    if calls.one_by_one:
        return 1
    mean = found.fast + found.share * (found.slow - found.fast)
    most = (deadline - calls.clock.wall()) / (_MIN_ROUNDS * max(mean, 1.0))
    wanted = max(call_kinds.enough(found), int(_SAMPLE_NS / max(mean, 1.0)))
    return max(call_kinds.fewest(found), min(wanted, int(most)))


def _taken(calls: Calls, number: int) -> int:
    __tracebackhide__ = True
    taken, _ = calls.sample(number)
    return max(taken, calls.elapsed)  # a clock of CPU time stands still in a sleep


def untimed_calls(number: int) -> int:
    """Calls to make, untimed, before each sample of so many."""
    return min(_AHEAD, int(_CHEAP * number))


def sample_until_steady(
    calls: Calls,
    samples: Samples,
    number: int,
    deadline: int,
    target: float,
    after_round: Callable[[], object],
) -> None:
    """Take samples in rounds until the median is known well enough, or enough time is spent.

    Args:
        calls: makes them.
        samples: they are added to.
        number: calls per sample.
        deadline: reading of the wall clock at which to stop, with one sample at least.
        target: relative half width of the interval at which to stop.
        after_round: called between rounds.
    """
    __tracebackhide__ = True
    wall = calls.clock.wall
    budget = max(deadline - wall(), 0)
    round_ns, enough = budget // 20, deadline - int((1 - _SPAN) * budget)
    check, ahead = _MIN_ROUNDS, untimed_calls(number)
    while (wall() < deadline and len(samples.batches) < _ENOUGH) or not samples.batches:
        samples.rounds.append(0)
        end = min(wall() + round_ns, deadline)
        while samples.rounds[-1] < _ROUND_SAMPLES:
            samples.take(calls, number, ahead=ahead)
            if wall() >= end:
                break
        if len(samples.rounds) >= check and wall() >= enough:
            if samples.half_width() <= target:
                return
            check = int(check * 1.2) + 1  # the interval takes longer the more samples there are
        if wall() < deadline:
            # No pause: for many milliseconds after one, the same code runs at another speed.
            after_round()
