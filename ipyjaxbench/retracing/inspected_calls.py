"""Calls that are none of compiled functions, and find traces: `f.lower`, `jax.jvp`, loops."""

import threading
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

from ipyjaxbench.retracing.call_rows import Callee
from ipyjaxbench.retracing.kept_bodies import KeptBodies, StaleBody
from ipyjaxbench.retracing.protocol import Args, Kwargs, Watches
from ipyjaxbench.retracing.stale import find_stale
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.usercode import Site, ask


class InspectedCalls:
    """Has such calls looked at once they were made: a trace that is stale is recorded.

    Args:
        inside: marks a thread whose calls are none of the cell's.
        add_cached: records a call of a compiled function that found its trace.
        add_body: records a body that is stale.
    """

    def __init__(
        self,
        inside: threading.local,
        add_cached: Callable[[Callee, int, Args, Kwargs], None],
        add_body: Callable[[Callee, StaleBody], None],
    ) -> None:
        self._inside, self._add_cached, self._add_body = inside, add_cached, add_body
        self._bodies = KeptBodies()

    def look_after(self, watches: Watches, site: Site, function: Any) -> Any:
        """Return a function that is looked at after its call; any other one as it is."""
        for framework, watch in watches:
            if type(function) is MethodType and (inner := watch.inspected(function)) is not None:
                callee = Callee(framework, watch, site, inner)
                return partial(self._call, function, partial(self._look_at_trace, callee))
            if ask(watch.applies, function):
                return partial(self._apply, Callee(framework, watch, site, function))
            if ask(watch.keeps_bodies, function):
                callee = Callee(framework, watch, site, function)
                return partial(self._call, function, partial(self._look_at_bodies, callee))
        return function

    def _call(
        self, function: Any, look: Callable[[Args, Kwargs], None], /, *args: Any, **kwargs: Any
    ) -> Any:
        __tracebackhide__ = True
        value = function(*args, **kwargs)
        self._inside.call = True  # what is traced aside makes no calls of the cell
        try:
            look(args, kwargs)
        finally:
            self._inside.call = False
        return value

    def _apply(self, callee: Callee, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        events = TRACE_LOG.event_count
        value = callee.function(*args, **kwargs)
        call = callee.watch.applied(callee.function, args)
        if call is not None and TRACE_LOG.event_count == events:  # what was traced is reported
            self._add_cached(callee._replace(function=call[0]), 0, *call[1:])
        return value

    def _look_at_trace(self, callee: Callee, args: Args, kwargs: Kwargs) -> None:
        if find_stale(callee.watch, callee.function, args, kwargs):
            self._add_cached(callee, 0, args, kwargs)

    def _look_at_bodies(self, callee: Callee, args: Args, kwargs: Kwargs) -> None:
        for body in self._bodies.find(callee.watch, callee.function, args, kwargs):
            self._add_body(callee, body)

    def close(self) -> None:
        """Hold nothing any more."""
        self._bodies.close()
