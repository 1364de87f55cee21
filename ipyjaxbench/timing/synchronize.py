"""Waits for asynchronous work: all that was started before, and what one call starts or leaves."""

from collections.abc import Callable, Sequence
from typing import Any

from ipyjaxbench import stats
from ipyjaxbench.frameworks import Framework, Wait, find_arrays
from ipyjaxbench.host import Clock

#: Work that its value does not show matters from this share of a call on.
_MIN_LEFT_SHARE = 0.05
#: Below that, a drain after a call that left the caches cold looks like work.
_COLD_CACHE_NS = 15_000
_IDLE_READINGS = 11
_LONGER_NS = 20_000_000  # that work of another call may take longer, at most
_DIFFERENT = 2  # times longer than what was suspected: asking alone does not vary so
_FEW_QUESTIONS = 3  # questions: of more, one "yes" is not enough


class Drain:
    """Waits until nothing is running on any device that is in use, and tells what was."""

    def __init__(self, frameworks: Sequence[Framework], clock: Clock) -> None:
        self._frameworks = [*frameworks]
        self._clock = clock
        # the frameworks of which work was found when `wait_for_rest` asked
        self.found_running: dict[Framework, None] = {}
        self.is_certain: bool  # whether all that run ahead of Python tell it without a clock
        self._suspected = 0  # nanoseconds of work that only a clock showed, to be confirmed
        self._idle_answers: list[int] = []  # nanoseconds of asking when that work had to be over
        for framework in frameworks:
            framework.prepare()
        self.idle = 0  # nanoseconds that asking takes when there is nothing to wait for
        self.waited = self.wait_for_rest()  # nanoseconds that work from before took to end
        self.found_running.clear()
        # Not the median: on a busy machine it would hide work that is really there.
        self.idle = int(stats.quantile([self() for _ in range(_IDLE_READINGS)], 0.25))

    def __call__(self) -> int:
        """Wait; return how long it took, in nanoseconds."""
        start = self._clock.wall()  # a clock of CPU time would read what asking costs the CPU
        for framework in self._frameworks:
            framework.wait_for_devices()
        return self._clock.wall() - start

    @property
    def may_wait(self) -> bool:
        """Whether there can be anything to wait for."""
        return any(framework.runs_ahead() for framework in self._frameworks)

    def ask_after_call(self) -> int | None:
        """Wait as `wait_for_rest` does, after calls alike; None where this call is a control.

        After a call, asking takes longer than when nothing has run: threads sleep, caches are cold
        (on a GPU by up to 100 µs). So what only a clock showed is held against the same question
        after another such call and a pause in which that work would have ended.
        """
        if suspected := self._suspected:
            self._suspected = 0
            self._clock.spin(suspected + min(suspected, _LONGER_NS))  # no two calls are alike
            answer = self()
            if answer - self.idle <= _DIFFERENT * suspected:  # else that work, too, was running
                self._idle_answers.append(answer)
            return None
        left = self.wait_for_rest()
        self._suspected = 0 if self.is_certain else left
        return left

    def wait_for_rest(self) -> int:
        """Wait; nanoseconds for which something was still running, and 0 where nothing was.

        Where a framework does not tell whether something runs, two waits are held against each
        other: what the first one takes longer is work, where it is more than cold caches explain.
        """
        start = self._clock.wall()
        answers = {f: f.is_running() for f in self._frameworks if f.runs_ahead()}
        running = [f for f, answer in answers.items() if answer]
        unknown = [f for f, answer in answers.items() if answer is None]
        self.found_running.update(dict.fromkeys(running))
        self.is_certain = not unknown
        if running:
            self()
            return max(self._clock.wall() - start - self.idle, 1)
        if not unknown:
            return 0
        first, second = self(), self()
        left = first - max(second, int(stats.median(self._idle_answers or [second])))
        if left <= max(second, _COLD_CACHE_NS):
            return 0
        self.found_running.update(dict.fromkeys(unknown))
        return left


def leaves_work(calls: Sequence[tuple[int, int | None]], *, is_certain: bool) -> int:
    """Return nanoseconds of work that code leaves running unseen; 0 where it is none, or little.

    Where frameworks tell without a clock whether something runs, "yes" was never wrong and "no" in
    up to 6 % of cases (`adapters.jax.synchronization` has the figures). So two of many answers
    decide, or one of three; tests/accuracy/sections/decisions.py counts how often this errs.
    Where only a clock shows it, most of the calls have to.

    ``calls`` are the time of each, and for how long work went on after it, in nanoseconds, None
    where that was not asked; ``is_certain`` says whether that is known without a clock.
    """
    asked = [(call, left) for call, left in calls if left is not None]
    matters = _MIN_LEFT_SHARE * stats.median([call for call, _ in calls])
    left = [left for _, left in asked if left]
    if not is_certain:
        needed = len(asked) // 2 + 1
        left = [ns for ns in left if ns > matters]
    else:
        needed = 2 if len(asked) > _FEW_QUESTIONS else 1
    if len(left) < needed:
        return 0
    middle = int(stats.median(left))
    return middle if middle > matters else 0


def find_waiter(value: object, frameworks: Sequence[Framework]) -> Wait | None:
    """Return the cheapest function that waits for all arrays in values built like ``value``.

    It is None where there is nothing to wait for.
    """
    owned: dict[Framework, list[Any]] = {}
    for framework, array in find_arrays(value, frameworks):
        if framework.alive(array):
            owned.setdefault(framework, []).append(array)
    waits = [wait for f, arrays in owned.items() if (wait := f.waiter(value, arrays))]
    return _all_of(waits)


def _all_of(waits: Sequence[Callable[[Any], object]]) -> Wait | None:
    if len(waits) <= 1:
        return waits[0] if waits else None

    def wait_for_all(value: Any) -> None:
        for wait in waits:
            wait(value)

    return wait_for_all


def wait_for_each(waits: Sequence[Wait]) -> Wait:
    """Wait for each item of a tuple in its own way; one alone is handed over as it is."""
    if len(waits) == 1:
        return waits[0]

    def wait(values: Sequence[Any]) -> None:
        for wait_for, value in zip(waits, values, strict=True):
            wait_for(value)

    return wait
