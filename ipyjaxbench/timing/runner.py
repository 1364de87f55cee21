"""Makes calls of a snippet: prepares each, waits for it, counts it, and reads the clock."""

import operator
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from ipyjaxbench.frameworks import CompilationWatch, Framework, Wait, wait_for_results
from ipyjaxbench.host import Clock
from ipyjaxbench.timing.announcement import Announce, announce_to_nobody
from ipyjaxbench.timing.call_times import First, QueuedTime, Sample, TimedCall
from ipyjaxbench.timing.hidden_work import HiddenWork
from ipyjaxbench.timing.loop_cost import cost_of_binding
from ipyjaxbench.timing.set_up import SetUp, wait_for_names
from ipyjaxbench.timing.stack_depth import call_at, depth_of_caller
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode import Loop, Snippet


class Calls:
    """Calls of a snippet under one clock; code may import a framework that can be found then."""

    def __init__(
        self,
        snippet: Snippet,
        setup: Snippet | None,
        clock: Clock,
        drain: Drain,
        find_frameworks: Callable[[], Sequence[Framework]] = tuple,
    ) -> None:
        self.clock = clock
        self.drain = drain  # waits for the devices of the frameworks in play, as far as known
        self.hidden = HiddenWork(drain)  # what calls leave running that their values do not show
        self.watches: Sequence[CompilationWatch] = ()  # asked whether something was compiled
        # Binds fresh arguments, untimed, before each call that gives its own away.
        self.before_each: Callable[[], None] | None = None
        self.fresh = False  # whether the code changes in place what the set-up makes
        # Called with the nanoseconds of work that samples left running.
        self.on_work_left: Callable[[int], object] = _no_wait
        self.announce: Announce = announce_to_nobody  # other processes of a job make the same calls
        self.made = 0  # how many calls were begun
        self.set_up_at = 0  # how many were when the set-up last ran
        self.interrupt: KeyboardInterrupt | None = None  # what the user ended them with
        self.arranged = 0  # how often `arrange` was called: samples of another count do not compare
        self.elapsed = self._spent = 0  # nanoseconds of the last stretch: on the wall, of CPUs
        self.begun = 0  # when that began, on the wall
        self._snippet = snippet
        self._find_frameworks = find_frameworks
        self._setup = SetUp(setup, find_frameworks) if setup else None
        self.waiting = Waiting()  # what each call is waited for
        self._wait: Wait = _no_wait
        # An event loop awaits what awaits, below frames of its own.
        above = None if snippet.awaits else depth_of_caller()
        self._depth = None if above is None else max(above + 1 - snippet.frames, 0)
        self._loop: Loop = snippet.loop(value=snippet.has_value)
        self._keeps: dict[str, Any] = {}
        self._reset_ns = 0.0

    @property
    def one_by_one(self) -> bool:
        """Whether every call needs preparing, so that a sample holds one."""
        return self.before_each is not None or self.fresh

    @property
    def is_prepared(self) -> bool:
        """Whether something runs, untimed, before calls."""
        return self._setup is not None or self.before_each is not None

    @property
    def together(self) -> bool:
        """Whether the processes of a job can take several samples between two meetings."""
        return self.announce is not announce_to_nobody and not self.is_prepared

    def first(self, holders: Sequence[Framework] = ()) -> First:
        """Make the first call, when all is set up, and wait for all that it started.

        What its work raises is raised in the user's line; of results that it drops, where
        ``holders`` hold them.
        """
        __tracebackhide__ = True
        clock, snippet = self.clock, self._snippet
        value: list[Any] = []
        times: list[int] = []  # when Python went on, and nanoseconds of work after that
        holding = ExitStack()

        def wait(given: Any) -> None:
            __tracebackhide__ = True
            times.append(clock.now())
            times.append(self.drain.wait_for_rest())
            holding.close()
            self.drain.raise_failure()
            value.append(given if snippet.has_value else None)
            wait_for_names(snippet, self._find_frameworks())
            wait_for_results(value, self._find_frameworks())
            for wait_for_held in held:
                wait_for_held()

        loop = self._loop
        self._loop = snippet.loop(value=snippet.has_value, waits=())
        self.announce("first", 1)
        try:
            with holding:
                held = [holding.enter_context(each.hold_results()) for each in holders]
                start = clock.now()
                self._run_loop(1, wait, as_deep_as_the_cell=False)
        finally:
            self._loop = loop
        returned, left = times
        return First(returned - start, left, value[0])

    def wait_for_all(self) -> None:
        """Wait from now on, after each call, for the frameworks whose work was found running."""
        self.announce("wait-for-all", 0)
        drain = Drain([*self.hidden.drain.found_running], self.clock)
        self.arrange(self.waiting.and_for(drain.synchronize), kept=self._keeps)

    def arrange(self, waiting: Waiting, *, kept: dict[str, Any]) -> None:
        """Set what later calls are waited for, and names set back to values before each."""
        self.arranged += 1
        self.hidden.forget_samples()
        self.waiting, self._wait = waiting, waiting.wait or _no_wait
        waits = None if waiting.wait is None else waiting.names
        self._loop = self._snippet.loop(value=waiting.takes_value, waits=waits, resets=tuple(kept))
        self._keeps = kept
        self._reset_ns = cost_of_binding(tuple(kept), self.clock) if kept else 0.0

    def time_one(self, *, begun: bool = False) -> TimedCall:
        """Make one call, and look at it closely; ``begun`` as in `sample`."""
        __tracebackhide__ = True
        now, wait = self.clock.now, self._wait
        returned: list[int] = []

        def wait_and_see(value: Any) -> None:
            __tracebackhide__ = True
            returned.append(now())
            wait(value)

        compilations = self.compilations()
        self.set_up(begun=begun)
        self.announce("one", 1)
        start = now()
        taken, before = self._run_loop(1, wait_and_see), self.clock.spent()
        left = self.hidden.look()
        self.drain.raise_failure()
        spent = self._spent + self.hidden.spent_on_work(left, self.clock.spent() - before)
        compiled = self.compilations() > compilations
        return TimedCall(returned[0] - start if returned else taken, taken, left, spent, compiled)

    def sample(
        self, calls: int, *, begun: bool = False, ahead: int = 0, purpose: str = "sample"
    ) -> Sample:
        """Time several calls as one, after ``ahead`` untimed ones where nothing has to be set up.

        With ``begun`` they go on with a stretch that was set up before; ``purpose`` is announced.
        """
        __tracebackhide__ = True
        self.set_up(begun=begun)
        self.announce(purpose, calls, ahead)
        if ahead and self._setup is None:
            self._run_loop(ahead, self._wait)
        sample = self._time(calls)
        self._check_unwaited(sample)
        return sample

    def sample_together(self, calls: int, samples: int, ahead: int) -> list[Sample]:
        """Take several samples one right after another, as one step that others make, too."""
        __tracebackhide__ = True
        self.announce("sample", calls, ahead, samples=samples)
        if ahead:
            self._run_loop(ahead, self._wait)
        taken = []
        for _ in range(samples):  # as in `_fastest_of_tries`
            taken.append(self._time(calls))  # noqa: PERF401
        self._check_unwaited(taken[-1])
        return taken

    def _time(self, calls: int) -> Sample:
        __tracebackhide__ = True
        before = self.compilations()
        taken = self._run_loop(calls, self._wait)
        self.drain.raise_failure()
        ns = max(round(taken - calls * self._reset_ns), 0)
        return Sample(calls, ns, self._spent, self.compilations() > before)

    def _check_unwaited(self, sample: Sample) -> None:
        # Asking a framework that is not in play would slow down the next sample of another one.
        if self._wait is _no_wait and self.drain.may_wait:
            self.check(sample.ns / sample.calls)

    def check(self, per_call: float) -> None:
        """Look whether work is left running now, though none was when that was decided."""
        __tracebackhide__ = True
        left = self.hidden.ask_after_sample(per_call)
        self.drain.raise_failure()
        if left and not self.hidden.is_certain:
            again = [self.time_one() for _ in range(self.hidden.looks)]
            left = self.hidden.decide([(call.waited, call.left) for call in again])
        if left:
            self.on_work_left(left)

    def queue(self, calls: int) -> QueuedTime:
        """Make several calls without waiting for each."""
        __tracebackhide__ = True
        self.set_up()
        self.announce("queue", calls)
        values: list[Any] = []
        returned = self._run_loop(calls, values.append)
        # Devices finish in order what one thread gives them; the code may use several.
        waited = self._waited(values) - self._waited(values)
        rest = self.drain.wait_for_rest()
        self.drain.raise_failure()
        return QueuedTime(returned, returned + max(waited + rest, 0))

    def stretch(self, calls: int, observe: Callable[[Wait], Wait] | None = None) -> None:
        """Make calls, each waited for, of which none is a sample, and wait for what they leave.

        With ``observe`` that makes what is called to wait, even where there is nothing to wait for.
        """
        __tracebackhide__ = True
        self.announce("stretch", calls)
        loop, wait = self._loop, self._wait
        if observe is not None:
            own, kept = self.waiting.takes_value, tuple(self._keeps)
            names = self.waiting.names
            self._loop = self._snippet.loop(value=own, waits=names, resets=kept, apart=True)
            wait = observe(wait)
        try:
            self._run_loop(calls, wait)
            self.elapsed += self.drain.wait_for_rest()
            self.drain.raise_failure()
        finally:
            self._loop = loop

    def again(self) -> Any:
        """Make one more call; return the value of the last expression, None where there is none."""
        __tracebackhide__ = True
        value: list[Any] = []
        self._loop = self._snippet.loop(value=self._snippet.has_value, resets=tuple(self._keeps))
        self.set_up()
        self.announce("again", 1)
        self._run_loop(1, value.append)
        self.wait_for_failures()
        return value[0] if value else None

    def wait_for_failures(self) -> None:
        """Wait for all that calls have started, and raise what of it has failed."""
        __tracebackhide__ = True
        self.drain()
        self.drain.raise_failure()

    def end(self) -> None:
        """Make no more calls: let go of callbacks, which hold the user's objects."""
        self.on_work_left, self.before_each = _no_wait, None
        self.announce = announce_to_nobody

    def compilations(self) -> int:
        """Programs compiled since the watches began."""
        return sum(watch.compilations() for watch in self.watches)

    def compile_seconds(self) -> float:
        """Seconds spent on compiling since the watches began, as far as they are told."""
        return sum(s or 0.0 for watch in self.watches for s in watch.phases().values())

    def set_up(self, *, begun: bool = False) -> None:
        """Run what comes before a call, untimed."""
        __tracebackhide__ = True
        if self._setup is not None and not begun:
            self._setup.run(self.clock, self._keeps)
            self.set_up_at = self.made
        if self.before_each is not None:
            self.before_each()
        if self.is_prepared:
            self.wait_for_failures()

    def _waited(self, values: Sequence[Any]) -> int:
        """Nanoseconds that waiting for values takes; with the last, most are there."""
        start = self.clock.now()
        for value in reversed(values):
            self._wait(value)
        return self.clock.now() - start

    def _run_loop(self, calls: int, wait: Wait, *, as_deep_as_the_cell: bool = True) -> int:
        __tracebackhide__ = True
        times = self.clock.turns(calls)
        values = tuple(self._keeps.values())
        reset_to = values[0] if len(values) == 1 else values
        spent, self.begun = self.clock.spent(), self.clock.wall()
        try:
            if self._depth is None or not as_deep_as_the_cell:
                return self._loop(times, self.clock.now, wait, reset_to)
            return call_at(self._depth, self._loop, times, self.clock.now, wait, reset_to)
        finally:
            self.elapsed = self.clock.wall() - self.begun
            self._spent = self.clock.spent() - spent
            self.made += calls - operator.length_hint(times)


def _no_wait(value: Any) -> None:
    """Nothing to wait for."""
