"""A pass under JAX's profiler, read back from the file that it writes."""

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.profiler

from ipyjaxbench.adapters.jax.exchanges import Exchanges
from ipyjaxbench.adapters.jax.op_sources import OpSources
from ipyjaxbench.adapters.jax.synchronization import local_devices
from ipyjaxbench.adapters.shared import xplane
from ipyjaxbench.adapters.shared.clock_marks import ClockMarks
from ipyjaxbench.host import GPU_NOT_PROFILED, PROFILER_IN_USE, summarize_error
from ipyjaxbench.timing import CompilePasses, Interval, Profile, Profiler, sum_passes

#: PyTorch's profiler keeps CUPTI once it has run.
_AFTER_TORCH = ". PyTorch's keeps it: restart the kernel and profile JAX first"
#: JAX's spans around a compilation; its threads that run Python; how much of XLA is marked.
_COMPILING, _PYTHON, _PASSES = ("backend_compile_and_load", "backend_compile"), "python", 3
_BEGIN = "the call begins"
_OF_PROGRAM = re.compile(r" \(jit_[^)]*\)$| for jit_\S+$")


class JaxProfiler(Profiler):
    """`jax.profiler`."""

    def profile(self, run: Callable[[], object], *, sources: bool = False) -> Profile:
        """Trace into a folder that is removed again."""
        __tracebackhide__ = True
        if not self.framework.started():
            return Profile(reason="nothing has been computed yet")
        if getattr(jax.profiler, "ProfileData", None) is None:
            return Profile(reason="this version cannot read profiles (jax 0.10 can)")
        mark = jax.profiler.TraceAnnotation
        read = partial(_read, sources=sources)
        found = xplane.profile(run, _start, _stop, read, _reason, mark)
        on_gpu = any(device.platform == "gpu" for device in local_devices())
        if on_gpu and not found.reason and not found.intervals:
            after = _AFTER_TORCH if "torch" in sys.modules else ""
            return Profile(reason=GPU_NOT_PROFILED + after)
        return found

    def profile_compilation(self, run: Callable[[], object]) -> CompilePasses:
        """Read what XLA marks of its passes, on the thread that compiles."""
        __tracebackhide__ = True
        if getattr(jax.profiler, "ProfileData", None) is None:
            return CompilePasses("jax", reason="this version cannot read profiles (jax 0.10 can)")
        found = xplane.profile(run, _start_passes, _stop, _read_passes, _reason)
        begin = min((each.start for each in found.intervals), default=0.0)
        spans = [each for each in found.intervals if each.operation != _BEGIN]
        if found.reason or not spans:
            reason = found.reason or "this version does not mark what XLA compiles"
            return CompilePasses("jax", reason=reason)
        return sum_passes("jax", spans, begin)


def _start_passes(folder: str) -> None:
    """Trace what the host does, as far as XLA marks it."""
    options: Any = jax.profiler.ProfileOptions()
    options.host_tracer_level = _PASSES
    options.python_tracer_level = 0
    options.enable_hlo_proto = False
    jax.profiler.start_trace(folder, profiler_options=options)


def _read_passes(folder: Path, marks: ClockMarks) -> Profile:  # noqa: ARG001
    """Return the begin of the call, and the spans of what compiles."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        lines = [line for path in folder.rglob("*.xplane.pb") for line in _lines(path)]
    windows = [e for line in lines for e in line.events if e.name in _COMPILING]
    first = min((line.events[0].start for line in lines if line.name == _PYTHON), default=0.0)
    begin = Interval(_BEGIN, first, first, xplane.HOST)
    return Profile((begin, *xplane.spans_within(lines, windows, _spell_pass)))


def _spell_pass(name: str) -> str:
    """Return a pass's name without the program's, and JAX's own span in words."""
    if name in _COMPILING:
        return "handing the program to XLA and back"
    return _OF_PROGRAM.sub("", name)


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


def _read(folder: Path, marks: ClockMarks, *, sources: bool) -> Profile:
    # jaxlib makes its types when they are first used; from Python 3.13 on that warns, and
    # where warnings are errors its C++ code ends the process (jaxlib 0.12.0.1).
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        lines = [line for path in folder.rglob("*.xplane.pb") for line in _lines(path)]
        found = xplane.operations(
            lines, xplane.hlo_operation, unseen="jit__canary",
            exchanged=Exchanges().find, source=OpSources().find if sources else xplane.nothing,
        )  # fmt: skip
        return Profile(found, offset=marks.offset(xplane.marks_in(lines)))


def _lines(path: Path) -> Iterator[xplane.Line]:
    for plane in jax.profiler.ProfileData.from_file(str(path)).planes:
        for line in plane.lines if xplane.may_hold_operations(plane.name) else ():
            events = [
                xplane.Event(e.name, e.start_ns, e.start_ns + e.duration_ns, dict(e.stats))
                for e in line.events
            ]
            yield xplane.Line(plane.name, line.name, events)
