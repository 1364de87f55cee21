"""Finds programs that were traced with other values than the names have now."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.retracing.cache_key import Change, describe_changes
from ipyjaxbench.retracing.causes import is_same_owner, is_same_trace
from ipyjaxbench.retracing.kept_trace import Trace
from ipyjaxbench.retracing.needed_changes import needed_changes, without_hidden
from ipyjaxbench.retracing.program_answers import (
    is_another_for_call,
    is_another_program,
    is_unsure,
    key_of,
)
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs
from ipyjaxbench.retracing.read_changes import PartChange, changes_since
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.retracing.unseen_traces import (
    changes_unseen,
    first_of,
    judge_unseen,
    not_compared,
    roots_of,
)
from ipyjaxbench.usercode import Reads, ask, unwrap

_DERIVATIVES = {"grad", "jvp"}
_MOST_SHOWN = 5
_MOST_TRACES = 20  # of one function, where a call is not known


def find_stale(
    watch: CallWatch, function: Any, args: Args, kwargs: Kwargs, *, only_seen: bool = False
) -> tuple[Change, ...]:
    """Return what changed since the program of a cached call was traced; nothing if not known.

    With `only_seen` no program is asked for whose trace was not seen.
    """
    try:
        if watch.is_guarded:
            return watch.unguarded(function, args, kwargs)
        trace, code = _find_trace(watch, function, args, kwargs)
        if trace is None and only_seen:
            return ()
        if trace is None:
            return changes_unseen(watch, function, args, kwargs)
        return _all_changes(watch, trace, function, code)
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()


def find_possible(
    watch: CallWatch, function: Any, args: Args, kwargs: Kwargs
) -> tuple[tuple[Change, ...], bool]:
    """Return what changed since the program that a call would find was traced; nothing is traced.

    Also whether it is known already, by an earlier call, that the program is another one for that.
    """
    try:
        trace, code = _find_trace(watch, function, args, kwargs)
        now = None if trace is None else (code or trace.code).reads()
        if trace is None or now is None:
            return (), False
        found = without_hidden([*changes_since(trace.name, trace.reads, now)])[:_MOST_SHOWN]
    except CODE_ERRORS:  # the user's objects may raise anything
        return (), False
    is_known = (key := key_of(trace, now)) in trace.answers
    return (found, is_known) if not is_known or trace.answers[key] else ((), False)


def find_unknown(watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> str:
    """Return what is not known of the program of a cached call, and what to type; else ""."""
    name = watch.name(function)
    again = watch.how_to_define_again(function)
    again = again[:1].upper() + again[1:]
    trace, now, is_derived = None, Reads(raised=True), False
    try:
        if watch.is_guarded:
            return watch.unknown(function)  # `find_stale` comes before
        trace, code = _find_trace(watch, function, args, kwargs)
        words = watch.signature(function, args, kwargs).transformation.split(" of ")
        is_derived = not _DERIVATIVES.isdisjoint(words)
        if code is not None and code.unknown:
            return f"whether {name} {code.unknown}. {again}"
        now = (code.reads() if code is not None else None) or Reads()
    except CODE_ERRORS:  # the user's objects may raise anything, and change meanwhile
        pass
    if now.raised:
        return f"what {name} reads raises an error when it is looked at. {again}"
    if now.is_hidden:
        return f"whether {name} runs today's values: it gives eval or exec a text made elsewhere"
    if not now.paths:
        return ""
    if trace is None and judge_unseen(watch, function, args, kwargs)[0] is None:
        names = first_of(roots_of(now))
        return f"whether {name} runs today's {names}: its trace was not seen. {again}"
    return "" if trace is None else _unknown_of(trace, now, function, again, is_derived=is_derived)


def _unknown_of(trace: Trace, now: Reads, compiled: Any, again: str, *, is_derived: bool) -> str:
    """Return the same of a program whose trace was seen."""
    name = trace.name
    changed = first_of([each.path for each in changes_since(name, trace.reads, now) if each.path])
    if is_unsure(trace, now):
        return f"whether {name} runs today's {changed}: its programs cannot be compared. {again}"
    if changed and is_derived and trace.code.has_rules:
        return f"whether {name} differentiates with today's {changed}: its rules are kept. {again}"
    if assigned := "" if changed else first_of(_assigned_by(trace, now, compiled)):
        return (
            f"whether {name} is to run with another {assigned}: tracing it assigns {assigned}."
            f" Pass {assigned} to {name} as an argument, and assign it outside"
        )
    return "; ".join(not_compared(name, trace.reads))


def _assigned_by(trace: Trace, now: Reads, compiled: Any) -> tuple[str, ...]:
    """Return the names that a trace itself assigned, where the next one is another for that."""
    try:
        names = trace.code.assigned
        is_another = names and is_another_program(trace, now, compiled, if_unsure=False)
        return names if is_another else ()
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()


def _find_trace(
    watch: CallWatch, function: Any, args: Args, kwargs: Kwargs
) -> tuple[Trace | None, TracedCode | None]:
    """Return the trace that serves a call, if it was seen, and the call's own code."""
    signature = watch.signature(function, args, kwargs)
    traces = [each for each in TRACE_LOG.traces(signature.function) if not each.code.is_dropped()]
    alike = (each for each in traces if is_same_trace(each.signature, signature))
    others = (each for each in traces if each.code.serves(function, args, kwargs))
    trace = next(alike, None) or next(others, None)
    code = watch.traced_code(function, args, kwargs)
    if trace is not None and code is not None and code.is_one_of_several:
        now = code.reads() or Reads()
        changed = (each for each in traces if any(changes_since(each.name, each.reads, now)))
        trace = next((each for each in changed if each.code.serves(function, args, kwargs)), trace)
    return trace, code


def changes_in(
    trace: Trace, compiled: Any, now: Reads | None, code: TracedCode | None = None
) -> tuple[Change, ...]:
    """Return what a traced function read then and finds changed now.

    That is nothing unless tracing it now is known to give another program: a program need not
    contain what changed.

    Args:
        trace: the trace.
        compiled: the function as it is called.
        now: what it reads now; None where that is not known.
        code: of the call, if it may have other objects than the trace, which are equal to these.
    """
    if now is None:
        return ()
    found = tuple(changes_since(trace.name, trace.reads, now))
    if not found:
        return ()
    may_be_equal = all(each.imprint == "opaque" for each in found)
    is_another = is_another_program(trace, now, compiled, if_unsure=None if may_be_equal else True)
    if is_another is False and code is not None:  # with its own objects it may be another one
        is_another = is_another_for_call(trace, now, compiled, code)
    arrays = (each for each in found if each.imprint == "array" and trace.code.holds_arrays)
    if not is_another and not any(a.is_same_object for a in arrays):
        return ()
    key = key_of(trace, now)
    if key not in trace.needed:
        trace.needed[key] = needed_changes(trace, found, now)
    return trace.needed[key][:_MOST_SHOWN]


def _all_changes(
    watch: CallWatch, trace: Trace, compiled: Any, code: TracedCode | None = None
) -> tuple[Change, ...]:
    """Return what changed since a trace, or what of its parts was traced before that."""
    now = (code or trace.code).reads()  # once: that takes the most time, of a look after each cell
    found = changes_in(trace, compiled, now, code) or _changes_within(watch, trace, compiled, now)
    return found or _changes_kept(watch, trace, compiled, now or Reads())


def _changes_within(
    watch: CallWatch, trace: Trace, compiled: Any, now: Reads | None
) -> tuple[Change, ...]:
    """Return that a compiled function which it calls was stale by then: it is part of its program.

    A framework finds that one's trace, too, when it traces the code around it anew.
    """
    for inner, changes in stale_parts(watch, compiled):
        if now and is_another_program(trace, now, compiled, if_unsure=None):
            why = f"{watch.name(inner)} in it was stale by then: {describe_changes(changes)}"
            return (PartChange("stale", new=why, renew=watch.how_to_define_again(compiled, "`")),)
    return ()


def stale_parts(watch: CallWatch, compiled: Any) -> Iterator[tuple[Any, tuple[Change, ...]]]:
    """Yield the compiled functions that one can call whose programs are stale, and why."""
    for inner in find_reach([unwrap(compiled)], loaded()[0]).functions:
        changes = stale_in_all(watch, inner) if ask(watch.takes, inner) else ()
        if changes and watch.token(inner) != watch.token(compiled):
            yield inner, changes


def _changes_kept(watch: CallWatch, trace: Trace, compiled: Any, now: Reads) -> tuple[Change, ...]:
    """Return that a part of it was traced with other values, for another trace than its own.

    What `jax.lax.scan` and `jax.checkpoint` trace of a function is found again in the next one.
    """
    for other in TRACE_LOG.all_traces():
        before = {} if other is trace else now.found_otherwise(other.reads)
        if not before:
            continue
        changes = [*changes_since(other.name, Reads(before, now.own), now)]
        is_kept = changes and not other.code.is_dropped()
        if is_kept and is_another_program(trace, now, compiled, if_unsure=None):
            why = f"it holds a part that was traced before: {describe_changes(changes)}"
            return (PartChange("stale", new=why, renew=watch.how_to_drop_all),)
    # One that was traced outside of compiled functions nobody saw.
    if watch.may_hold_kept(compiled) and is_another_program(trace, now, compiled, if_unsure=None):
        why = "it holds a part that was traced before, with other values"
        return (PartChange("stale", new=why, renew=watch.how_to_drop_all),)
    return ()


def stale_since_latest(watch: CallWatch, compiled: Any) -> tuple[Change, ...]:
    """Return what changed since a function was traced last, whatever it is called with."""
    try:
        if watch.is_guarded:
            return watch.unguarded_in_latest(compiled)
        for latest in _kept_traces(watch, compiled):
            return _all_changes(watch, latest, compiled)
        return _stale_in_kept(watch, compiled, [])
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()


def stale_in_all(watch: CallWatch, compiled: Any) -> tuple[Change, ...]:
    """Return what changed since any trace of a function: then it is stale however it is called.

    Traces that were not seen count, as far as the framework tells which programs it keeps.
    """
    try:
        return _stale_in_kept(watch, compiled, _kept_traces(watch, compiled))
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()


def _stale_in_kept(watch: CallWatch, compiled: Any, traces: list[Trace]) -> tuple[Change, ...]:
    calls = watch.kept.calls(compiled)
    if max(len(traces), len(calls)) > _MOST_TRACES:
        return ()
    of_traces = (changes_in(each, compiled, each.code.reads()) for each in traces)
    of_calls = (find_stale(watch, *call) for call in calls)
    first: tuple[Change, ...] = ()
    for changes in chain(of_traces, of_calls):
        if not changes:  # to hold the others against today's code, which takes long, tells no more
            return ()
        first = first or changes
    return first


def _kept_traces(watch: CallWatch, compiled: Any) -> list[Trace]:
    """Return the traces of a function that were seen and are still in use, the latest first.

    Of a method those of its object.
    """
    traces = TRACE_LOG.traces(watch.token(compiled))
    kept = [each for each in traces if not each.code.is_dropped()]
    if watch.owner(compiled) is None or not kept:
        return kept
    bound = watch.signature(compiled, (), {})
    return [each for each in kept if is_same_owner(each.signature, bound)]
