"""What the calls showed, as Notes: after the first one, and after the last."""

import ast
import dis
import math
from collections.abc import Iterator, Mapping, Sequence
from types import CoroutineType

from ipyjaxbench import stats
from ipyjaxbench.frameworks import Checkpoint, Framework, Placement, Scope
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.known_calls import find_calls
from ipyjaxbench.timing.loop_cost import cost_per_iteration
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.protocol import Caveats
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.steady_state import Steady
from ipyjaxbench.timing.validity import compiled_work, notes as validity_notes, tracers
from ipyjaxbench.timing.validity.carryover_effects import CarryoverEffects
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from ipyjaxbench.timing.validity.deferred_values import find_deferred
from ipyjaxbench.timing.validity.host_copies import (
    check_cached_copies,
    check_copies,
    converted_arrays,
)
from ipyjaxbench.timing.validity.recompilation import check_recompilation
from ipyjaxbench.usercode import Muted, Snippet, is_users_function, package_of

_UNSYNCHRONISED_RATIO = 1.5
_WITHOUT_FIGURE = ("RECOMPILES", "INVALID")
_MIN_ASIDE = 0.05  # of the busy time, on side streams
_MIN_SAMPLES = 3  # for a Note that changes what a figure means
_MIN_CLOCK_STEPS = 20  # of what the clock can show, in a sample
_TINY_CALL_NS = 50  # of a call: from there on there is no need to ask what an empty loop costs
_EMPTY_LOOP_RATIO = 1.25
_LOADING_OPS = {"RESUME", "NOP", "LOAD_CONST", "LOAD_SMALL_INT", "LOAD_NAME", "RETURN_VALUE",
          "RETURN_CONST"}  # fmt: skip


def check_first_call(
    scope: Scope,
    outputs: Sequence[Placement],
    lost: Sequence[str],
    frameworks: Sequence[Framework],
    remade: Sequence[str],
) -> Iterator[Note]:
    """Note what the code and its first call show; ``lost`` are arguments that it gave away."""
    if named := compiled_work.find_uncalled(scope, frameworks):
        yield named
    if lost:
        yield notes.fresh_copies(lost)
    with_copies = [n for n in converted_arrays(scope, frameworks) if n not in remade]
    yield from check_copies(scope.snippet.statements, scope.inputs, outputs, with_copies)


def check_value(value: object, code: str) -> Iterator[Note]:
    """Note that the work of the first call's value is not done; close a coroutine."""
    if found := find_deferred(value):
        yield validity_notes.lazy(found.kind, found.instead_of(code))
    if type(value) is CoroutineType:
        value.close()  # or Python would warn that it was never awaited


def check_assigned_value(
    statements: Sequence[ast.stmt], results: Mapping[str, object]
) -> Iterator[Note]:
    """Note that the work of an assigned value is not done, where that is all of the code."""
    match statements:
        case [ast.Assign([ast.Name(name)], made)] if name in results:
            if found := find_deferred(results[name]):
                binds = f"{name} = " if "{}" in found.advice else ""
                yield validity_notes.lazy(found.kind, binds + found.instead_of(ast.unparse(made)))


def check_settings(
    scope: Scope, outputs: Sequence[Placement], in_play: Sequence[Framework]
) -> Iterator[Note]:
    """Note what of the settings and surroundings changes what the figure means."""
    yield from tracers.active_tracers()
    yield from tracers.environment_settings((*scope.inputs, *outputs))
    facts = CodeFacts(
        inputs=scope.inputs,
        outputs=tuple(outputs),
        statements=tuple(scope.snippet.statements),
        packages={name: package_of(value) for name, value in scope.read_values.items()},
        functions=tuple(scope.functions),
        written=tuple(f for f in scope.functions if is_users_function(f)),
        compiled=tuple(scope.compiled),
        calls=tuple(find_calls(scope)),
    )
    for framework in in_play:
        yield from framework.capability(Caveats).caveats(facts)


def check_state(
    scope: Scope,
    checkpoint: Checkpoint,
    advanced: Sequence[str],
    carryover: CarryoverEffects,
    calls_made: int,
    muted: Muted,
) -> Iterator[Note]:
    """Note what repeated calls changed that one would not have, and what they printed."""
    untrue = {*carryover.remade, *advanced}  # of what advanced at most a part was put back
    restored = [n for n in dict.fromkeys(checkpoint.restored) if n not in untrue]
    if restored and calls_made > 1:
        yield notes.put_back(restored, checkpoint.nbytes)
    if checkpoint.meanwhile and calls_made > 1:
        yield notes.changed_meanwhile(checkpoint.meanwhile)
    if checkpoint.cut and calls_made > 1:
        yield notes.not_all_kept(checkpoint.cut, restore=checkpoint.restores)
    if scope.is_cut and calls_made > 1:
        yield notes.not_all_followed()
    used_up = carryover.exhausted_iterators() if calls_made > 1 else {}
    yield from used_up.values()
    names = [n for n in dict.fromkeys(advanced) if n not in used_up and n not in carryover.remade]
    if names and calls_made > 1:
        yield notes.state_advanced(names, calls_made, restore=checkpoint.restores)
    if muted.warned:
        yield validity_notes.warned([*muted.warned])
    if muted.writes > len(muted.warned):
        yield validity_notes.output_hidden(muted.writes)


def check_samples(
    scope: Scope,
    frameworks: Sequence[Framework],
    steady: Steady,
    carryover: CarryoverEffects,
    typical: int,
) -> Iterator[Note]:
    """Note what may mislead in the samples; leave out those with a rare compilation."""
    calls, samples = steady.calls, steady.samples
    built = compiled_work.find_builder(scope, frameworks)
    reused = () if built else compiled_work.find_reused(scope, frameworks)
    recompiles = check_recompilation(calls, samples, steady.compiling, built, reused)
    yield from recompiles
    if any(note.code == "recompiles" for note in recompiles) or not samples.taken:
        return
    if compiled_work.find_uncalled(scope, frameworks):
        return
    yield from carryover.cached_values(calls.made, typical, samples.per_call)
    yield from carryover.growing_containers(calls.made, samples.seconds)
    if not steady.ended_early:
        options = steady.options
        # A number of calls goes with no budget and no aim.
        may_be_several = options.budget is None and options.aim == "usual"
        yield from _too_short(scope.snippet, calls, samples, may_be_several=may_be_several)
    seconds = samples.per_call * 1e-9
    if built:
        yield compiled_work.note_on_builder(built, scope.snippet, calls.clock, seconds)
    with Muted():
        called = compiled_work.compiled_calls(scope, frameworks)
        shown = list(compiled_work.check_work(called, seconds))
        shown += check_cached_copies(scope, carryover.remade, frameworks, seconds)
    yield from shown


def check_waiting(measured: Measurement) -> Iterator[Note]:
    """Note what a clock that does not wait would have read instead of the headline's figure."""
    if measured.verdict == "RECOMPILES" or len(measured.batches) < _MIN_SAMPLES:
        return
    returned, waited = measured.dispatch, measured.headline.value
    if returned is not None and waited > _UNSYNCHRONISED_RATIO * returned > 0:
        yield notes.unsynchronised(returned, waited / returned)


def check_device_time(measured: Measurement) -> Iterator[Note]:
    """Note what the profiled pass shows of how the work is launched."""
    passes = measured.device.passes if measured.device is not None else ()
    busy = math.fsum(each.busy for each in passes)
    aside = math.fsum(each.aside for each in passes)
    if aside > _MIN_ASIDE * busy:
        yield notes.side_streams(aside / busy)
    if any(each.replayed for each in passes):
        yield notes.replays_graph()


def check_recompiled(measured: Measurement) -> Iterator[Note]:
    """Note that what is compiled each time is not equally fast."""
    cold = measured.fresh
    if cold is not None and cold.programs_differ and measured.verdict not in _WITHOUT_FIGURE:
        later = [each.later for each in cold.recompiled]
        yield notes.recompiled_apart(len(later), min(later), max(later))


def _too_short(
    snippet: Snippet, calls: Calls, samples: Samples, *, may_be_several: bool = True
) -> Iterator[Note]:
    per_call = samples.per_call
    sample = stats.median([each.ns for each in samples.taken])
    resolution = calls.clock.resolution
    if sample < _MIN_CLOCK_STEPS * resolution:
        enough = 10 ** math.ceil(math.log10(500_000 / max(per_call, 1)))
        number = enough if may_be_several and not calls.one_by_one else None
        yield notes.below_clock(sample * 1e-9, resolution * 1e-9, number)
        return
    loop = cost_per_iteration("pass", calls.clock) if per_call < _TINY_CALL_NS else 0.0
    if 0 < per_call <= _EMPTY_LOOP_RATIO * loop:
        yield validity_notes.no_work(loop * 1e-9)
    elif _is_trivial(snippet.statements):
        yield validity_notes.no_work(None)


def _is_trivial(statements: Sequence[ast.stmt]) -> bool:
    """Whether the code is nothing but names and constants, such as ``1 + 1``."""
    rest = [statement for statement in statements if not isinstance(statement, ast.Pass)]
    return all(isinstance(each, ast.Expr) and _only_loads(each.value) for each in rest)


def _only_loads(value: ast.expr) -> bool:
    """Whether Python's compiler leaves no more of an expression than the value itself."""
    code = compile(ast.Expression(value), "<value>", "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return {step.opname for step in dis.get_instructions(code)} <= _LOADING_OPS
