"""Waits for asynchronous work: all that was started before, and what one call starts or leaves."""

from collections.abc import Sequence
from typing import NamedTuple

from ipyjaxbench import stats
from ipyjaxbench.frameworks import Framework, forget_failures
from ipyjaxbench.host import Clock

#: Below that, a wait after a call that left the caches cold looks like work.
_COLD_CACHE_NS = 15_000
_IDLE_READINGS = 11
_LOOKS = 3  # of which the first one alone can find work from before


class _Look(NamedTuple):
    """How long a wait took, in nanoseconds.

    Attributes:
        wall: without the time in which others had the CPUs.
        others: that other threads of the process computed meanwhile.
    """

    wall: int
    others: int


class Drain:
    """Waits until nothing is running on any device that is in use, and tells what was."""

    def __init__(self, frameworks: Sequence[Framework], clock: Clock) -> None:
        self.clock = clock
        self._frameworks = [*frameworks]
        # the frameworks of which work was found when `wait_for_rest` asked
        self.found_running: dict[Framework, None] = {}
        self.is_certain: bool  # whether all that run ahead of Python tell it without a clock
        for framework in frameworks:
            framework.prepare()
        self.idle = 0  # nanoseconds that asking takes when there is nothing to wait for
        first = self._look()
        # Else all it shows is that a first look takes longer: by 4 ms in the first one of JAX.
        may_have_run = self.may_wait and bool(self.found_running or not self.is_certain)
        # A thread that only wakes up late, on a busy machine, has computed nothing.
        is_shown_by_cpu = self._is_shown_by_cpu()
        later = [self._look() for _ in range(_LOOKS - 1)]
        self.found_running.clear()
        readings = [self.synchronize() for _ in range(_IDLE_READINGS)]
        # Not the median: on a busy machine it would hide work that is really there.
        self.idle = int(stats.quantile(readings, 0.25))
        # nanoseconds that work from before took to end: looking at many live arrays takes long, too
        took = [min(look) if is_shown_by_cpu else look.wall for look in (first, *later)]
        self.waited = max(took[0] - max(took[1:]), 0) if may_have_run else 0

    def _look(self) -> "_Look":
        """Ask whether something runs, and wait for all there is."""
        clock = self.clock
        delayed, others, start = clock.delayed(), clock.spent() - clock.own(), clock.wall()
        self.wait_for_rest()
        self()
        taken = clock.wall() - start
        others = clock.spent() - clock.own() - others
        return _Look(max(taken - (clock.delayed() - delayed), 0), max(others, 0))

    def _is_shown_by_cpu(self) -> bool:
        """Whether work that only a clock can find is computed by other threads of the process."""
        found = [f for f in self.found_running if f.is_running() is not None]
        unknown = [f for f in self._frameworks if f.runs_ahead() and f.is_running() is None]
        return not found and all(f.computes_on_host() for f in unknown)

    def __call__(self) -> int:
        """Wait for all there is; return how long it took, in nanoseconds."""
        start = self.clock.wall()  # a clock of CPU time would read what asking costs the CPU
        for framework in self._frameworks:
            framework.wait_for_devices()
        return self.clock.wall() - start

    def synchronize(self) -> int:
        """Wait for what devices were given; return how long it took, in nanoseconds."""
        start = self.clock.wall()
        for framework in self._frameworks:
            framework.wait_for_devices(in_full=False)
        return self.clock.wall() - start

    def take_failure(self) -> Exception | None:
        """Return what waited-for work has raised that no value shows, once; None for nothing.

        Of several it is the first: the others are not for the code that comes next.
        """
        failures = [framework.take_failure() for framework in self._frameworks]
        return next(filter(None, failures), None)

    def raise_failure(self) -> None:
        """Raise what `take_failure` returns."""
        __tracebackhide__ = True
        if failure := self.take_failure():
            raise failure.with_traceback(None)

    def forget_failures(self) -> None:
        """Wait for all there is: what of that has failed is not told any more."""
        forget_failures(self._frameworks)

    @property
    def may_wait(self) -> bool:
        """Whether there can be anything to wait for."""
        return any(framework.runs_ahead() for framework in self._frameworks)

    def wait_for_rest(self, usual: int = 0) -> int:
        """Wait; nanoseconds for which something was still running, and 0 where nothing was.

        Where a framework does not tell whether something runs, two waits are held against each
        other: what the first one takes longer is work, where it is more than cold caches explain.
        A wait takes ``usual`` nanoseconds where nothing runs, as far as that is known.
        """
        start = self.clock.wall()
        answers = {f: f.is_running() for f in self._frameworks if f.runs_ahead()}
        running = [f for f, answer in answers.items() if answer]
        unknown = [f for f, answer in answers.items() if answer is None]
        self.found_running.update(dict.fromkeys(running))
        self.is_certain = not unknown
        if running:
            self.synchronize()
            return max(self.clock.wall() - start - self.idle, 1)
        if not unknown:
            return 0
        first, second = self.synchronize(), self.synchronize()
        left = first - max(second, usual)
        if left <= max(second, _COLD_CACHE_NS):
            return 0
        self.found_running.update(dict.fromkeys(unknown))
        return left
