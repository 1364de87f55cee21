"""When to call, how often, and when to stop: warm-up, sample size, rounds."""

from collections.abc import Callable

from ipyjaxbench import stats
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples

_MIN_SAMPLE_NS = 1_000_000  # hides a clock of 100 ns
_MAX_UNTIMED_CALLS = 5  # before each sample: asking devices whether they are idle cools them
_MAX_UNTIMED_SHARE = 0.1  # of a sample at most
_ROUND_SAMPLES = 20
_MIN_ROUNDS = 12
_MAX_SAMPLES = 50_000  # samples: more would not narrow the interval, and a record is to be saved
_MIN_BUDGET_SHARE = 0.25  # of the budget: what a short run sees is one mood of the machine
_STEP_NS = 100_000_000  # of samples between two meetings of a job: Ctrl-C waits for the next one
_UNTIMED_NS = 2_000_000  # after a meeting, in which code runs slower, as after any pause
_TRIES_PER_SIZE = 3  # of a size of samples: one may be disturbed
_MAX_WARM_CALLS = 50
_MIN_WARM_NS = 50_000_000
_MAX_WARM_SHARE = 0.2  # of the budget
_CLEAN_CALLS = 3  # calls in a row without a compilation


def take_samples(
    calls: Calls, samples: Samples, number: int, repeat: int, after: Callable[[int], object]
) -> None:
    """Take ``repeat`` samples of ``number`` calls; call ``after`` with how many are left."""
    __tracebackhide__ = True
    wanted = len(samples.taken) + repeat
    while (left := wanted - len(samples.taken)) > 0:
        samples.rounds.append(0)
        if calls.together:
            several = _samples_per_step(samples, number, _STEP_NS)
            samples.take_together(calls, number, min(several, left))
        else:
            samples.take(calls, number)
        after(wanted - len(samples.taken))


def take_exact_samples(
    calls: Calls,
    samples: Samples,
    number: int,
    repeat: int,
    learn: Callable[[], None],
    after: Callable[[int], object],
) -> None:
    """Make ``number * repeat`` calls, the first of which was made before, without a warm-up.

    ``learn`` is called when a few were looked at closely; ``after`` each sample, with those left.
    """
    __tracebackhide__ = True
    one_each = number == 1
    most = repeat - 1 if one_each else number - 1
    watched = min(calls.hidden.looks, most)
    for _ in range(watched):
        samples.warm_up(calls, begun=not one_each)
        if one_each:
            after(repeat - 1 - len(samples.warmup))
    learn()
    if one_each:
        samples.use_warmup_as_samples()
        take_samples(calls, samples, 1, repeat - 1 - watched, after)
        return
    samples.use_warmup_as_one_sample(calls, number - 1 - watched)
    take_samples(calls, samples, number, repeat - 1, after)


def warm_up(calls: Calls, samples: Samples, deadline: int) -> None:
    """Call until nothing compiles and calls get no faster, within a share of the budget."""
    __tracebackhide__ = True
    wall = calls.clock.wall
    start = wall()
    enough = start + int((deadline - start) * _MAX_WARM_SHARE)
    while len(samples.warmup) < _MAX_WARM_CALLS:
        samples.warm_up(calls)
        if wall() > enough or (wall() - start > _MIN_WARM_NS and _is_warm(samples)):
            return


def _is_warm(samples: Samples) -> bool:
    times = [call.waited for call in samples.warmup]
    if len(times) < 10 or any(call.compiled for call in samples.warmup[-_CLEAN_CALLS:]):
        return False
    return stats.median(times[-5:]) >= 0.9 * stats.median(times[-10:-5])


def calls_per_sample(calls: Calls, samples: Samples) -> int:
    """Return as many as the clock needs and no more: large samples catch every disturbance."""
    __tracebackhide__ = True
    # The fastest: after each of these calls devices were asked, which makes the next one slower.
    fastest = min(call.waited for call in samples.warmup[-5:])
    if calls.one_by_one or samples.kinds_in_warmup() or fastest >= _MIN_SAMPLE_NS:
        return 1
    number = 1
    while True:
        # The fastest: on a busy machine most of them are disturbed, and one call would do.
        taken = _fastest_of_tries(calls, number)
        if taken >= _MIN_SAMPLE_NS / 2:
            return max(1, round(number * _MIN_SAMPLE_NS / taken))
        number = min(100 * number, int(number * _MIN_SAMPLE_NS / (taken + 1)))


def calls_per_mixed_sample(calls: Calls, kinds: Kinds, deadline: int) -> int:
    """Return how many calls a sample holds where they differ: two slow ones at least."""
    if calls.one_by_one:
        return 1
    mean = kinds.fast + kinds.share * (kinds.slow - kinds.fast)
    most = (deadline - calls.clock.wall()) / (_MIN_ROUNDS * max(mean, 1.0))
    wanted = max(kinds.samples_with_both, int(_MIN_SAMPLE_NS / max(mean, 1.0)))
    return max(kinds.samples_with_slow, min(wanted, int(most)))


def _fastest_of_tries(calls: Calls, number: int) -> int:
    """Return the nanoseconds of the fastest of a few samples; zero where no clock moved."""
    __tracebackhide__ = True
    tries = []
    # A loop, for `map` would end at a StopIteration of the user's code as if it were its own,
    # and a comprehension has a frame that tracebacks would show.
    for _ in range(_TRIES_PER_SIZE):
        ns = calls.sample(number, purpose="try").ns
        tries.append(max(ns, calls.elapsed))  # a clock of CPU time stands still in a sleep
    return min(filter(None, tries), default=0)


def untimed_calls(number: int) -> int:
    """Return how many calls to make, untimed, before each sample of ``number``."""
    return min(_MAX_UNTIMED_CALLS, int(_MAX_UNTIMED_SHARE * number))


def sample_until_steady(
    calls: Calls,
    samples: Samples,
    number: int,
    deadline: int,
    target: float,
    after_round: Callable[[], object],
) -> None:
    """Take samples of ``number`` calls, one at least, until the median is known or time is up.

    It is known where the relative half width of its interval is at most ``target``.
    """
    __tracebackhide__ = True
    wall = calls.clock.wall
    budget = deadline - wall()
    round_ns, enough = budget // 20, deadline - int((1 - _MIN_BUDGET_SHARE) * budget)
    check = _MIN_ROUNDS
    while (wall() < deadline and len(samples.taken) < _MAX_SAMPLES) or not samples.taken:
        samples.rounds.append(0)
        _take_round(calls, samples, number, min(wall() + round_ns, deadline))
        if len(samples.rounds) >= check and wall() >= enough:
            if samples.half_width() <= target:
                return
            check = int(check * 1.2) + 1  # the interval takes longer the more samples there are
        if wall() < deadline:
            # No pause: for many milliseconds after one, the same code runs at another speed.
            after_round()


def _take_round(calls: Calls, samples: Samples, number: int, end: int) -> None:
    """Take samples in a row until a moment; the ranks of a job decide before how many."""
    __tracebackhide__ = True
    if calls.together:
        several = _samples_per_step(samples, number, min(end - calls.clock.wall(), _STEP_NS))
        ahead = min(_UNTIMED_NS / _typical_call(samples), _MAX_UNTIMED_SHARE * number * several)
        samples.take_together(calls, number, several, ahead=int(ahead))
        return
    while samples.rounds[-1] < _ROUND_SAMPLES:
        samples.take(calls, number, ahead=untimed_calls(number))
        if calls.clock.wall() >= end:
            return


def _samples_per_step(samples: Samples, number: int, ns: int) -> int:
    """Return how many samples a job takes between two meetings: after one, code runs slower."""
    return max(1, min(int(ns / (number * _typical_call(samples))), _ROUND_SAMPLES))


def _typical_call(samples: Samples) -> float:
    """Nanoseconds, as far as known; so many that one sample is taken where nothing is."""
    if not (samples.taken or samples.warmup):
        return _STEP_NS
    known = samples.per_call if samples.taken else stats.median([c.waited for c in samples.warmup])
    return max(known, 1.0)
