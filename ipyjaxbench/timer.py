"""Times a snippet: drain, first call, warm-up, rounds, stop. The whole flow, top to bottom."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from textwrap import shorten
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from ipyjaxbench import notes, sampling, stats
from ipyjaxbench.calls import Calls
from ipyjaxbench.clock import Clock
from ipyjaxbench.frameworks import Framework, Wait, loaded
from ipyjaxbench.measurement import Measurement
from ipyjaxbench.muted import Muted
from ipyjaxbench.notes import Note
from ipyjaxbench.options import TimeOptions
from ipyjaxbench.sampling import Samples
from ipyjaxbench.scene import Scene, placements
from ipyjaxbench.snippet import Snippet
from ipyjaxbench.state import Changes, Donated, Snapshot, all_alive
from ipyjaxbench.transfers import copies_made
from ipyjaxbench.waiting import Drain, each, waiter_of

_CLOCKS = {"elapsed": Clock.elapsed, "calendar": Clock.calendar, "cpu": Clock.cpu}
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_REPEAT = 7  # what %timeit takes when only -n is given
_TOLD_WAIT_NS = 1_000_000
_CERTAIN_NS = 50_000  # one reading alone may be off by that much
_TOLD_RATIO = 1.5
_SLOW = 0.1  # of the budget: calls this slow are not spent on warming up alone


def time_snippet(
    snippet: Snippet,
    options: TimeOptions,
    *,
    setup: Snippet | None = None,
    clock: Clock | None = None,
    muted: Muted | None = None,
    compile_time: float = 0.0,
) -> Measurement:
    """Time a snippet in its namespace, and leave the namespace as one run would have.

    Args:
        snippet: the code.
        options: how often and how long.
        setup: code to run, untimed, before the first call and before each sample.
        clock: to read; by default the one that the options name.
        muted: keeps what later calls print from being shown.
        compile_time: seconds that Python's compilation of the code took.

    Returns:
        The measurement.

    Raises:
        BaseException: whatever the first call raised; names and random state are then as before.
    """
    __tracebackhide__ = True
    clock = clock or _CLOCKS[options.clock]()
    muted = muted or Muted()
    frameworks, broken = loaded()
    said = [notes.not_usable(name, reason) for name, reason in broken.items()]
    said += [notes.unknown_part(f.name, gap) for f in frameworks for gap in f.gaps]
    drain = Drain(frameworks, clock)
    if drain.waited > _TOLD_WAIT_NS:
        said.append(notes.earlier_work(drain.waited * 1e-9))
    bound = [*snippet.binds, *(setup.binds if setup else ())]
    before = Snapshot(snippet.names, bound, frameworks, later=False)

    with ExitStack() as stack:
        try:
            calls = Calls(snippet, setup, clock, drain)
            calls.set_up()
            scene = Scene(snippet, frameworks)
            donated = Donated(snippet, scene.values, scene.functions, frameworks)
            calls.watches = [stack.enter_context(f.watch(scene.compiled)) for f in frameworks]
            first = calls.first()
        except BaseException:
            before.restore(frameworks)
            raise
        start = clock.wall()
        phases = {name: s for w in calls.watches for name, s in w.phases().items()}
        compilations = calls.compilations()
        frameworks, _ = loaded()  # the first call may have imported or started one
        # What is pending is compared with the work, not with the compilation before it.
        typical = max(first.taken - int(sum(s or 0.0 for s in phases.values()) * 1e9), 0)
        pending = calls.drain.pending([(typical, first.drained)])
        total, typical = first.taken + pending, typical + pending
        calls.drain = Drain(frameworks, clock)
        after = Snapshot(snippet.names, bound, frameworks, later=True)

        results = {name: snippet.names[name] for name in snippet.binds if name in snippet.names}
        outputs = placements({"": first.value, **results}, frameworks)
        changes = Changes(snippet, scene.values, frameworks)
        calls.fresh = setup is not None and not changes.certain.isdisjoint(setup.binds)
        lost = donated.keep_lost()
        calls.renew = donated.renew if lost else None
        plan = _plan(first.value, results, frameworks)
        plan.pending = pending if pending > _CERTAIN_NS else 0
        plan.kept = _resets(snippet, setup, scene.values, frameworks)
        said += _seen(snippet, scene, lost)
        said += copies_made(snippet.statements, scene.inputs, outputs)
        samples = Samples()
        del first, results  # a result that is held makes the next call slower
        try:
            with _gc_paused(), muted:
                _later_calls(calls, samples, options, plan, typical, said)
        finally:
            calls.drain()
            donated.restore()
            given_away = after.restore(frameworks)
        said += _afterwards(calls, [*changes.found(), *given_away], muted)
        settled = list(_settle_compilations(calls, samples, phases))
        said += settled
        if not any(note.code == "recompiles" for note in settled):
            said += _worth_waiting(samples, plan)

    return Measurement(
        code=snippet.text,
        frameworks={f.name: f.version() for f in scene.in_play(frameworks, outputs)},
        first_call=total * 1e-9,
        phases=phases,
        compilations=compilations if scene.compiled or compilations else None,
        loops=options.number or max((number for number, _ in samples.batches), default=1),
        batches=tuple(samples.batches),
        rounds=tuple(samples.rounds),
        exact=options.number is not None,
        waited=plan.wait is not None,
        inputs=scene.inputs,
        outputs=outputs,
        notes=tuple(said),
        compile_time=compile_time,
        elapsed=(clock.wall() - start) * 1e-9,
        precision=options.precision,
    )


@dataclass
class _Plan:
    """How later calls are made.

    Attributes:
        wait: waits for what is handed to it; None if there is nothing to wait for.
        value: whether the value of the last expression is handed over.
        names: names that are handed over.
        kept: names that are set back before each call, with their values.
        pending: nanoseconds of work that the first call had left running when it came back.
    """

    wait: Wait | None
    value: bool
    names: tuple[str, ...]
    kept: dict[str, Any] = field(default_factory=dict)
    pending: int = 0


def _plan(value: object, results: Mapping[str, object], frameworks: Sequence[Framework]) -> _Plan:
    """Wait for the value and for the names bound, each in the cheapest way, where it has to be."""
    of_value = waiter_of(value, frameworks)
    of_names = {n: wait for n, v in results.items() if (wait := waiter_of(v, frameworks))}
    waits = [*([of_value] if of_value else []), *of_names.values()]
    return _Plan(each(waits) if waits else None, of_value is not None, tuple(of_names))


def _resets(
    snippet: Snippet,
    setup: Snippet | None,
    values: Mapping[str, object],
    frameworks: Sequence[Framework],
) -> dict[str, Any]:
    """Names that each call must find as the first one did: those of ``x = f(x)``.

    Without that ``x = concatenate([x, x])`` grows until memory ends. What was donated cannot be
    set back, and what the set-up binds is set by it.
    """
    theirs = setup.binds if setup else ()
    return {
        name: values[name]
        for name in snippet.carried
        if name in values and name not in theirs and all_alive(values[name], frameworks)
    }


def _later_calls(
    calls: Calls,
    samples: Samples,
    options: TimeOptions,
    plan: _Plan,
    typical: int,
    said: list[Note],
) -> None:
    """All calls after the first; what ends them early is said."""
    __tracebackhide__ = True
    _arrange(calls, plan)
    try:
        _take_samples(calls, samples, options, plan, typical, said)
    except KeyboardInterrupt:
        said.append(notes.interrupted())
    # Whatever the user's code raises: its first call succeeded, and that is a result.
    except Exception as error:  # noqa: BLE001
        shown = _quoted(error)
        once = calls.made == 2
        said.append(notes.runs_once(shown) if once else notes.stopped_by_error(calls.made, shown))
    while samples.rounds and not samples.rounds[-1]:
        samples.rounds.pop()
    if not samples.batches:
        samples.adopt_probes()


def _take_samples(
    calls: Calls,
    samples: Samples,
    options: TimeOptions,
    plan: _Plan,
    typical: int,
    said: list[Note],
) -> None:
    __tracebackhide__ = True
    budget = int(options.budget * 1e9)
    deadline = calls.clock.wall() + budget
    if options.number is not None:
        if plan.wait is None and plan.pending:  # there are no calls to look at it closely
            said.append(_wait_for_all(calls, plan, plan.pending))
        sampling.exactly(calls, samples, options.number, options.repeat or _REPEAT, made=1)
        return
    if options.repeat is None and typical > budget:
        said.append(notes.over_budget(typical * 1e-9))
        return
    sampling.warm_up(calls, samples, deadline)
    said += _learn(calls, samples, plan)
    number = sampling.calls_per_sample(calls, samples)
    if options.repeat is not None:
        sampling.exactly(calls, samples, number, options.repeat)
        return
    if typical > _SLOW * budget:
        samples.adopt_probes()
    sampling.until_steady(calls, samples, number, deadline)


def _quoted(error: Exception) -> str:
    first, *_ = str(error).splitlines() or [""]
    return shorten(f"{type(error).__name__}: {first}".rstrip(".: "), 140, placeholder=" …")


def _arrange(calls: Calls, plan: _Plan) -> None:
    calls.arrange(plan.wait, value=plan.value, names=plan.names, kept=plan.kept)


def _learn(calls: Calls, samples: Samples, plan: _Plan) -> Iterator[Note]:
    """Whether the warm-up showed work that the value does not show."""
    settled = samples.probes[1:] or samples.probes
    pending = calls.drain.pending([(probe.waited, probe.drained) for probe in settled])
    if pending:
        yield _wait_for_all(calls, plan, pending)


def _wait_for_all(calls: Calls, plan: _Plan, pending: int) -> Note:
    plan.wait = _then(plan.wait, calls.drain)
    _arrange(calls, plan)
    return notes.elsewhere(pending * 1e-9)


def _worth_waiting(samples: Samples, plan: _Plan) -> Iterator[Note]:
    """What a clock that does not wait would have read."""
    settled = samples.probes[1:] or samples.probes
    if plan.wait is None or not settled or not samples.batches:
        return
    returned = stats.median([probe.returned for probe in settled])
    waited = stats.median([taken / number for number, taken in samples.batches])
    if waited > _TOLD_RATIO * returned > 0:
        yield notes.unsynchronised(returned * 1e-9, waited / returned)


def _then(wait: Wait | None, drain: Drain) -> Wait:
    def wait_and_drain(value: Any) -> None:
        if wait is not None:
            wait(value)
        drain()

    return wait_and_drain


@contextmanager
def _gc_paused() -> Iterator[None]:
    """No garbage collection in samples, as in `timeit`; as before at the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _seen(snippet: Snippet, scene: Scene, lost: list[str]) -> Iterator[Note]:
    name = snippet.bare_name()
    named = scene.values.get(name) if name else None
    if name and (issubclass(type(named), _FUNCTIONS) or any(named is f for f in scene.compiled)):
        yield notes.not_called(name)
    if lost:
        yield notes.fresh_copies(lost)


def _afterwards(calls: Calls, advanced: list[str], muted: Muted) -> Iterator[Note]:
    if advanced and calls.made > 1:
        yield notes.state_advanced(list(dict.fromkeys(advanced)), calls.made)
    if muted.writes:
        yield notes.output_hidden(muted.writes)


def _settle_compilations(
    calls: Calls, samples: Samples, first: Mapping[str, float | None]
) -> Iterator[Note]:
    """Leave samples with a compilation out, unless that is what the code does every time."""
    late = sum(samples.compiled)
    if 2 * late > len(samples.compiled):
        spent = sum(s or 0.0 for watch in calls.watches for s in watch.phases().values())
        spent -= sum(s or 0.0 for s in first.values())
        yield notes.recompiles(late, len(samples.compiled), spent / max(calls.made - 1, 1))
    elif late:
        samples.leave_out_compiled()
        yield notes.compiled_late(late)
