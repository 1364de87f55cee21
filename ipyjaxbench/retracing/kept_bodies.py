"""Bodies of loops that run outside of compiled functions, whose traces a framework keeps."""

from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing.cache_key import Change
from ipyjaxbench.retracing.protocol import Args, CallWatch, Invocation, KeptBody, Kwargs
from ipyjaxbench.retracing.trace_log import TRACE_LOG


class StaleBody(NamedTuple):
    """A body that runs with other values than its code has now, and what to type."""

    name: str
    change: Change
    fix: str


class KeptBodies:
    """Looks at the bodies of loops in a piece of code; at one again where what it reads changes."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[StaleBody, ...]] = {}

    def find(self, watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> list[StaleBody]:
        """Return the stale bodies of a call that was made."""
        call = function, args, kwargs
        try:
            with TRACE_LOG.paused():
                bodies = [*watch.bodies(function, args, kwargs)]
                return [found for each in bodies for found in self._look(watch, each, call)]
        except CODE_ERRORS:  # the user's objects may raise anything
            return []

    def _look(self, watch: CallWatch, body: KeptBody, call: Invocation) -> tuple[StaleBody, ...]:
        values = body.reads.values.items()
        read = hash((body.reads.own, *((path, each.content) for path, each in values)))
        key = id(body.function), read
        if key not in self._known:
            change = watch.stale_body(body, *call)
            stale = change and StaleBody(body.name, change, watch.how_to_renew_body(body))
            self._known[key] = (stale,) if stale else ()
        return self._known[key]

    def close(self) -> None:
        """Hold nothing any more."""
        self._known.clear()
