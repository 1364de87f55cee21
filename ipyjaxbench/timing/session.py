"""One snippet that is timed: its first call, how the others are made, and what is put back."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.frameworks import (
    LEAST_SECONDS,
    Autotuned,
    CacheUse,
    Checkpoint,
    Compilation,
    CopyBudget,
    Framework,
    OtherWriters,
    Placement,
    Program,
    Scope,
    find_placements,
    forget_failures,
    loaded,
)
from ipyjaxbench.host import CLOCKS, Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.call_times import First, is_held
from ipyjaxbench.timing.hidden_work import HiddenWork
from ipyjaxbench.timing.in_place_changes import Changes
from ipyjaxbench.timing.isolation import Donated, Snapshot, all_alive, find_rebound_names
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.pending_jobs import PendingJobs
from ipyjaxbench.timing.rewind import Rewind
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.validity import checks, setting_notes
from ipyjaxbench.timing.validity.background_work import Background
from ipyjaxbench.timing.validity.carryover_effects import CarryoverEffects
from ipyjaxbench.timing.validity.host_copies import converted_arrays
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.timing.written_files import WrittenFiles
from ipyjaxbench.usercode import (
    Muted,
    Snippet,
    catches_errors,
    describe_error,
    strip_our_frames,
)

_MIN_REPORTED_WAIT_NS = 1_000_000
#: A call that awaits may wait for what only another one brings: after so many seconds, or so many
#: times as long as the first one took, it is given up.
_PATIENCE, _PATIENCE_RATIO = 10.0, 10


@dataclass(frozen=True)
class Session:
    """One snippet to time, with what all of its calls share."""

    snippet: Snippet  # the code
    options: TimeOptions  # how often and how long
    setup: Snippet | None  # code to run, untimed, before the first call and before each sample
    muted: Muted  # keeps what later calls print from being shown
    frameworks: list[Framework]  # those that are imported and can be used
    calls: Calls  # makes the calls
    watching: ExitStack  # open while calls are made; frameworks report in it what they compile
    notes: tuple[Note, ...]  # what to know before the first call
    arms: int  # how many are compared; 1 of one alone

    def limit_calls(self, seconds: float | None) -> None:
        """Give up calls that await and take longer than so many seconds; None waits for ever."""
        for part in (self.snippet, self.setup):
            if part is not None:
                part.patience = seconds

    @property
    def remade(self) -> tuple[str, ...]:
        """Names that the set-up binds before each sample."""
        return tuple(self.setup.binds) if self.setup else ()


@dataclass(frozen=True)
class FirstRun:
    """The first call, and what was remembered before it."""

    call: First  # what it took and gave
    scope: Scope  # the code and what it can reach
    bound: tuple[str, ...]  # names that the code, the set-up and the user's functions bind
    carryover: CarryoverEffects  # looks at what calls leave to the calls after them
    donated: Donated  # copies of the arguments that each call gives away
    found_state: Checkpoint | None  # the state that the call found; None where that is not kept
    background: Background  # threads and processes that the call started
    files: WrittenFiles  # files that the call wrote
    writers: OtherWriters  # threads and tasks that may change the same objects


@dataclass(frozen=True)
class LaterCalls:
    """How the calls after the first one are made, and what they are measured against."""

    session: Session  # the snippet
    first: FirstRun  # the first call, without its value: later calls need the memory
    frameworks: list[Framework]  # as in `Session`, with those that the first call has imported
    in_play: list[Framework]  # the frameworks that the code uses
    outputs: tuple[Placement, ...]  # where the values live that the first call gave
    phases: dict[str, float | None]  # parts of the first call by name
    programs: tuple[Program, ...]  # what was compiled, loaded or traced in it
    compilations: int  # how many programs were compiled in it
    caches: tuple[CacheUse, ...]  # what caches on disk make of these
    autotuned: tuple[Autotuned, ...]  # what compilers ran candidates of, as far as they count
    typical: int  # nanoseconds that a call will take, as far as the first one shows
    jobs: PendingJobs  # what calls leave to others to do
    rewind: Rewind  # has calls start from the state that the first one found
    changes: Changes  # shows what later calls change in place
    snapshot: Snapshot  # names and random states as the first call left them
    checkpoint: Checkpoint  # objects as the first call left them
    notes: tuple[Note, ...]  # what the first call has shown


def open_session(
    snippet: Snippet,
    options: TimeOptions,
    *,
    setup: Snippet | None = None,
    clock: Clock | None = None,
    muted: Muted | None = None,
    arms: int = 1,
) -> Session:
    """Wait for earlier work, and prepare to make calls, of one of several arms or of one alone."""
    clock = clock or CLOCKS[options.clock]()
    frameworks, broken = loaded()
    shown = [setting_notes.not_usable(name, why) for name, why in broken.items()]
    shown += [setting_notes.unknown_part(f.name, gap) for f in frameworks for gap in f.gaps]
    drain = Drain(frameworks, clock)
    if drain.waited > _MIN_REPORTED_WAIT_NS:
        shown.append(notes.earlier_work(drain.waited * 1e-9))
    if failure := drain.take_failure():
        shown.append(notes.earlier_failed(describe_error(failure)))
    calls = Calls(snippet, setup, clock, drain, lambda: loaded()[0])
    muted = muted or Muted()
    session = Session(
        snippet, options, setup, muted, frameworks, calls, ExitStack(), tuple(shown),
        arms,
    )  # fmt: skip
    session.limit_calls(None)  # the first call: nothing tells how long it takes
    return session


def make_first_call(session: Session, *, donate_copies: bool = False) -> FirstRun:
    """Run the set-up and make the first call; if it raises, all is as before.

    With ``donate_copies`` it gives away copies where the code gives its arguments away.
    """
    __tracebackhide__ = True
    snippet, calls, frameworks = session.snippet, session.calls, session.frameworks
    writers = OtherWriters(frameworks, snippet.names)
    bound = [n for n in (*snippet.binds, *session.remade) if n not in writers.binds]
    before = Snapshot(snippet.names, bound, frameworks, later=False)
    try:
        calls.set_up()
        scope = Scope(snippet, frameworks)
        rebound = find_rebound_names(scope.functions, snippet.names)
        bound += [n for n in rebound if n not in writers.binds]
        carryover = CarryoverEffects(scope, frameworks, session.remade)
        donated = Donated(snippet, scope.read_values, scope.functions, frameworks)
        if donate_copies:
            donated.donate_copies()
        found = _found_state(session, scope, writers) if not donated.is_possible else None
        _watch_compiling(session, scope, frameworks)  # not what copies take
        background, files = Background(calls.clock), WrittenFiles(scope)
        first = calls.first(_holders(session, scope))
        background.inspect_first_call()
        files.inspect_first_call()
        found = None if files.has_removed else found
        return FirstRun(
            first, scope, tuple(bound), carryover, donated, found, background, files, writers
        )
    except BaseException as error:
        before.restore(frameworks)
        if isinstance(error, Exception):
            forget_failures(frameworks)
        # What fails while it is waited for is raised in the user's line.
        error.__traceback__ = strip_our_frames(error.__traceback__) or error.__traceback__
        raise


def _watch_compiling(session: Session, scope: Scope, frameworks: Iterable[Framework]) -> None:
    """Count from now on what these compile."""
    watches = (f.capability(Compilation).watch(scope.compiled) for f in frameworks)
    new = [session.watching.enter_context(watch) for watch in watches]
    session.calls.watches = [*session.calls.watches, *new]


def _holders(session: Session, scope: Scope) -> Sequence[Framework]:
    """Return whose results are held that the code drops; none of code that may know they failed."""
    return () if any(map(catches_errors, scope.codes)) else session.frameworks


def _found_state(session: Session, scope: Scope, writers: OtherWriters) -> Checkpoint | None:
    """Keep what the first call will find, as far as that is cheap."""
    if not session.options.restore:
        return None
    values = {n: v for n, v in scope.read_values.items() if n not in session.remade} | scope.called
    snippet = session.snippet
    return Checkpoint.from_values(values, session.frameworks, snippet.names, snippet.codes, writers)


def plan_calls(session: Session, first: FirstRun) -> LaterCalls:
    """Decide from the first call how later calls are made, and remember what it left."""
    snippet, options, calls = session.snippet, session.options, session.calls
    call, scope, donated, remade = first.call, first.scope, first.donated, session.remade
    phases = {name: s for watch in calls.watches for name, s in watch.phases().items()}
    programs = tuple(program for watch in calls.watches for program in watch.programs())
    compilations = calls.compilations()
    caches = (use for watch in calls.watches for use in watch.cache_uses())
    warm = [name for watch in calls.watches for name in watch.inspected()]
    shown = [notes.looked_at(warm)] if warm else []
    frameworks, _ = loaded()  # the first call may have imported or started one
    _watch_compiling(session, scope, [f for f in frameworks if f not in session.frameworks])
    compiling = int(sum(s or 0.0 for s in phases.values()) * 1e9)
    typical = max(call.taken - compiling, 0) + call.left
    session.limit_calls(max(_PATIENCE, options.seconds, _PATIENCE_RATIO * call.taken * 1e-9))
    snapshot = Snapshot(
        snippet.names, first.bound, frameworks, later=True, any_name=scope.may_bind_any_name
    )

    results = {name: snippet.names[name] for name in snippet.binds if name in snippet.names}
    outputs = find_placements({"": call.value, **results}, frameworks)
    in_play = scope.find_frameworks(frameworks, outputs)
    _drain_only(in_play, session, frameworks)
    changes = Changes(scope, frameworks)
    used_once = {*changes.certain, *converted_arrays(scope, frameworks)}
    calls.fresh = not used_once.isdisjoint(remade)
    lost = donated.forget_unused()
    calls.before_each = donated.refresh if lost else None
    waiting = Waiting.for_results(call.value, results, frameworks)
    if jobs := PendingJobs(call.value, results, first.background):
        waiting = jobs.collect(waiting)
        session = dataclasses.replace(session, options=jobs.limit(options))
    calls.arrange(waiting, kept=_values_to_reset(first, frameworks))
    shown += checks.check_first_call(scope, outputs, lost, frameworks, remade)
    shown += checks.check_value(call.value, snippet.text)
    shown += checks.check_assigned_value(snippet.statements, results)
    first.carryover.inspect_first_call(call.value, held=is_held(call), compiled=bool(compilations))
    return LaterCalls(
        session=session,
        first=dataclasses.replace(first, call=call._replace(value=None)),
        frameworks=frameworks,
        in_play=in_play,
        outputs=outputs,
        phases=phases,
        programs=programs,
        compilations=compilations,
        caches=tuple(use for use in caches if use.seconds >= LEAST_SECONDS),
        autotuned=tuple(tuned for watch in calls.watches for tuned in watch.autotuned()),
        typical=typical,
        jobs=jobs,
        rewind=Rewind(first.found_state, typical),
        changes=changes,
        snapshot=snapshot,
        checkpoint=Checkpoint(
            {**scope.read_values, **scope.called, **scope.captured, **results},
            frameworks,
            snippet.names,
            snippet.codes,
            budget=CopyBudget(
                math.inf if options.restore else 0,
                gives_away=donated.is_possible,
                arms=session.arms,
            ),
            writers=first.writers,
        ),
        notes=tuple(shown),
    )


def _values_to_reset(first: FirstRun, frameworks: Sequence[Framework]) -> dict[str, Any]:
    """Return the values of names that each call must find as the first one did: of ``x = f(x)``.

    Without that ``x = concatenate([x, x])`` grows until memory ends. What was donated cannot be
    set back, and what another thread binds, too, is not.
    """
    values, theirs = first.scope.read_values, first.writers.binds
    carried = [n for n in first.scope.snippet.carried if n in values and n not in theirs]
    return {name: values[name] for name in carried if all_alive(values[name], frameworks)}


def _drain_only(in_play: list[Framework], session: Session, frameworks: list[Framework]) -> None:
    """Wait for the devices of those frameworks alone that the code uses, as far as is known.

    What is known of code has gaps: a function may import what it uses when it is called. So
    others are asked, too, where asking takes no clock; they are waited for if they do work.
    """
    calls = session.calls
    everyone = Drain(frameworks, calls.clock)
    asked = [f for f in frameworks if f in in_play or f.is_running() is not None]
    calls.drain = everyone if session.setup else Drain(in_play, calls.clock)
    calls.hidden = HiddenWork(Drain(asked, calls.clock))
