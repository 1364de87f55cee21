"""Times a snippet: first call, warm-up, rounds, extra calls. The whole flow, top to bottom."""

import dataclasses
import math
from typing import NamedTuple

from ipyjaxbench.device import MemoryPeak
from ipyjaxbench.errors import CODE_ERRORS, Interrupted
from ipyjaxbench.frameworks import find_compiler
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import (
    break_even,
    cold_call,
    profiled_pass,
    program_lines,
    roofline,
    verdict,
)
from ipyjaxbench.timing.autotuning import add_autotuned
from ipyjaxbench.timing.cold_cache import ColdCache, measure_cold_cache
from ipyjaxbench.timing.compile_cost import ColdCallResult
from ipyjaxbench.timing.device_time import DeviceTime
from ipyjaxbench.timing.energy import Energy, measure_energy
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.perfetto.recording import Recording, start_recording
from ipyjaxbench.timing.restoration import put_back
from ipyjaxbench.timing.session import (
    LaterCalls,
    make_first_call,
    open_session,
    plan_calls,
)
from ipyjaxbench.timing.steady_state import OnProgress, Steady
from ipyjaxbench.timing.validity import checks
from ipyjaxbench.timing.validity.conversions import check_conversions
from ipyjaxbench.timing.validity.warm_cache import check_warm_cache, check_warm_cpu_cache
from ipyjaxbench.usercode import Muted, Snippet, may_block

_MIN_BYTES_TO_ASK = 100_000_000  # of results, from which on the free memory is looked at


class Extra(NamedTuple):
    """What calls beyond the samples showed; None where they were not asked for."""

    fresh: ColdCallResult | None = None
    device: DeviceTime | None = None
    energy: Energy | None = None
    cold: ColdCache | None = None
    memory: tuple[MemoryPeak, ...] = ()


_NO_EXTRA = Extra()


def ignore_progress(known: float, left: int) -> None:
    """Do nothing: the default of ``on_progress``."""


def measure_snippet(
    snippet: Snippet,
    options: TimeOptions,
    *,
    setup: Snippet | None = None,
    clock: Clock | None = None,
    muted: Muted | None = None,
    compile_time: float = 0.0,
    on_progress: OnProgress = ignore_progress,
) -> Measurement:
    """Time a snippet in its namespace, and leave the namespace as one run would have.

    The ``setup`` runs, untimed, before the first call and before each sample; ``muted`` keeps what
    later calls print from being shown; ``compile_time`` are the seconds that Python's compilation
    of the code took. The clock is by default the one that the options name.

    Raises:
        OptionError: no trace can be written where it was asked for; nothing has run.
        BaseException: whatever the first call raised; names and random state are then as before.
        Interrupted: the user ended later calls; it holds the measurement of those made until then.
    """
    __tracebackhide__ = True
    recording = start_recording(options, clock)
    session = open_session(snippet, options, setup=setup, clock=clock, muted=muted)
    with session.watching:
        # Nothing here holds the value of the first call: later calls need the memory.
        later = plan_calls(session, make_first_call(session))
        steady = make_steady(later, on_progress)
        steady.prepare = later.rewind.choose
        try:
            with session.muted:
                steady.run(later.typical)
                extra = _make_extra_calls(later, steady, recording)
        finally:
            advanced = put_back(later)
            steady.error = None  # its traceback holds all that the user's code had at hand
        notes = review(later, steady, advanced)
    measured = summarize(later, steady, notes, compile_time, extra)
    if recording is not None:
        measured = recording.write(measured, session.calls)
    measured = roofline.add_roofline(snippet, measured, later.in_play)
    if steady.samples.taken:
        notes = [*measured.notes, *check_warm_cpu_cache(measured)]
        measured = dataclasses.replace(measured, notes=tuple(notes))
    measured = add_autotuned(measured, later.first.scope, later.in_play)
    if options.passes:
        measured = program_lines.add_lines(snippet, measured, later.in_play)
    if session.calls.interrupt is not None:
        raise Interrupted(measured, session.calls.interrupt) from None
    return measured


def make_steady(later: LaterCalls, on_progress: OnProgress = ignore_progress) -> Steady:
    """Prepare what makes the calls after the first one."""
    session, in_play = later.session, later.in_play
    on_gpu = any(place.on_gpu for place in (*later.first.scope.inputs, *later.outputs))
    steady = Steady(session.calls, session.options, _room(later), on_progress, on_gpu)
    if not session.snippet.awaits and may_block(later.first.scope.codes):
        steady.patience = session.snippet.patience
    steady.samples.spins = {framework.spins for framework in in_play} == {True}
    return steady


def _room(later: LaterCalls) -> float:
    """Return how many more results fit into the free memory; many, where it need not be asked."""
    nbytes = sum(placement.nbytes for placement in later.outputs)
    if nbytes < _MIN_BYTES_TO_ASK and not later.session.calls.waiting.is_asynchronous:
        return math.inf
    return min(framework.free_memory() for framework in later.in_play) / max(nbytes, 1)


def _make_extra_calls(later: LaterCalls, steady: Steady, recording: Recording | None) -> Extra:
    """Make the calls beyond the samples that were asked for."""
    __tracebackhide__ = True
    session, scope, in_play = later.session, later.first.scope, later.in_play
    calls, options, early = session.calls, session.options, steady.ended_early
    fresh = device = energy = cold = None
    if options.fresh:
        sampling = cold_call.Sampling(options.fresh, steady.number, options.seconds, options.passes)
        fresh = cold_call.make_cold_calls(calls, scope, in_play, sampling, ended_early=early)
    if options.profile:
        early = early or calls.interrupt is not None
        device = profiled_pass.profile_calls(
            calls, in_play, options, steady.samples, later.typical,
            on_gpu=steady.on_gpu, ended_early=early,
            timeline=None if recording is None else recording.timeline,
        )  # fmt: skip
    if options.energy:
        early = early or calls.interrupt is not None
        typical = steady.samples.per_call if steady.samples.taken else later.typical
        energy = measure_energy(calls, typical, options.seconds, ended_early=early)
    if options.cold:
        early = early or calls.interrupt is not None
        typical = steady.samples.per_call if steady.samples.taken else later.typical
        places = (*scope.inputs, *later.outputs)
        cold = measure_cold_cache(
            calls, in_play, places, typical, options.seconds, ended_early=early
        )
    memory: tuple[MemoryPeak, ...] = ()
    if options.memory:
        early = early or calls.interrupt is not None
        memory = _measure_memory(later, steady, ended_early=early)
    early = early or calls.interrupt is not None
    if options.number is None and steady.samples.taken and not early:
        _inspect_later_value(later, steady)
    return Extra(fresh, device, energy, cold, memory)


def _measure_memory(
    later: LaterCalls, steady: Steady, *, ended_early: bool
) -> tuple[MemoryPeak, ...]:
    """Return the peaks of more calls, by what is imported when it is asked for."""
    __tracebackhide__ = True
    from ipyjaxbench.timing.memory import measure_memory

    session, samples = later.session, steady.samples
    typical = samples.per_call if samples.taken else later.typical
    seconds = session.options.seconds
    return measure_memory(
        session.calls, later.first.scope, later.in_play, typical, seconds, ended_early=ended_early
    )


def _inspect_later_value(later: LaterCalls, steady: Steady) -> None:
    """Look whether the first call's value was kept; what ends this last call loses no sample."""
    __tracebackhide__ = True
    calls, per_call = later.session.calls, steady.samples.per_call
    try:
        later.first.carryover.inspect_later_value(calls.again, later.typical, per_call)
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
    except CODE_ERRORS:  # whatever the user's code raises
        pass


def review(later: LaterCalls, steady: Steady, advanced: list[str]) -> list[Note]:
    """Return all Notes; ``advanced`` are names of what could not be put back."""
    session, first, typical = later.session, later.first, later.typical
    scope, carryover, made = first.scope, first.carryover, session.calls.made
    notes = [*session.notes, *later.notes, *steady.notes]
    if not any(note.code == "lazy" for note in notes):
        notes += first.background.notes(made)
    notes += later.rewind.notes()
    is_each_set_up = session.calls.fresh or all(n == 1 for n, _ in steady.samples.batches)
    reset = {*later.rewind.changed_names, *(session.remade if is_each_set_up else ())}
    notes += check_conversions(scope, later.frameworks, reset) if made > 1 else ()
    notes += later.jobs.notes()
    if steady.samples.taken:
        unrestored = [name for name in advanced if name not in reset]
        moved = {*unrestored, *later.checkpoint.restored}
        used_up = carryover.used_up.notes(
            unrestored, sorted(moved), typical, steady.samples.per_call
        )
        notes += [note for name, note in used_up.items() if not carryover.has_exhausted(name)]
        advanced = [name for name in advanced if name not in used_up]
    notes += checks.check_state(scope, later.checkpoint, advanced, carryover, made, session.muted)
    notes += checks.check_samples(scope, later.frameworks, steady, carryover, typical)
    notes += checks.check_settings(scope, later.outputs, later.in_play)
    return notes


def summarize(
    later: LaterCalls,
    steady: Steady,
    notes: list[Note],
    compile_time: float = 0.0,
    extra: Extra = _NO_EXTRA,
) -> Measurement:
    """Return the measurement."""
    session, call, scope = later.session, later.first.call, later.first.scope
    options, samples, queued = session.options, steady.samples, steady.queued
    most = max((sample.calls for sample in samples.taken), default=0)
    # With -n the first call belongs to the first sample, which an interrupt may cut short.
    loops = max(most, 1) if options.number is None else min(most + 1, options.number)
    waits = session.calls.waiting.is_asynchronous
    compilers = [find_compiler(each, later.frameworks) for each in scope.compiled]
    may_compile = any(each is not None and not each.is_off() for each in compilers)
    may_compile &= all(note.code != "not-called" for note in notes)
    measured = Measurement(
        code=session.snippet.text,
        frameworks=scope.libraries(later.frameworks)
        | {framework.name: framework.version() for framework in later.in_play},
        first_call=(call.taken + call.left) * 1e-9,
        # Frameworks time them by elapsed time: no parts of CPU time.
        phases=dict.fromkeys(later.phases) if options.clock == "cpu" else later.phases,
        compilations=later.compilations if may_compile or later.compilations else None,
        loops=loops,
        batches=tuple(samples.batches),
        rounds=tuple(samples.rounds),
        exact=options.number is not None,
        waited=waits,
        inputs=scope.inputs,
        outputs=later.outputs,
        notes=tuple(notes),
        compile_time=compile_time,
        elapsed=steady.elapsed,
        precision=options.precision,
        clock=options.clock,
        throughputs=tuple(queued.throughputs) if queued else (),
        dispatches=tuple(steady.dispatches()) if waits else (),
        programs=later.programs,
        caches=later.caches,
        autotuned=later.autotuned,
        fresh=extra.fresh,
        cold=extra.cold,
        device=extra.device,
        energy=extra.energy,
        memory=extra.memory,
        conditions=steady.conditions,
    )
    notes = [*notes]
    if samples.taken:
        notes += checks.check_waiting(measured)
        notes += checks.check_recompiled(measured)
    if samples.taken and (extra.cold is None or extra.cold.median is None):
        per_call = measured.throughput or measured.median
        notes += check_warm_cache(later.in_play, (*scope.inputs, *later.outputs), per_call)
    notes += checks.check_device_time(measured)
    if any(verdict.leaves_no_figure(note.code) for note in notes):  # nor one of kinds, to improve
        notes = [note for note in notes if note.code not in ("calls-differ", "needs-longer")]
    measured = dataclasses.replace(measured, notes=tuple(notes))
    return break_even.add_break_even(scope, measured, later.in_play)
