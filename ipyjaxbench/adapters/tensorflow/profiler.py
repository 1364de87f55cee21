"""A pass under TensorFlow's profiler, read back from the file that it writes."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared import xplane
from ipyjaxbench.adapters.shared.clock_marks import ClockMarks
from ipyjaxbench.adapters.shared.stderr import drop_lines
from ipyjaxbench.adapters.tensorflow.compile_passes import compiling, read_passes
from ipyjaxbench.host import GPU_NOT_PROFILED, PROFILER_IN_USE, summarize_error
from ipyjaxbench.timing import CompilePasses, Profile, Profiler, sum_passes

_EAGER = "EagerLocalExecute: "
#: What the profiler says of itself; the level from which it does is read once, at the import.
_LOGGED = re.compile(rb"I\d{4} .*\b(profiler_session|save_profile)\.cc:\d+\]")
_NODE = re.compile(r"[^:\s]+:(\w+)")  # an operation of a graph, as "matmul:MatMul"


class TensorFlowProfiler(Profiler):
    """`tf.profiler`."""

    def profile(
        self,
        run: Callable[[], object],
        *,
        sources: bool = False,  # noqa: ARG002  it does not know them
    ) -> Profile:
        """Trace into a folder that is removed again."""
        __tracebackhide__ = True
        if not self.framework.started():
            return Profile(reason="nothing has been computed yet")
        try:
            from tensorflow.tsl.profiler.protobuf import xplane_pb2
        except ImportError:
            return Profile(reason="this version cannot read profiles")
        quiet = drop_lines(_LOGGED)
        start, stop = tf.profiler.experimental.start, tf.profiler.experimental.stop
        read = partial(_read, xplane_pb2.XSpace)
        mark = tf.profiler.experimental.Trace
        return xplane.profile(run, quiet(start), quiet(stop), read, _reason, mark)

    def profile_compilation(self, run: Callable[[], object]) -> CompilePasses:
        """Read what TensorFlow and XLA mark until the function runs."""
        __tracebackhide__ = True
        try:
            from tensorflow.tsl.profiler.protobuf import xplane_pb2
        except ImportError:
            return CompilePasses("tensorflow", reason="this version cannot read profiles")
        quiet = drop_lines(_LOGGED)
        stop, read = tf.profiler.experimental.stop, partial(_read_passes, xplane_pb2.XSpace)
        found = xplane.profile(run, quiet(_start_passes), quiet(stop), read, _reason)
        if found.reason:
            return CompilePasses("tensorflow", reason=found.reason)
        begin = min((each.start for each in found.intervals), default=0.0)
        passes = sum_passes("tensorflow", found.intervals, begin)
        return replace(passes, compiling=compiling(found.intervals))


def _start_passes(folder: str) -> None:
    """Trace what the host does, as far as XLA marks it."""
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=3, python_tracer_level=0, device_tracer_level=0
    )
    tf.profiler.experimental.start(folder, options=options)


def _reason(error: Exception) -> str:
    return (
        PROFILER_IN_USE
        if isinstance(error, tf.errors.AlreadyExistsError)
        else summarize_error(error)
    )


def _read(space: Callable[[], Any], folder: Path, marks: ClockMarks) -> Profile:
    spaces = _spaces(space, folder)
    lines = _lines_of(spaces)
    found = xplane.operations(lines, _name_operations(lines))
    is_refused = any("libcupti" in error for each in spaces for error in each.errors)
    if is_refused and all(each.device.startswith("cpu") for each in found):
        return Profile(reason=GPU_NOT_PROFILED)
    return Profile(
        found,
        offset=marks.offset(xplane.marks_in(lines)),
    )


def _read_passes(space: Callable[[], Any], folder: Path, marks: ClockMarks) -> Profile:  # noqa: ARG001
    return Profile(read_passes(_lines_of(_spaces(space, folder))))


def _spaces(space: Callable[[], Any], folder: Path) -> list[Any]:
    """Return the profiles in a folder."""
    profiles = []
    for path in folder.rglob("*.xplane.pb"):
        profiles.append(space())
        profiles[-1].ParseFromString(path.read_bytes())
    return profiles


def _lines_of(profiles: Sequence[Any]) -> list[xplane.Line]:
    lines = []
    for profile in profiles:
        of_file = [line for plane in profile.planes for line in plane.lines]
        # From the first moment on: nanoseconds since 1970 and their parts fill no float.
        origin = min((line.timestamp_ns for line in of_file), default=0)
        lines += [line for plane in profile.planes for line in _lines(plane, origin)]
    return lines


def _lines(plane: Any, origin: int) -> Iterator[xplane.Line]:
    """Yield a plane's lines with names and statistics looked up; it has times in picoseconds."""
    names, keys = plane.event_metadata, plane.stat_metadata

    def value(stat: Any) -> object:
        kind = stat.WhichOneof("value")
        return keys[stat.ref_value].name if kind == "ref_value" else getattr(stat, kind)

    def event(e: Any, begun: int) -> xplane.Event:
        stats = {keys[s.metadata_id].name: value(s) for s in e.stats}
        start = begun + e.offset_ps / 1e3
        return xplane.Event(names[e.metadata_id].name, start, start + e.duration_ps / 1e3, stats)

    for line in plane.lines if xplane.may_hold_operations(plane.name) else ():
        begun = line.timestamp_ns - origin
        yield xplane.Line(plane.name, line.name, [event(e, begun) for e in line.events])


def _name_operations(lines: Sequence[xplane.Line]) -> Callable[[xplane.Event], str | None]:
    """Return what tells operations from what waits for them: calls of functions, executors."""
    events = [event for line in lines for event in line.events]
    functions = {e.stats.get("eager_op") for e in events if e.stats.get("is_func")}

    def name(event: xplane.Event) -> str | None:
        if "hlo_op" in event.stats:
            return event.name
        if event.name.startswith(_EAGER):
            called = event.name.removeprefix(_EAGER)
            return None if called in functions else called
        node = _NODE.fullmatch(event.name)
        return node[1] if node is not None and node[1] not in functions else None

    return name
