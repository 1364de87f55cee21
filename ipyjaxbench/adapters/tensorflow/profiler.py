"""A pass under TensorFlow's profiler, read back from the file that it writes."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared import xplane
from ipyjaxbench.adapters.shared.stderr import without_lines
from ipyjaxbench.host import PROFILER_IN_USE, summarize_error
from ipyjaxbench.timing import Profile, Profiler

_EAGER = "EagerLocalExecute: "
#: What the profiler says of itself; the level from which it does is read once, at the import.
_LOGGED = re.compile(rb"I\d{4} .*\b(profiler_session|save_profile)\.cc:\d+\]")


_NODE = re.compile(r"[^:\s]+:(\w+)")  # an operation of a graph, as "matmul:MatMul"


class TensorFlowProfiler(Profiler):
    """`tf.profiler`."""

    def profile(self, run: Callable[[], object]) -> Profile:
        """Trace into a folder that is removed again."""
        if not self.framework.started():
            return Profile(reason="nothing was computed yet")
        try:
            from tensorflow.tsl.profiler.protobuf import xplane_pb2
        except ImportError:
            return Profile(reason="this version does not read profiles")
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                with without_lines(_LOGGED):
                    tf.profiler.experimental.start(folder)
            except tf.errors.AlreadyExistsError:
                return Profile(reason=PROFILER_IN_USE)
            except Exception as error:  # noqa: BLE001  a driver that does not let itself be profiled
                return Profile(reason=summarize_error(error))
            failed = ""
            try:
                run()
            finally:
                failed = _stopped()
            return Profile(reason=failed) if failed else _read(Path(folder), xplane_pb2.XSpace)


def _stopped() -> str:
    """End the trace; why that failed, in words."""
    try:
        with without_lines(_LOGGED):
            tf.profiler.experimental.stop()
    except Exception as error:  # noqa: BLE001
        return summarize_error(error)
    return ""


def _read(folder: Path, space: Callable[[], Any]) -> Profile:
    try:
        lines = []
        for path in folder.rglob("*.xplane.pb"):
            profile = space()
            profile.ParseFromString(path.read_bytes())
            lines += [line for plane in profile.planes for line in _lines(plane)]
        return Profile(xplane.operations(lines, _naming(lines)))
    except Exception as error:  # noqa: BLE001  a format that moved
        return Profile(reason=summarize_error(error))


def _lines(plane: Any) -> Iterator[xplane.Line]:
    """A plane's lines with names and statistics looked up; times are in picoseconds there."""
    names, keys = plane.event_metadata, plane.stat_metadata

    def value(stat: Any) -> object:
        kind = stat.WhichOneof("value")
        return keys[stat.ref_value].name if kind == "ref_value" else getattr(stat, kind)

    def event(e: Any, origin: int) -> xplane.Event:
        stats = {keys[s.metadata_id].name: value(s) for s in e.stats}
        start = origin + e.offset_ps / 1e3
        return xplane.Event(names[e.metadata_id].name, start, start + e.duration_ps / 1e3, stats)

    for line in plane.lines if xplane.told(plane.name) else ():
        # From the first line's moment on: nanoseconds since 1970 and their parts fill no float.
        origin = line.timestamp_ns - plane.lines[0].timestamp_ns
        yield xplane.Line(plane.name, line.name, [event(e, origin) for e in line.events])


def _naming(lines: Sequence[xplane.Line]) -> Callable[[xplane.Event], str | None]:
    """Tells operations from what waits for them: eager calls of functions, and executors."""
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
