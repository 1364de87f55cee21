"""Makes calls of a snippet: prepares each, waits for it, counts it, and reads the clock."""

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import CompilationWatch, Framework, Wait
from ipyjaxbench.host import Clock
from ipyjaxbench.timing.stack_depth import call_at, depth_of_caller
from ipyjaxbench.timing.synchronize import Drain, find_waiter, leaves_work, wait_for_each
from ipyjaxbench.usercode import Loop, Snippet, Source

_LOOP_ITERATIONS, _LOOP_READINGS = 1000, 9
_CONVINCING_ANSWERS = 2  # that work is running: then it is no mistake, and is waited for


class TimedCall(NamedTuple):
    """One call, looked at closely; all in nanoseconds."""

    returned: int  # until Python went on
    waited: int  # until what it gave was computed
    left: int  # for how long something was running after that; 0 where nothing was
    spent: int  # CPU time, over all threads
    compiled: bool  # whether something was compiled in it


class Sample(NamedTuple):
    """Several calls, timed as one."""

    calls: int  # how many
    ns: int  # nanoseconds of all of them
    spent: int  # nanoseconds of CPU time, over all threads
    compiled: bool = False  # whether something was compiled in them


class QueuedTime(NamedTuple):
    """Calls that were not waited for one by one; in nanoseconds."""

    returned: int  # until Python went on after the last
    waited: int  # until all devices were idle


class First(NamedTuple):
    """The first call."""

    taken: int  # nanoseconds until Python went on
    left: int  # for how many more something was running; 0 where nothing was
    value: Any  # of the last expression; None where there is none


def is_held(first: First) -> bool:
    """Whether anything but ``first`` holds its value, so that it outlives it."""
    fresh = First(0, 0, object())
    return sys.getrefcount(first.value) > sys.getrefcount(fresh.value)


class Calls:
    """Calls of a snippet under one clock."""

    def __init__(self, snippet: Snippet, setup: Snippet | None, clock: Clock, drain: Drain) -> None:
        self.clock = clock
        self.drain = drain  # waits for the devices of the frameworks in play, as far as known
        self.hidden = drain  # shows what a call has left running that its value does not show
        self.watches: Sequence[CompilationWatch] = ()  # asked whether something was compiled
        # Binds fresh arguments, untimed, before each call that gives its own away.
        self.before_each: Callable[[], None] | None = None
        self.fresh = False  # whether the code changes in place what the set-up makes
        # Called with the nanoseconds of work that samples left running.
        self.on_work_left: Callable[[int], object] = _no_wait
        self.made = 0  # how many calls were begun
        self.interrupt: KeyboardInterrupt | None = None  # what the user ended them with
        self.arranged = 0  # how often `arrange` was called: samples of another count do not compare
        self.elapsed = self._spent = 0  # nanoseconds of the last stretch: on the wall, of CPUs
        self._snippet = snippet
        self._found_left = 0
        self._setup = setup.loop() if setup else None
        self._set_up_names = set(setup.binds) if setup else set()
        # Waits for the value and for the names bound; None if there is nothing to wait for.
        self.wait: Wait | None = None
        self.waits_for_all = False  # whether it also waits for work that neither of them shows
        self._wait: Wait = _no_wait
        self._takes_value = False
        self._names: Sequence[str] = ()
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

    def first(self) -> First:
        """Make the first call, when all is set up, and wait for all that it started."""
        __tracebackhide__ = True
        value: list[Any] = []
        taken = self._run_loop(1, value.append, as_deep_as_the_cell=False)
        return First(taken, self.drain.wait_for_rest(), value[0] if value else None)

    def plan(
        self,
        value: object,
        results: Mapping[str, object],
        kept: dict[str, Any],
        frameworks: Sequence[Framework],
    ) -> None:
        """Have later calls wait for a value and for names bound, each in the cheapest way."""
        of_value = find_waiter(value, frameworks)
        of_names = {n: w for n, v in results.items() if (w := find_waiter(v, frameworks))}
        waits = [*([of_value] if of_value else []), *of_names.values()]
        wait = wait_for_each(waits) if waits else None
        self.arrange(wait, value=of_value is not None, names=tuple(of_names), kept=kept)

    def wait_for_all(self) -> None:
        """Wait from now on, after each call, for the frameworks whose work was found running."""
        self.waits_for_all = True
        wait, drain = self.wait, Drain([*self.hidden.found_running], self.clock)

        def wait_and_drain(value: Any) -> None:
            if wait is not None:
                wait(value)
            drain()

        self.arrange(wait_and_drain, value=self._takes_value, names=self._names, kept=self._keeps)

    def arrange(
        self, wait: Wait | None, *, value: bool, names: Sequence[str], kept: dict[str, Any]
    ) -> None:
        """Set how later calls are made: ``kept`` are names set back to these values before each.

        ``wait`` takes the value, where ``value``, and those of ``names``; None waits for nothing.
        """
        self.arranged += 1
        self._found_left = 0
        self.wait, self._wait = wait, wait or _no_wait
        self._takes_value, self._names = value, names
        waits = None if wait is None else names
        self._loop = self._snippet.loop(value=value, waits=waits, resets=tuple(kept))
        self._keeps = kept
        self._reset_ns = _cost_of_binding(tuple(kept), self.clock) if kept else 0.0

    def time_one(self, *, begun: bool = False) -> TimedCall:
        """Make one call, and look at it closely; ``begun`` as in `sample`."""
        __tracebackhide__ = True
        now, wait = self.clock.now, self._wait
        returned: list[int] = []

        def wait_and_see(value: Any) -> None:
            returned.append(now())
            wait(value)

        compilations = self.compilations()
        self.set_up(begun=begun)
        start = now()
        taken, before = self._run_loop(1, wait_and_see), self.clock.spent()
        left = self.hidden.wait_for_rest()
        spent = self._spent + self.clock.spent() - before
        compiled = self.compilations() > compilations
        return TimedCall(returned[0] - start if returned else taken, taken, left, spent, compiled)

    def sample(self, calls: int, *, begun: bool = False, ahead: int = 0) -> Sample:
        """Time several calls as one, after ``ahead`` untimed ones where nothing has to be set up.

        With ``begun`` they go on with a stretch that was set up before.
        """
        __tracebackhide__ = True
        self.set_up(begun=begun)
        if ahead and self._setup is None:
            self._run_loop(ahead, self._wait)
        before = self.compilations()
        taken = self._run_loop(calls, self._wait)
        spent = self._spent
        # Asking a framework that is not in play would slow down the next sample of another one.
        if self._wait is _no_wait and self.drain.may_wait:
            self.check(taken / calls)
        ns = max(round(taken - calls * self._reset_ns), 0)
        return Sample(calls, ns, spent, self.compilations() > before)

    def check(self, per_call: float) -> None:
        """Ask whether the last call left work running, though none did while that was decided."""
        left = leaves_work(
            [(int(per_call), self.hidden.wait_for_rest())], is_certain=self.hidden.is_certain
        )
        self._found_left += bool(left)
        if self._found_left == _CONVINCING_ANSWERS:
            self.on_work_left(left)

    def queue(self, calls: int) -> QueuedTime:
        """Make several calls without waiting for each."""
        __tracebackhide__ = True
        self.set_up()
        values: list[Any] = []
        returned = self._run_loop(calls, values.append)
        # Devices finish in order what one thread gives them; the code may use several.
        waited = self._waited(values) - self._waited(values)
        return QueuedTime(returned, returned + max(waited + self.drain.wait_for_rest(), 0))

    def stretch(self, calls: int) -> None:
        """Make calls, each waited for, of which none is a sample, and wait for what they leave."""
        __tracebackhide__ = True
        self._run_loop(calls, self._wait)
        self.elapsed += self.drain.wait_for_rest()

    def again(self) -> Any:
        """Make one more call; return the value of the last expression, None where there is none."""
        __tracebackhide__ = True
        value: list[Any] = []
        self._loop = self._snippet.loop(value=self._snippet.has_value, resets=tuple(self._keeps))
        self.set_up()
        self._run_loop(1, value.append)
        self.drain()
        return value[0] if value else None

    def end(self) -> None:
        """Make no more calls: let go of callbacks, which hold the user's objects."""
        self.on_work_left, self.before_each = _no_wait, None

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
            self._setup(repeat(None, 1), self.clock.now, _no_wait, ())
            names = self._snippet.names
            for name in self._set_up_names & self._keeps.keys():
                self._keeps[name] = names.get(name)
        if self.before_each is not None:
            self.before_each()
        if self._setup is not None or self.before_each is not None:
            self.drain()

    def _waited(self, values: Sequence[Any]) -> int:
        """Nanoseconds that waiting for values takes; with the last, most are there."""
        start = self.clock.now()
        for value in reversed(values):
            self._wait(value)
        return self.clock.now() - start

    def _run_loop(self, calls: int, wait: Wait, *, as_deep_as_the_cell: bool = True) -> int:
        __tracebackhide__ = True
        times = repeat(None, calls)
        values = tuple(self._keeps.values())
        reset_to = values[0] if len(values) == 1 else values
        spent, start = self.clock.spent(), self.clock.wall()
        try:
            if self._depth is None or not as_deep_as_the_cell:
                return self._loop(times, self.clock.now, wait, reset_to)
            return call_at(self._depth, self._loop, times, self.clock.now, wait, reset_to)
        finally:
            self.elapsed = self.clock.wall() - start
            self._spent = self.clock.spent() - spent
            self.made += calls - operator.length_hint(times)


def _cost_of_binding(names: Sequence[str], clock: Clock) -> float:
    """Nanoseconds that setting names back takes in each iteration: as much as a tiny statement."""
    bind = "; ".join(f"{name} = None" for name in names)
    return max(cost_per_iteration(bind, clock) - cost_per_iteration("pass", clock), 0.0)


def cost_per_iteration(code: str, clock: Clock) -> float:
    """Nanoseconds that tiny code takes in each iteration of a loop, the loop included."""
    loop = Snippet(Source.plain(code), {}).loop()
    readings = [
        loop(repeat(None, _LOOP_ITERATIONS), clock.now, _no_wait, ()) for _ in range(_LOOP_READINGS)
    ]
    return min(readings) / _LOOP_ITERATIONS  # other programs only lengthen it


def _no_wait(value: Any) -> None:
    """Nothing to wait for."""
