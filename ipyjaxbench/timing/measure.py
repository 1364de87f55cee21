"""Times a snippet: drain, first call, warm-up, rounds, stop. The whole flow, top to bottom."""

import math
from collections.abc import Sequence
from contextlib import ExitStack

from ipyjaxbench.errors import Interrupted
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.scope import Scene, placements
from ipyjaxbench.frameworks.state.checkpoint import Checkpoint
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing import break_even, cold_call, measure_roofline, notes, profiled_pass
from ipyjaxbench.timing.call_setup import Plan, set_back
from ipyjaxbench.timing.device_time import DeviceTime
from ipyjaxbench.timing.first_call import FirstCall
from ipyjaxbench.timing.isolation import Changes, Donated, Snapshot, rebound
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.rewind import Rewind
from ipyjaxbench.timing.runner import Calls, First, is_held
from ipyjaxbench.timing.steady_state import Steady, Told
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.validity import checks, setting_notes
from ipyjaxbench.timing.validity.background_work import Background
from ipyjaxbench.timing.validity.cached_copies import converted
from ipyjaxbench.timing.validity.carryover import Carryover
from ipyjaxbench.usercode.output import Muted
from ipyjaxbench.usercode.snippet import Snippet

_CLOCKS = {"elapsed": Clock.elapsed, "calendar": Clock.calendar, "cpu": Clock.cpu}
_TOLD_WAIT_NS = 1_000_000
_SMALL = 100_000_000  # bytes of results that need no look at the free memory


def nobody(known: float, left: int) -> None:
    """Nobody wants to hear."""


def time_snippet(
    snippet: Snippet,
    options: TimeOptions,
    *,
    setup: Snippet | None = None,
    clock: Clock | None = None,
    muted: Muted | None = None,
    compile_time: float = 0.0,
    told: Told = nobody,
) -> Measurement:
    """Time a snippet in its namespace, and leave the namespace as one run would have.

    Args:
        snippet: the code.
        options: how often and how long.
        setup: code to run, untimed, before the first call and before each sample.
        clock: to read; by default the one that the options name.
        muted: keeps what later calls print from being shown.
        compile_time: seconds that Python's compilation of the code took.
        told: hears after each round how far it is.

    Returns:
        The measurement.

    Raises:
        BaseException: whatever the first call raised; names and random state are then as before.
        Interrupted: the user ended later calls; it holds the measurement of those made until then.
    """
    __tracebackhide__ = True
    timing = Timing(snippet, setup, options, clock or _CLOCKS[options.clock](), muted or Muted())
    with timing.watching:
        timing.learn(timing.first_call())
        timing.later_calls(told)
    measured = measure_roofline.told(snippet, timing.measurement(compile_time), timing.in_play)
    if timing.interrupt is not None:
        raise Interrupted(measured, timing.interrupt) from None
    return measured


class Timing:
    """One snippet being timed: its methods are the steps, in the order in which they are called.

    Attributes:
        watching: open while calls are made; frameworks tell in it what they compile.
        scene: the code and what it can reach, once the first call is made.
        rewind: has calls start from the state that the first one found.
        outputs: where the values live that the first call gave.
        in_play: the frameworks that the code uses, once the first call is made.
    """

    def __init__(
        self,
        snippet: Snippet,
        setup: Snippet | None,
        options: TimeOptions,
        clock: Clock,
        muted: Muted,
    ) -> None:
        self.watching = ExitStack()
        self._cold: FirstCall | None = None
        self._device: DeviceTime | None = None
        self._snippet, self._setup, self._options = snippet, setup, options
        self._clock, self._muted = clock, muted
        self._frameworks, broken = loaded()
        self._said: list[Note] = [
            setting_notes.not_usable(name, why) for name, why in broken.items()
        ]
        self._said += [
            setting_notes.unknown_part(f.name, gap) for f in self._frameworks for gap in f.gaps
        ]
        drain = Drain(self._frameworks, clock)
        if drain.waited > _TOLD_WAIT_NS:
            self._said.append(notes.earlier_work(drain.waited * 1e-9))
        self._bound = [*snippet.binds, *(setup.binds if setup else ())]
        self._calls = Calls(snippet, setup, clock, drain)

    def first_call(self, *, spare: bool = False) -> First:
        """Set up, look around, and make the first call; if it raises, all is as before.

        Args:
            spare: give away copies where the code gives its arguments away.
        """
        __tracebackhide__ = True
        snippet, calls, frameworks = self._snippet, self._calls, self._frameworks
        before = Snapshot(snippet.names, self._bound, frameworks, later=False)
        try:
            calls.set_up()
            self.scene = scene = Scene(snippet, frameworks)
            self._bound += rebound(scene.functions, snippet.names)
            theirs = self._setup.binds if self._setup else ()
            self._carryover = Carryover(scene, frameworks, theirs)
            self._donated = Donated(snippet, scene.values, scene.functions, frameworks)
            watches = (f.watch(scene.compiled) for f in frameworks)
            calls.watches = [self.watching.enter_context(watch) for watch in watches]
            if spare:
                self._donated.spare()
            self._found = self._found_state(theirs)
            self._background = Background(self._clock)
            first = calls.first()
            self._background.look()
            return first
        except BaseException:
            before.restore(frameworks)
            raise

    def learn(self, first: First) -> None:
        """From the first call: what it took, what it left, and how later calls are to be made."""
        snippet, calls, scene = self._snippet, self._calls, self.scene
        self._phases = {name: s for w in calls.watches for name, s in w.phases().items()}
        self._programs = tuple(program for w in calls.watches for program in w.programs())
        self._compilations = calls.compilations()
        warm = [name for watch in calls.watches for name in watch.looked_at()]
        self._said += [notes.looked_at(warm)] if warm else []
        self._frameworks, _ = loaded()  # the first call may have imported or started one
        compiling = int(sum(s or 0.0 for s in self._phases.values()) * 1e9)
        self._total = first.taken + first.left
        self._typical = max(first.taken - compiling, 0) + first.left
        self._after = Snapshot(snippet.names, self._bound, self._frameworks, later=True)

        results = {name: snippet.names[name] for name in snippet.binds if name in snippet.names}
        self.outputs = placements({"": first.value, **results}, self._frameworks)
        self.in_play = scene.in_play(self._frameworks, self.outputs)
        self._ask_those_in_play()
        self._changes = Changes(
            snippet, {**scene.reached, **scene.values}, self._frameworks,
            scene.reached, scene.functions,
        )  # fmt: skip
        set_up = self._setup.binds if self._setup else ()
        used_once = {*self._changes.certain, *converted(scene, self._frameworks)}
        calls.fresh = not used_once.isdisjoint(set_up)
        lost = self._donated.keep_lost()
        calls.renew = self._donated.renew if lost else None
        kept = set_back(snippet, scene.values, self._frameworks)
        self._plan = Plan(calls, first.value, results, kept, self._frameworks)
        self._said += checks.after_first(scene, self.outputs, lost, self._frameworks, set_up)
        self._said += checks.of_value(first.value, snippet.text)
        self._said += checks.of_name(snippet.statements, results)
        self._carryover.after_first(first.value, held=is_held(first))
        self.rewind = Rewind(self._found, self._typical)
        self._checkpoint = Checkpoint(
            {**scene.values, **scene.called, **scene.reached, **results},
            self._frameworks, snippet.names, copies=self._options.restore,
            gives_away=self._donated.is_possible,
        )  # fmt: skip

    def _found_state(self, remade: Sequence[str]) -> Checkpoint | None:
        """What the first call will find, as far as that is cheap to keep."""
        if not self._options.restore or self._donated.is_possible:
            return None
        scene = self.scene
        values = {n: v for n, v in scene.values.items() if n not in remade} | scene.called
        return Checkpoint.of_user(values, self._frameworks, self._snippet.names)

    def _ask_those_in_play(self) -> None:
        """Wait for the devices of those frameworks alone that the code uses, as far as is known.

        What is known of code has gaps: a function may import what it uses when it is called. So
        others are asked, too, where asking takes no clock; they are waited for if they do work.
        """
        calls, playing = self._calls, self.in_play
        everyone = Drain(self._frameworks, self._clock)
        tell = [f for f in self._frameworks if f in playing or f.is_running() is not None]
        calls.drain = everyone if self._setup else Drain(playing, self._clock)
        calls.hidden = Drain(tell, self._clock)

    def later_calls(self, told: Told) -> None:
        """Make all other calls, then put back what they changed."""
        __tracebackhide__ = True
        steady = self.steady(told)
        steady.prepare = self.rewind.choose
        try:
            with self._muted:
                steady.run(self._typical)
                self._further_calls(steady)
        finally:
            self.put_back()
        self.look_back()

    def steady(self, told: Told = nobody) -> Steady:
        """What makes the other calls."""
        calls, plan = self._calls, self._plan
        room = _room(self.in_play, self.outputs, queued=plan.wait is not None)
        on_gpu = any(place.on_gpu for place in (*self.scene.inputs, *self.outputs))
        self._steady = Steady(calls, plan, self._options, room, told, on_gpu)
        self._steady.samples.spins = {f.spins for f in self.in_play} == {True}
        return self._steady

    def put_back(self) -> None:
        """Make names and random state as the first call left them."""
        self._calls.drain()
        self._carryover.after_last()
        self._donated.restore()
        self._checkpoint.restore()
        lost = self._after.restore(self._frameworks, self._checkpoint.revived)
        self._checkpoint.restored += self._after.revived
        self.rewind.give_up()
        self._calls.end()
        known = self._checkpoint.known if self._options.restore else ()
        self._advanced = [*lost, *self._checkpoint.failed, *self._changes.found(known)]

    def look_back(self) -> None:
        """Say what the calls showed."""
        steady, scene, left = self._steady, self.scene, self._carryover
        writes = self._muted.writes
        self._said += steady.said
        if not any(note.code == "lazy" for note in self._said):
            self._said += self._background.found(self._calls.made)
        self._said += self.rewind.said()
        self._said += checks.of_state(
            self._checkpoint, self._advanced, left, self._calls.made, writes
        )
        self._said += checks.after_last(scene, self._frameworks, steady, left, self._typical)
        self._said += checks.cautions(self._snippet, scene, self.outputs, self.in_play)

    @property
    def interrupt(self) -> KeyboardInterrupt | None:
        """What the user ended the calls with."""
        return self._calls.interrupt

    def frameworks(self) -> list[str]:
        """Names of the frameworks in play."""
        return [framework.name for framework in self.in_play]

    def said(self) -> list[Note]:
        """The Notes so far."""
        return list(self._said)

    def _further_calls(self, steady: Steady) -> None:
        """Calls that are no samples."""
        __tracebackhide__ = True
        calls, options, early = self._calls, self._options, steady.ended_early
        if options.fresh:
            self._cold = cold_call.cold_call(
                calls, self._snippet, self.scene, self.in_play, ended_early=early
            )
        if options.device:
            self._device = profiled_pass.look(
                calls, self.in_play, options, steady.samples, self._typical, ended_early=early
            )
        if options.number is None and steady.samples.batches and not early:
            per_call = steady.samples.per_call
            self._carryover.look_again(calls.again, self._typical, per_call)

    def measurement(self, compile_time: float) -> Measurement:
        """What was found."""
        steady, options = self._steady, self._options
        samples, queued = steady.samples, steady.queued
        told = self.scene.compiled or self._compilations
        most = max((number for number, _ in samples.batches), default=0)
        # With -n the first call belongs to the first sample, which an interrupt may cut short.
        loops = max(most, 1) if options.number is None else min(most + 1, options.number)
        measured = Measurement(
            code=self._snippet.text,
            frameworks={
                **self.scene.libraries(self._frameworks),
                **{f.name: f.version() for f in self.in_play},
            },
            first_call=self._total * 1e-9,
            phases=self._phases,
            compilations=self._compilations if told else None,
            loops=loops,
            batches=tuple(samples.batches),
            rounds=tuple(samples.rounds),
            exact=options.number is not None,
            waited=self._plan.wait is not None,
            inputs=self.scene.inputs,
            outputs=self.outputs,
            notes=tuple(self._said),
            compile_time=compile_time,
            elapsed=steady.elapsed,
            precision=options.precision,
            clock=options.clock,
            throughputs=tuple(queued.throughputs) if queued else (),
            dispatches=tuple(steady.dispatches()) if self._plan.wait is not None else (),
            programs=self._programs,
            fresh=self._cold,
            device=self._device,
            conditions=steady.conditions,
        )
        return break_even.told(self._snippet, self.scene, measured, self.in_play)


def _room(in_play: Sequence[Framework], outputs: Sequence[Placement], *, queued: bool) -> float:
    """How many more results fit into the free memory; many, where it need not be asked."""
    each = sum(placement.nbytes for placement in outputs)
    if each < _SMALL and not queued:
        return math.inf
    return min(f.free_memory() for f in in_play) / max(each, 1)
