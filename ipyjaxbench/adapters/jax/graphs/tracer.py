"""The graph of a call in JAX: its jaxpr, and what is counted in it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import FunctionType
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.chips import estimate
from ipyjaxbench.adapters.jax.compilation import INSPECTED, unused_key
from ipyjaxbench.adapters.jax.diagnosis import return_types
from ipyjaxbench.adapters.jax.diagnosis.compile_once import compile_once
from ipyjaxbench.adapters.jax.diagnosis.diagnose import diagnose, explain
from ipyjaxbench.adapters.jax.graphs import listing, program, tracing
from ipyjaxbench.adapters.jax.graphs.arguments import holds_itself, is_leaf
from ipyjaxbench.adapters.jax.graphs.lint import LOOKED_FOR
from ipyjaxbench.adapters.jax.graphs.numpy_to_jax import use_jax_numpy
from ipyjaxbench.adapters.jax.graphs.stages import LiveProgram
from ipyjaxbench.adapters.jax.graphs.tally import Tally
from ipyjaxbench.adapters.jax.graphs.trace_cache import count_traces
from ipyjaxbench.adapters.jax.own_work import quiet_log
from ipyjaxbench.adapters.jax.refs import is_ref
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from ipyjaxbench.adapters.shared.stale_programs import note_stale_graphs
from ipyjaxbench.adapters.shared.undo_log import SideEffects
from ipyjaxbench.errors import CODE_ERRORS, SnippetError
from ipyjaxbench.graphs import (
    Diagnosis,
    Fix,
    Graph,
    GraphOptions,
    GraphTracer,
    UntraceableError,
    Workload,
    count_by_name,
    fold_lines,
    notes,
    select_lines,
)
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.retracing import Args, CallWatch, Change, Kwargs, find_stale, is_same_trace
from ipyjaxbench.timing import note_narrowed
from ipyjaxbench.usercode import Call, is_a, is_of

_SHORT_EQUATIONS = 100  # equations up to which JAX's own text is shown
_SHORT_LINES = 120  # up to which it is shown, if it is short
_CLOCK = Clock.elapsed()


def graph(call: Call, options: GraphOptions) -> Graph | None:
    """Return what the program of a call is; None where the result is another framework's.

    Raises:
        UntraceableError: no choice of static arguments helps; it holds the diagnosis.
    """
    __tracebackhide__ = True
    stage = options.stage_of("jax")
    _refuse_cycles(call)
    _refuse_deleted(call)
    call = _with_shapes(call)
    if options.numpy:
        call = replace(call, function=use_jax_numpy(call.function))
    call = _transformed(call, options)
    start = _CLOCK.now()
    try:
        traced = tracing.trace(call)
    except tracing.NoChoiceError as failed:
        if return_types.is_of_another_framework(failed.error):
            return None
        if explanation := return_types.explain_result(call.text, failed.error):
            raise SnippetError(explanation) from None
        try:
            diagnosis = diagnose(call, failed)
        except CODE_ERRORS as error:  # an object may answer as it likes
            why = f"{call.text} does not trace, and the diagnosis failed: {type(error).__name__}"
            raise SnippetError(why) from failed.error
        raise UntraceableError(diagnosis, failed.error) from failed.error
    seconds = (_CLOCK.now() - start) * 1e-9
    now = count_traces()
    counted = Tally(traced.closed)
    live = LiveProgram(traced, options.platform)
    checked = live.checks() if options.check else ()
    expected, of_chips = (
        estimate.estimates(live, traced, options.on, options.shard) if options.on else ((), ())
    )
    jitted = program.jitted_by_user(traced.closed)
    new = tuple(name for name, source in jitted.items() if _is_new(source, traced.known, now))
    wants_compiler = options.stats or stage == "optimized"
    result = Graph(
        code=call.text,
        framework="jax",
        frameworks={"jax": jax.__version__},
        form=stage,
        program=select_lines(_text(live, options, counted.operations), options.find),
        inputs=program.values_of(traced.closed.in_avals, traced.names, traced.values),
        outputs=program.values_of(traced.closed.out_avals),
        constants=program.constants_of(traced.closed),
        operations=counted.operations,
        flops=counted.flops,
        uncounted=tuple(counted.uncounted),
        stats=count_by_name(counted.steps),
        lines=counted.lines(),
        static_argnames=traced.static,
        fixes=_fixes(call, traced),
        fixed=(*traced.untraceable, *traced.within),
        tries=traced.tries,
        seconds=seconds,
        printed=traced.printed,
        notes=(
            *_narrowed(traced),
            *_refused_by_jit(call, traced),
            *_side_effects(traced.side_effects),
            *of_chips,
            *checked,
        ),
        estimates=expected,
        compiled=live.compiled() if wants_compiler else None,
        details=options.details,
        clear=LOOKED_FOR if options.check and not checked else (),
        warm=new,
        cached=tuple(name for name in jitted if name not in new),
    )
    return result.attach(live)


def _is_new(source: str, before: Counter[str] | None, now: Counter[str] | None) -> bool:
    """Whether a function was traced in between; so it seems where JAX does not show its traces."""
    return before is None or now is None or now[source] > before[source]


def _fixes(call: Call, traced: tracing.Traced) -> tuple[Fix, ...]:
    """Return what to write in place of static arguments, if anything."""
    try:
        return compile_once(call, traced.static)
    except CODE_ERRORS:  # an object may answer as it likes
        return ()


def _text(live: LiveProgram, options: GraphOptions, operations: int) -> str:
    stage = options.stage_of("jax")
    if stage == "jaxpr":
        return _jaxpr_text(live, operations, options.depth)
    text = live.text(stage)
    return text if options.depth is None else fold_lines(text)


def _jaxpr_text(live: LiveProgram, operations: int, depth: int | None) -> str:
    """Return JAX's own form where that is short; it takes several lines for some equations."""
    if operations <= _SHORT_EQUATIONS or depth is None:
        text = live.text("jaxpr")
        if depth is None or text.count("\n") < _SHORT_LINES:
            return text
    return listing.text_of(live.program, depth)


def _refuse_cycles(call: Call) -> None:
    for name, value in call.arguments:
        try:
            is_cycle = holds_itself(value)
        except RecursionError:
            is_cycle = True
        if is_cycle:
            raise SnippetError(
                f"{name} contains itself, or is nested too deeply: pass it without that part"
            )


def _refuse_deleted(call: Call) -> None:
    """Raise for deleted arrays: they still have the shapes that tracing asks for."""
    for name, value in call.arguments:
        leaves = (leaf for leaf in trees.leaves(value) if is_a(leaf, jax.Array))
        if any(not isinstance(leaf, jax.core.Tracer) and leaf.is_deleted() for leaf in leaves):
            raise SnippetError(
                f"{name} was donated to an earlier call (donate_argnums), which deleted it: use"
                " what that call returned, or copy it first: jnp.copy(x)"
            )


def _transformed(call: Call, options: GraphOptions) -> Call:
    """Return the gradient of a call, or the call for each row of its arrays, or that of each."""
    if options.grad:  # what vmap gives is no scalar
        leaves = [[*filter(is_leaf, trees.leaves(arg))] for arg in call.args]
        data = (n for n, each in enumerate(leaves) if each)
        smooth = (n for n, each in enumerate(leaves) if any(map(_is_inexact, each)))
        argnum = next(smooth, next(data, 0))  # a random key has no gradient, nor has a Ref
        call = replace(call, function=jax.grad(call.function, argnums=argnum))
    if options.vmap:
        rows = tuple(0 if getattr(arg, "ndim", 0) else None for arg in call.args)
        call = replace(call, function=jax.vmap(call.function, in_axes=rows))
    return call


def _is_inexact(leaf: Any) -> bool:
    """Whether it is a float or a complex number, or an array of these that nothing changes."""
    return not is_ref(leaf) and bool(
        jax.numpy.issubdtype(getattr(leaf, "dtype", type(leaf)), np.inexact)
    )


def _narrowed(traced: tracing.Traced) -> Iterator[Note]:
    """Note which 64-bit NumPy values JAX narrows to 32 bits."""
    by_kind: dict[tuple[str, str], list[str]] = {}
    pairs = zip(traced.names, traced.values, traced.closed.in_avals, strict=True)
    for name, value, aval in pairs:
        if is_of(value, np.ndarray, np.generic) and value.dtype != aval.dtype:
            by_kind.setdefault((str(value.dtype), str(aval.dtype)), []).append(name)
    yield from (note_narrowed(names, *kinds) for kinds, names in by_kind.items())


def _find_stale(watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> tuple[Change, ...]:
    """Return what changed since a call's program was traced, if such a call was made."""
    try:  # to have JAX look for it would leave a key in its cache
        asked = watch.signature(function, args, kwargs)
        kept = (watch.signature(*each) for each in watch.kept.calls(function))
        has_program = any(is_same_trace(each, asked) for each in kept)
    except CODE_ERRORS:  # the user's code may raise anything
        has_program = False
    return find_stale(watch, function, args, kwargs, only_seen=not has_program)


def _with_stale(failed: UntraceableError, told: Sequence[Note]) -> UntraceableError:
    """Return the error with what calls run all the same, if they find a program."""
    if not told:
        return failed
    stale = told[0]
    kept = stale.text.partition(". ")[2].replace(" another program, which", " a program that")
    diagnosis = replace(failed.diagnosis, because=f"{failed.diagnosis.because} {kept}")
    if not diagnosis.fixes and not diagnosis.advice:
        advice = stale.advice[:1].upper() + stale.advice[1:]
        diagnosis = replace(diagnosis, advice=f"{advice}.")
    return UntraceableError(diagnosis, failed.error)


def _with_shapes(call: Call) -> Call:
    return call.with_arrays(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype))


def _refused_by_jit(call: Call, traced: tracing.Traced) -> Iterator[Note]:
    """Find what a jitted function would not take as it is, or is compiled for at each call."""
    # Other libraries' ways to jit, and methods, take trees that `jax.jit` refuses.
    if traced.within and is_of(call.function, FunctionType) and call.labels[:1] != ("self",):
        yield notes.mixed_tree(traced.within)
    fixed = {*traced.static, *traced.untraceable}
    # A number that is no number differs from itself.
    numbers = {n: v for n, v in call.arguments if n in fixed and is_of(v, float)}
    unequal = [n for n, v in numbers.items() if v != v]
    if unequal:
        yield notes.static_nan(unequal)


def _side_effects(effects: SideEffects) -> Iterator[Note]:
    """Say what the user's code changes outside of itself while it is traced."""
    yield from effects.tracer_notes()
    if effects.restored:
        yield notes.changed_while_traced(effects.restored, put_back=True)
    if effects.not_restored:
        yield notes.changed_while_traced(effects.not_restored, put_back=False)
    if effects.drawn:
        yield notes.drawn_once(effects.drawn)


class JaxTracer(GraphTracer):
    """Jaxprs, and what is lowered and compiled of them."""

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        """Return its jaxpr, or what is lowered and compiled of it: that of the code of now."""
        __tracebackhide__ = True
        stale = tuple(note_stale_graphs(JaxCallWatch(), _with_shapes(call), _find_stale))
        anew = unused_key() if stale else None
        try:
            with (anew or nullcontext)():
                result = graph(call, options)
        except UntraceableError as failed:
            raise _with_stale(failed, stale) from failed.error
        if result is None or not stale:
            INSPECTED.update(result.warm if result else ())
            return result
        told = replace(result, notes=(*stale, *result.notes), warm=(), cached=())
        return told.attach(result.live, *((anew,) if anew else ())) if result.live else told

    def workload(self, call: Call) -> Workload | None:
        """Count a call that was made before: what it runs, also where the code has changed."""
        made = graph(call, GraphOptions())
        live = None if made is None else made.live
        return None if made is None or live is None else live.workload(made.bytes)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """Explain an error from its traceback, and by tracing again what was traced."""
        with quiet_log():
            return explain(error)
