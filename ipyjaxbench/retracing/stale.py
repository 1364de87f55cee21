"""Finds programs that were traced with other values than the names have now."""

from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing.cache_key import Change, changes_since
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs
from ipyjaxbench.retracing.trace_log import TRACE_LOG

_MOST_SHOWN = 5


def find_stale(watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> tuple[Change, ...]:
    """Return what changed since the program of a cached call was traced, and would change it.

    That is nothing where a trace of today gives the same program, where what was read then is not
    known, and where looking raises.
    """
    try:
        code = watch.traced_code(function, args, kwargs)
        before = code and TRACE_LOG.reads(watch.signature(function, args, kwargs))
        now = code.reads() if code is not None and before is not None else None
        if code is None or before is None or now is None:
            return ()
        found = tuple(changes_since(watch.name(function), before, now))
        return found[:_MOST_SHOWN] if found and code.is_another_program() is not False else ()
    except CODE_ERRORS:  # the user's objects may raise anything
        return ()
