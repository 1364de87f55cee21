"""What was timed so far: the calls of the warm-up, and samples in rounds."""

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from ipyjaxbench import stats
from ipyjaxbench.timing.call_kinds import Kinds, find_kinds, join_samples, merge_neighbours
from ipyjaxbench.timing.call_times import Sample, TimedCall
from ipyjaxbench.timing.runner import Calls

_CREDITED_NS = 20_000_000  # of the thread that calls: by then others have been credited, too
_OTHERS_SHARE = 0.04  # of its CPU time: other threads that spend more compute with it
_PART_OF_SAMPLE_NS = 20_000_000  # of a sample that is so long that a user may end it


@dataclass
class Samples:
    """What was timed so far; it survives an interrupt."""

    taken: list[Sample] = field(default_factory=list)  # the samples
    rounds: list[int] = field(default_factory=list)  # number of samples in each round
    warmup: list[TimedCall] = field(default_factory=list)  # the calls of the warm-up
    counts_warmup: bool = False  # whether these are samples, too
    known: float = math.inf  # relative half width of the interval when it was last looked at
    spins: bool = False  # whether threads that compute may spin while they wait for each other
    # seconds so far for which threads of this process waited for a CPU; None where not known
    waited: Callable[[], float | None] = lambda: None
    own: int = 0  # nanoseconds of CPU time around all of them, of the thread that calls
    spent: int = 0  # the same, over all threads

    @property
    def cpu_time_tells(self) -> bool:
        """Whether calls that do more are those that spend more CPU time, as far as known.

        Where one of several threads loses its CPU, the others spin until it is back: the same work
        then takes any CPU time. What others spend is asked for over all calls, for Linux credits it
        to the process in lumps of milliseconds, so that most single calls seem to be on one CPU.
        """
        return self._is_alone or not self.spins

    @property
    def _is_alone(self) -> bool:
        """Whether no thread but the one that calls computes."""
        return self.own >= _CREDITED_NS and self.spent - self.own <= _OTHERS_SHARE * self.own

    @property
    def batches(self) -> list[tuple[int, int]]:
        """(calls, nanoseconds) of each sample."""
        return [(sample.calls, sample.ns) for sample in self.taken]

    @property
    def compiled(self) -> list[bool]:
        """For each sample, whether something was compiled in it."""
        return [sample.compiled for sample in self.taken]

    @property
    def seconds(self) -> list[float]:
        """Seconds per call of each sample."""
        return _seconds(self.taken)

    @property
    def per_call(self) -> float:
        """Nanoseconds of a call in the middle of the samples."""
        return stats.median([sample.ns / sample.calls for sample in self.taken])

    @property
    def settled_warmup(self) -> list[TimedCall]:
        """The calls of the warm-up but the first, which may find cold caches."""
        return self.warmup[1:] or self.warmup

    def take(self, calls: Calls, number: int, *, ahead: int = 0) -> None:
        """Add one sample, call by call where each has to be prepared."""
        __tracebackhide__ = True
        clock, arranged = calls.clock, -1
        own, spent = clock.own(), clock.spent()
        parts: list[Sample] = []
        while arranged != calls.arranged:  # what was timed in another way is no part of it
            arranged, parts = calls.arranged, []
            for index in range(number if calls.one_by_one else 1):
                each = 1 if calls.one_by_one else number
                parts.append(calls.sample(each, begun=index > 0, ahead=ahead))
        self._count(clock.own() - own, clock.spent() - spent)
        self.taken.append(join_samples(parts))
        self.rounds[-1] += 1

    def take_together(self, calls: Calls, number: int, samples: int, *, ahead: int = 0) -> None:
        """Add several samples of calls that need no preparing, one right after another."""
        __tracebackhide__ = True
        own, spent, arranged = calls.clock.own(), calls.clock.spent(), calls.arranged
        taken = calls.sample_together(number, samples, ahead)
        self._count(calls.clock.own() - own, calls.clock.spent() - spent)
        if calls.arranged == arranged:  # what was timed in another way does not compare
            self.taken += taken
            self.rounds[-1] += samples

    def warm_up(self, calls: Calls, *, begun: bool = False) -> None:
        """Make one call, looked at closely, with the work that it left running."""
        __tracebackhide__ = True
        own, spent = calls.clock.own(), calls.clock.spent()
        self.warmup.append(calls.time_one(begun=begun))
        self._count(calls.clock.own() - own, calls.clock.spent() - spent)

    def count_what_was_left(self) -> None:
        """Forget all samples: from now on calls are waited for to the end of all that they start.

        The calls of the warm-up were looked at so closely that they tell it, too. Samples do not.
        """
        typical = int(stats.median([call.left for call in self.warmup if call.left] or [0]))
        self.warmup = [
            call._replace(
                waited=call.waited + (typical if call.left is None else call.left), left=0
            )
            for call in self.warmup
        ]
        self.taken, self.rounds = [], [0] if self.rounds else []
        self.counts_warmup = False

    def use_warmup_as_samples(self) -> None:
        """Count the calls of the warm-up as samples, where calls are too slow to waste any."""
        self.taken += map(_as_sample, self.warmup)
        self.rounds += [1] * len(self.warmup)
        self.counts_warmup = True

    def use_warmup_as_one_sample(self, calls: Calls, more: int) -> None:
        """Count them, and more calls, as one sample, part by part: an interrupt loses little."""
        __tracebackhide__ = True
        whole, end = join_samples([*map(_as_sample, self.warmup)]), len(self.warmup) + more
        self.counts_warmup = True
        while True:
            if whole.calls:
                self.taken, self.rounds = [whole], [1]
            if whole.calls >= end:
                return
            part = int(_PART_OF_SAMPLE_NS * whole.calls / max(whole.ns, 1))
            part = min(max(1, part), end - whole.calls)
            whole = join_samples([whole, calls.sample(part, begun=True)])

    def leave_out(self, wrong: Collection[int]) -> None:
        """Drop samples by their indices."""
        right = [i not in wrong for i in range(len(self.taken))]
        starts = itertools.accumulate(self.rounds, initial=0)
        self.rounds = [sum(right[a : a + n]) for a, n in zip(starts, self.rounds, strict=False)]
        self.taken = list(itertools.compress(self.taken, right))

    def half_width(self) -> float:
        """Return the relative half width of the median's interval; merge calls that differ."""
        taken, rounds = self.taken, self.rounds
        if kinds := self._find_kinds(taken):
            taken = merge_neighbours(taken, kinds)
            rounds = [1] * len(taken)
        self.known = stats.half_width(_seconds(taken), rounds)
        return self.known

    def kinds_in_warmup(self) -> Kinds | None:
        """Return the kinds of calls in the warm-up; None where something compiled."""
        if any(call.compiled for call in self.warmup):
            return None
        return self._find_kinds([*map(_as_sample, self.warmup)])

    def merge(self) -> Kinds | None:
        """Where calls do different work, put samples together until each has some of all."""
        kinds = self._find_kinds(self.taken)
        if kinds is None or any(self.compiled):
            return None
        self.taken = merge_neighbours(self.taken, kinds)
        self.rounds = [1] * len(self.taken)
        return kinds

    def _find_kinds(self, samples: Sequence[Sample]) -> Kinds | None:
        kinds = find_kinds(samples) if self.cpu_time_tells else None
        only_waited = kinds and not self._is_alone and self._only_waited(samples, kinds)
        return None if only_waited else kinds

    def _only_waited(self, samples: Sequence[Sample], kinds: Kinds) -> bool:
        """Whether threads waited for a CPU for as long as all calls took longer than fast ones.

        A thread that others wait for does the same work then, and they may spin, as those of LAPACK
        do. One that does more waits less than its calls take longer.
        """
        longer = math.fsum(max(each.ns - kinds.fast * each.calls, 0) for each in samples)
        waited = self.waited()
        return waited is not None and waited * 1e9 >= longer

    def _count(self, own: int, spent: int) -> None:
        self.own += own
        self.spent += spent


def _seconds(samples: Sequence[Sample]) -> list[float]:
    """Return the seconds per call of each sample."""
    return [sample.ns / sample.calls * 1e-9 for sample in samples]


def _as_sample(call: TimedCall) -> Sample:
    return Sample(1, call.waited, call.spent, compiled=call.compiled)
