"""Times a snippet: drain, first call, warm-up, rounds, stop. The whole flow, top to bottom."""

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ipyjaxbench import findings, notes, sampling
from ipyjaxbench.calls import Calls
from ipyjaxbench.clock import Clock
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.measurement import Measurement
from ipyjaxbench.muted import Muted
from ipyjaxbench.notes import Note
from ipyjaxbench.options import TimeOptions
from ipyjaxbench.plan import Plan, set_back
from ipyjaxbench.sampling import Samples
from ipyjaxbench.scene import Scene, placements
from ipyjaxbench.snippet import Snippet
from ipyjaxbench.state import Changes, Donated, Snapshot
from ipyjaxbench.waiting import Drain

_CLOCKS = {"elapsed": Clock.elapsed, "calendar": Clock.calendar, "cpu": Clock.cpu}
_REPEAT = 7  # what %timeit takes when only -n is given
_TOLD_WAIT_NS = 1_000_000
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
        changes = Changes(snippet, {**scene.reached, **scene.values}, frameworks)
        calls.fresh = setup is not None and not changes.certain.isdisjoint(setup.binds)
        lost = donated.keep_lost()
        calls.renew = donated.renew if lost else None
        kept = set_back(snippet, scene.values, frameworks)
        plan = Plan(calls, first.value, results, kept, frameworks)
        said += findings.after_first(snippet, scene, outputs, lost)
        calls.when_left = lambda left: said.extend(plan.wait_for_all(left))
        samples = Samples()
        begun = clock.wall()
        del first, results  # a result that is held makes the next call slower
        try:
            with _gc_paused(), muted:
                _later_calls(calls, samples, options, plan, typical, said)
        finally:
            elapsed = (clock.wall() - begun) * 1e-9
            calls.drain()
            donated.restore()
            advanced = [*after.restore(frameworks), *changes.found()]
        theirs = setup.binds if setup else ()  # made anew by the set-up before each sample
        advanced = [name for name in advanced if name not in theirs]
        said += findings.of_state(advanced, calls.made, muted.writes)
        said += findings.of_samples(calls, samples, phases, waited=plan.wait is not None)

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
        elapsed=elapsed,
        precision=options.precision,
    )


def _later_calls(
    calls: Calls,
    samples: Samples,
    options: TimeOptions,
    plan: Plan,
    typical: int,
    said: list[Note],
) -> None:
    """All calls after the first; what ends them early is said."""
    __tracebackhide__ = True
    try:
        _take_samples(calls, samples, options, plan, typical, said)
    except KeyboardInterrupt:
        said.append(notes.interrupted())
    # Whatever the user's code raises: its first call succeeded, and that is a result.
    except Exception as error:  # noqa: BLE001
        said.append(findings.ended_by(error, calls.made))
    while samples.rounds and not samples.rounds[-1]:
        samples.rounds.pop()
    if not samples.batches:
        samples.adopt_probes()


def _take_samples(
    calls: Calls,
    samples: Samples,
    options: TimeOptions,
    plan: Plan,
    typical: int,
    said: list[Note],
) -> None:
    __tracebackhide__ = True
    budget = int(options.budget * 1e9)
    deadline = calls.clock.wall() + budget
    if options.number is not None:
        repeat = options.repeat or _REPEAT
        sampling.exactly(
            calls, samples, options.number, repeat, lambda p: said.extend(plan.learn(p))
        )
        return
    if options.repeat is None and typical > budget:
        said.append(notes.over_budget(typical * 1e-9))
        return
    sampling.warm_up(calls, samples, deadline)
    said += plan.learn(samples.settled_probes())
    number = sampling.calls_per_sample(calls, samples)
    if options.repeat is not None:
        sampling.fixed(calls, samples, number, options.repeat)
        return
    if typical > _SLOW * budget:
        samples.adopt_probes()
    sampling.until_steady(calls, samples, number, deadline)


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
