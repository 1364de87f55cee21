"""A pass under JAX's profiler, read back from the file that it writes."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.profiler

from ipyjaxbench.adapters.shared import xplane
from ipyjaxbench.host import PROFILER_IN_USE, summarize_error
from ipyjaxbench.timing import Interval, Profile, Profiler


class JaxProfiler(Profiler):
    """`jax.profiler`."""

    def profile(self, run: Callable[[], object]) -> Profile:
        """Trace into a folder that is removed again."""
        __tracebackhide__ = True
        if not self.framework.started():
            return Profile(reason="nothing has been computed yet")
        if getattr(jax.profiler, "ProfileData", None) is None:
            return Profile(reason="this version cannot read profiles (jax 0.10 can)")
        return xplane.profile(run, _start, _stop, _read, _reason)


def _start(folder: str) -> None:
    """Trace devices alone."""
    options: Any = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.enable_hlo_proto = False
    jax.profiler.start_trace(folder, profiler_options=options)


def _reason(error: Exception) -> str:
    taken = "already been started" in str(error) or "nother profiling session" in str(error)
    return PROFILER_IN_USE if taken else summarize_error(error)


def _stop() -> None:
    try:
        jax.profiler.stop_trace()
    except Exception:  # the file cannot be written, or a server has the profiler
        _forget_trace()
        raise


def _forget_trace() -> None:
    """Forget a trace that JAX would go on to call running, so that the user could start none.

    Private, since nothing public ends a trace whose file cannot be written.
    """
    try:
        from jax._src import profiler

        profiler._profile_state.reset()
    except (ImportError, AttributeError):  # it moved
        return


def _read(folder: Path) -> tuple[Interval, ...]:
    # jaxlib makes its types when they are first used; from Python 3.13 on that warns, and
    # where warnings are errors its C++ code ends the process (jaxlib 0.12.0.1).
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        lines = [line for path in folder.rglob("*.xplane.pb") for line in _lines(path)]
        return xplane.operations(lines, xplane.hlo_operation, unseen="jit__canary")


def _lines(path: Path) -> Iterator[xplane.Line]:
    for plane in jax.profiler.ProfileData.from_file(str(path)).planes:
        for line in plane.lines if xplane.may_hold_operations(plane.name) else ():
            events = [
                xplane.Event(e.name, e.start_ns, e.start_ns + e.duration_ns, dict(e.stats))
                for e in line.events
            ]
            yield xplane.Line(plane.name, line.name, events)
