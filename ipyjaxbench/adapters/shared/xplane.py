"""The XPlane format in which XLA and TensorFlow write profiles: what in it ran on a device.

A plane is a device or the host, a line of it a stream or a thread. Most of what is on the host's
lines is bookkeeping: how operations are told there is the adapter's to say.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ipyjaxbench.timing import Interval

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


def told(plane: str) -> bool:
    """Whether a plane may hold operations."""
    return plane == HOST or _DEVICE.fullmatch(plane) is not None


def hlo_operation(event: Event) -> str | None:
    """An event of XLA on the CPU marks an operation by its name in the compiled program."""
    return event.name if "hlo_op" in event.stats else None


def operations(
    lines: Sequence[Line], on_host: Callable[[Event], str | None], *, unseen: str = ""
) -> tuple[Interval, ...]:
    """What ran on devices; on the host only where no other device did anything.

    Args:
        lines: all lines of the planes that may hold operations.
        on_host: names the operation that an event of the host is; None where it is none.
        unseen: the compiled program whose operations are left out.

    Returns:
        One interval for each operation.
    """
    of_devices = [i for line in lines if line.plane != HOST for i in _on_device(line, lines)]
    found = of_devices or _on_host([line for line in lines if line.plane == HOST], on_host)
    return tuple(i for i, event in found if not unseen or event.stats.get("hlo_module") != unseen)


def _on_device(line: Line, lines: Sequence[Line]) -> Iterator[tuple[Interval, Event]]:
    matched = _DEVICE.fullmatch(line.plane)
    assert matched is not None
    streams = any(other.name.startswith(_STREAM) for other in lines if other.plane == line.plane)
    if line.name.startswith(_STREAM) if streams else line.name == _OPERATIONS:
        device = f"{matched[1].lower()}:{matched[2]}"
        for event in line.events:
            # A TPU's events are named by their whole text: "%fusion.3 = f32[8] fusion(...)".
            name = event.name.partition(" = ")[0].removeprefix("%")
            yield Interval(name, event.start, event.end, device, line.name), event


def _on_host(
    lines: Sequence[Line], named: Callable[[Event], str | None]
) -> Iterator[tuple[Interval, Event]]:
    """An operation that other threads finish goes on until one of them says that it has ended."""
    ends = {
        event.stats["_c"]: (event.end, index)
        for index, line in enumerate(lines)
        for event in line.events
        if event.name.startswith(_END) and "_c" in event.stats
    }
    found = [_named(line.events, named) for line in lines]
    starts = [[event.start for event, _ in of_line] for of_line in found]
    for index, line in enumerate(lines):
        for place, (event, name) in enumerate(found[index]):
            end = event.end
            loop = place + 1 < len(found[index]) and starts[index][place + 1] < end
            if not loop:  # what runs inside of a loop is counted itself
                told, thread = ends.get(event.stats.get("_p"), (end, index))
                end = max(end, min(told, _following(starts[thread], end)))
            ordinal = event.stats.get("device_ordinal", 0)
            device = f"cpu:{ordinal if isinstance(ordinal, int) and ordinal > 0 else 0}"
            yield Interval(name, event.start, end, device, line.name), event


def _named(
    events: Sequence[Event], named: Callable[[Event], str | None]
) -> list[tuple[Event, str]]:
    found = [(event, name) for event in events if (name := named(event)) is not None]
    return sorted(found, key=lambda pair: (pair[0].start, -pair[0].end))


def _following(starts: Sequence[float], moment: float) -> float:
    """When a thread began its next operation: it says that one has ended after the next."""
    place = bisect_left(starts, moment)
    return starts[place] if place < len(starts) else math.inf
