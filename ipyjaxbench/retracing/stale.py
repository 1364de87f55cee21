"""Finds programs that were traced with other values than the names have now."""

from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing.cache_key import Change, changes_since, is_same_trace
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs
from ipyjaxbench.retracing.trace_log import TRACE_LOG, Trace

_MOST_SHOWN = 5


def find_stale(watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> tuple[Change, ...]:
    """Return what changed since the program of a cached call was traced; nothing if not known."""
    try:
        signature = watch.signature(function, args, kwargs)
        traces = TRACE_LOG.traces(signature.function)
        found = (each for each in traces if is_same_trace(each.signature, signature))
        trace = next(found, None)
        return () if trace is None else changes_in(trace, function)
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()


def changes_in(trace: Trace, compiled: Any) -> tuple[Change, ...]:
    """Return what a traced function read then and finds changed now.

    That is nothing where tracing it now gives the same program: what changed is not part of it.
    """
    now = trace.code.reads()
    if now is None:
        return ()
    found = tuple(changes_since(trace.name, trace.reads, now))
    if not found or trace.code.is_another_program(compiled) is False:
        return ()
    return found[:_MOST_SHOWN]


def changes_of_latest(function: int, compiled: Any) -> tuple[Change, ...]:
    """Return what changed since a function was traced last, for what calls it without a watch.

    Args:
        function: the token of the function.
        compiled: the function as it is called.
    """
    traces = TRACE_LOG.traces(function)
    try:
        return changes_in(traces[0], compiled) if traces else ()
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()
