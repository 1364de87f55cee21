"""Finds programs that were traced with other values than the names have now."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.retracing.cache_key import Change, changes_since, is_same_trace
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs, call_watches
from ipyjaxbench.retracing.trace_log import TRACE_LOG, Trace
from ipyjaxbench.usercode import Reads, ask

_MOST_SHOWN = 5


def find_stale(watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> tuple[Change, ...]:
    """Return what changed since the program of a cached call was traced; nothing if not known."""
    try:
        signature = watch.signature(function, args, kwargs)
        traces = TRACE_LOG.traces(signature.function)
        alike = (each for each in traces if is_same_trace(each.signature, signature))
        others = (each for each in traces if each.code.serves(function, args, kwargs))
        trace = next(alike, None) or next(others, None)
        return () if trace is None else changes_in(trace, function)
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()


def changes_in(trace: Trace, compiled: Any) -> tuple[Change, ...]:
    """Return what a traced function read then and finds changed now.

    That is nothing where tracing it now does not give another program, as far as that is known:
    what changed may be no part of it.
    """
    now = trace.code.reads()
    if now is None:
        return ()
    found = tuple(changes_since(trace.name, trace.reads, now))
    if not found or not _is_another_program(trace, found, now, compiled):
        return ()
    return found[:_MOST_SHOWN]


def _is_another_program(
    trace: Trace, found: Sequence[Change], now: Reads, compiled: Any
) -> bool | None:
    """Ask once for each of what the names stood for: it takes another trace."""
    values = (now.values.get(change.path) for change in found)
    key = hash((*(change.path for change in found), *(v and v.content for v in values)))
    if key not in trace.answers:
        trace.answers[key] = trace.code.is_another_program(compiled)
    return trace.answers[key]


def find_stale_functions(names: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """Yield names of compiled functions whose latest program is stale, each with what changed."""
    watches = [watch for _, watch in call_watches(loaded()[0])]
    for name, value in [*names.items()]:
        watch = next((each for each in watches if ask(each.takes, value)), None)
        changes = stale_since_latest(watch, value) if watch is not None else ()
        if changes:
            yield name, changes


def stale_since_latest(watch: CallWatch, compiled: Any) -> tuple[Change, ...]:
    """Return what changed since a function was traced last, whatever it is called with."""
    try:
        traces = TRACE_LOG.traces(watch.signature(compiled, (), {}).function)
        return changes_in(traces[0], compiled) if traces else ()
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()
