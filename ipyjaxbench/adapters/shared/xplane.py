"""The XPlane format in which XLA and TensorFlow write profiles: what in it ran on a device.

A plane is a device or the host, a line of it a stream or a thread. Most of what is on the host's
lines is bookkeeping: which operations there are is the adapter's to say.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ipyjaxbench.adapters.shared.clock_marks import MARK, ClockMarks
from ipyjaxbench.host import summarize_error
from ipyjaxbench.timing import Exchanged, Interval, Profile, SourceLine

HOST = "/host:CPU"
_DEVICE = re.compile(r"/device:([A-Z]+):(\d+)")
_OPERATIONS = "XLA Ops"  # a TPU's line of them; a GPU has streams
_STREAM = "Stream"
_END = "end: "


class Event(NamedTuple):
    """Something on a line; times in nanoseconds."""

    name: str
    start: float
    end: float
    stats: Mapping[str, object]


class Line(NamedTuple):
    """A stream of a device, or a thread of the host."""

    plane: str
    name: str
    events: Sequence[Event]


def profile(
    run: Callable[[], object],
    start: Callable[[str], object],
    stop: Callable[[], object],
    read: Callable[[Path, ClockMarks], Profile],
    reason_of: Callable[[Exception], str] = summarize_error,
    mark: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> Profile:
    """Profile a run into a folder that is removed again; say why, where that fails.

    ``mark`` makes an event of the host, where the profiler has such.
    """
    __tracebackhide__ = True
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            start(folder)
        except Exception as error:  # noqa: BLE001
            return Profile(reason=reason_of(error))
        failed, marks = "", ClockMarks(mark)
        try:
            marks.make()
            run()
        finally:
            try:
                stop()
            except Exception as error:  # noqa: BLE001  the files cannot be written
                failed = reason_of(error)
        try:
            return Profile(reason=failed) if failed else read(Path(folder), marks)
        except Exception as error:  # noqa: BLE001  a format that moved
            return Profile(reason=summarize_error(error))


def may_hold_operations(plane: str) -> bool:
    """Whether a plane is a device or the host's threads."""
    return plane == HOST or _DEVICE.fullmatch(plane) is not None


def marks_in(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Return begin and end of each mark."""
    events = (event for line in lines if line.plane == HOST for event in line.events)
    return [(event.start, event.end) for event in events if event.name == MARK]


def nothing(event: Event) -> None:
    """Return None: the default of what looks something up for an event."""


def hlo_operation(event: Event) -> str | None:
    """Return the operation's name in its compiled program, where XLA on the CPU marks one."""
    return event.name if "hlo_op" in event.stats else None


def operations(
    lines: Sequence[Line],
    on_host: Callable[[Event], str | None],
    *,
    unseen: str = "",
    exchanged: Callable[[Event], Exchanged | None] = nothing,
    source: Callable[[Event], SourceLine | None] = nothing,
) -> tuple[Interval, ...]:
    """Return what ran on devices; on the host only where no other device did anything.

    Events of the host are named by ``on_host``; those of the program ``unseen`` are left out.
    What collectives exchange ``exchanged`` tells, and ``source`` the user's line of an operation.
    """
    of_devices = [
        pair for line in lines if line.plane != HOST for pair in _device_events(line, lines)
    ]
    pairs = of_devices or _host_events([line for line in lines if line.plane == HOST], on_host)
    return tuple(
        interval._replace(exchanged=exchanged(event), source=source(event))
        for interval, event in pairs
        if not unseen or event.stats.get("hlo_module") != unseen
    )


def _device_events(line: Line, lines: Sequence[Line]) -> Iterator[tuple[Interval, Event]]:
    matched = _DEVICE.fullmatch(line.plane)
    assert matched is not None
    streams = any(other.name.startswith(_STREAM) for other in lines if other.plane == line.plane)
    if line.name.startswith(_STREAM) if streams else line.name == _OPERATIONS:
        device = f"{matched[1].lower()}:{matched[2]}"
        for event in line.events:
            # A TPU's events are named by their whole text: "%fusion.3 = f32[8] fusion(...)".
            name = event.name.partition(" = ")[0].removeprefix("%")
            yield Interval(name, event.start, event.end, device, line.name), event


def _host_events(
    lines: Sequence[Line], name_of: Callable[[Event], str | None]
) -> Iterator[tuple[Interval, Event]]:
    """Yield operations; one that other threads finish goes on until one says that it has ended."""
    ends = {
        event.stats["_c"]: (event.end, index)
        for index, line in enumerate(lines)
        for event in line.events
        if event.name.startswith(_END) and "_c" in event.stats
    }
    operations = [_sorted_operations(line.events, name_of) for line in lines]
    starts = [[event.start for event, _ in of_line] for of_line in operations]
    for index, line in enumerate(lines):
        for place, (event, name) in enumerate(operations[index]):
            end = event.end
            is_loop = place + 1 < len(starts[index]) and starts[index][place + 1] < end
            if not is_loop:  # what runs inside of a loop is counted itself
                marked, thread = ends.get(event.stats.get("_p"), (end, index))
                end = max(end, min(marked, _next_start(starts[thread], end)))
            ordinal = event.stats.get("device_ordinal", 0)
            device = f"cpu:{ordinal if isinstance(ordinal, int) and ordinal > 0 else 0}"
            yield Interval(name, event.start, end, device, line.name), event


def _sorted_operations(
    events: Sequence[Event], name_of: Callable[[Event], str | None]
) -> list[tuple[Event, str]]:
    pairs = [(event, name) for event in events if (name := name_of(event)) is not None]
    return sorted(pairs, key=lambda pair: (pair[0].start, -pair[0].end))


def _next_start(starts: Sequence[float], moment: float) -> float:
    """Return when a thread began its next operation: it reports an end only after that."""
    place = bisect_left(starts, moment)
    return starts[place] if place < len(starts) else math.inf


def spans_within(
    lines: Sequence[Line], windows: Sequence[Event], rename: Callable[[str], str]
) -> Iterator[Interval]:
    """Yield stretches of a call in which a compiler ran, and what it did in each.

    A compiler works on the thread that called it, or on one of its own that the other waits for:
    that is the one with the longest event in the stretch. What other threads do meanwhile is not
    waited for by itself.
    """
    on_host = [line for line in lines if line.plane == HOST]
    for number, window in enumerate(windows):
        thread = f"{number}"
        yield Interval(rename(window.name), window.start, window.end, HOST, thread)
        inside = [[e for e in line.events if _is_within(e, window)] for line in on_host]
        longest = max(inside, key=lambda events: max((e.end - e.start for e in events), default=0))
        for event in longest:
            yield Interval(rename(event.name), event.start, event.end, HOST, thread)


def _is_within(event: Event, window: Event) -> bool:
    return event is not window and window.start <= event.start and event.end <= window.end
