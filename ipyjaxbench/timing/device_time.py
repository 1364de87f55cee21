"""What profilers saw of the devices: busy time, launches, and operations by their own time.

Pure arithmetic on intervals. A moment in which two things run counts once as busy; an operation
inside of another is taken out of the outer one's own time.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from ipyjaxbench.record_types import NonNegativeFloat, PositiveInt

MAX_SHOWN_OPERATIONS = 10  # in a report; where there are more, fusion.1 and fusion.2 become one
_MAX_OPERATIONS = 50
_NUMBERED = re.compile(r"(\.\d+)+$")


class Exchanged(NamedTuple):
    """What one collective exchanges."""

    kind: str  # as XLA calls it: "all-reduce"
    nbytes: int  # as nccl-tests counts: of a buffer, or of all participants' parts together
    of_all: bool  # whether all participants of the job are known to take part


class SourceLine(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int
    function: str  # that it stands in; "" outside of functions


class Interval(NamedTuple):
    """One operation on one device."""

    operation: str  # its name, as the framework gives it
    start: float  # nanoseconds on the profiler's clock
    end: float  # nanoseconds on the same clock
    device: str  # such as "gpu:0"
    line: str = ""  # a stream or thread of it, where one thing runs at a time, or inside of another
    exchanged: Exchanged | None = None  # of a collective, where it is known
    aside: bool = False  # whether it runs on another stream than the default one
    source: SourceLine | None = None  # the user's line that it comes from, where it is known


@dataclass(frozen=True)
class Profile:
    """What one framework's profiler saw."""

    intervals: tuple[Interval, ...] = ()  # what ran on its devices
    reason: str = ""  # why that is not told, in words; empty where it is
    replayed: bool = False  # whether graphs of operations were launched, each at once
    offset: float | None = None  # what its times lack to those of our clock; None if unknown


@dataclass(frozen=True)
class Operation:
    """All runs of one operation in a profiled pass."""

    name: str  # as the framework gives it
    count: PositiveInt  # how often it ran
    seconds: NonNegativeFloat  # its own time, without that of operations inside of it


@dataclass(frozen=True)
class ProfiledPass:
    """Calls that were made under one framework's profiler; no sample is among them."""

    framework: str  # whose profiler
    calls: PositiveInt  # how many calls
    elapsed: NonNegativeFloat  # seconds on the wall that they took
    busy: NonNegativeFloat  # seconds in which something ran on any device
    devices: dict[str, NonNegativeFloat]  # the same for each device
    launches: int  # how many operations ran
    # seconds of all operations together; above `busy` where they ran side by side
    worked: NonNegativeFloat
    operations: tuple[Operation, ...]  # those that took longest, the longest first
    aside: NonNegativeFloat = 0.0  # seconds in which something ran on side streams alone
    replayed: bool = False  # whether operations were launched as graphs

    @property
    def share(self) -> float:
        """The part of the time in which something ran, at most 1."""
        return min(self.busy / self.elapsed, 1.0) if self.elapsed else 0.0

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if sum(operation.count for operation in self.operations) > self.launches:
            return "the operations of a profiled pass are more than ran"
        if any(s > self.busy * 1.001 for s in self.devices.values()):
            return "one device was busy for longer than all of them"
        return None


@dataclass(frozen=True)
class DeviceTime:
    """How long devices were busy, seen in profiled passes apart from the samples."""

    passes: tuple[ProfiledPass, ...] = ()  # one for each framework whose profiler told something
    # why it is not told, for each framework that could not tell it
    reasons: dict[str, str] = field(default_factory=dict)
    listed: bool = False  # whether the report lists the operations

    @property
    def busy(self) -> float | None:
        """Seconds per call in which a device was busy; None if unknown."""
        if not self.passes:
            return None
        return math.fsum(seen.busy / seen.calls for seen in self.passes)

    def check(self) -> str | None:
        """Why these facts cannot be true, in words; None where they can."""
        return next((wrong for seen in self.passes if (wrong := seen.check())), None)


def union(intervals: Iterable[Interval]) -> float:
    """Return the nanoseconds in which at least one of them runs.

    >>> union([Interval("a", 0, 3, "gpu:0"), Interval("b", 2, 5, "gpu:0")])
    5.0
    """
    total, reached = 0.0, -math.inf
    for start, end in sorted((i.start, i.end) for i in intervals):
        total += max(end - max(start, reached), 0.0)
        reached = max(reached, end)
    return total


def own_times(intervals: Iterable[Interval]) -> list[tuple[Interval, float]]:
    """Return each interval with its nanoseconds less those of what runs inside on its line."""
    of_line = attrgetter("device", "line")
    ordered = sorted(intervals, key=lambda i: (*of_line(i), i.start, -i.end))
    times: list[tuple[Interval, float]] = []
    for _, line in groupby(ordered, key=of_line):
        own: list[tuple[Interval, float]] = []
        outer: list[int] = []  # indices of those that have not ended
        for interval in line:
            while outer and own[outer[-1]][0].end <= interval.start:
                outer.pop()
            if outer:
                parent, left = own[outer[-1]]
                inside = min(interval.end, parent.end) - interval.start
                own[outer[-1]] = (parent, left - inside)
            outer.append(len(own))
            own.append((interval, interval.end - interval.start))
        times += own
    return times


def profiled_pass(
    framework: str,
    calls: int,
    elapsed: float,
    profiles: Sequence[Sequence[Interval]],
    *,
    replayed: bool = False,
) -> ProfiledPass:
    """Sum up the intervals of each session of a profiler; each session has a clock of its own."""
    devices = sorted({i.device for intervals in profiles for i in intervals})
    busy = {
        device: sum(union(i for i in session if i.device == device) for session in profiles) / 1e9
        for device in devices
    }
    own = [pair for intervals in profiles for pair in own_times(intervals)]
    names = {interval.operation for interval, _ in own}
    operations = sum_by_name(own, together=len(names) > MAX_SHOWN_OPERATIONS)
    return ProfiledPass(
        framework=framework,
        calls=calls,
        elapsed=elapsed,
        busy=math.fsum(map(union, profiles)) / 1e9,
        devices=busy,
        launches=len(own),
        worked=math.fsum(ns for _, ns in own) / 1e9,
        operations=tuple(operations[:_MAX_OPERATIONS]),
        aside=math.fsum(map(_aside, profiles)) / 1e9,
        replayed=replayed,
    )


def _aside(intervals: Sequence[Interval]) -> float:
    """Return the nanoseconds in which nothing runs on default streams, but on others."""
    return union(intervals) - union(each for each in intervals if not each.aside)


def sum_by_name(own: Iterable[tuple[Interval, float]], *, together: bool) -> list[Operation]:
    """Sum up by name; ``together`` takes the numbers off that only tell names apart."""
    count, spent = Counter[str](), defaultdict[str, float](float)
    for interval, ns in own:
        name = interval.operation
        if together:
            name = _NUMBERED.sub("", name) or name
        count[name] += 1
        spent[name] += ns
    operations = [Operation(name, count[name], spent[name] / 1e9) for name in count]
    return sorted(operations, key=lambda operation: -operation.seconds)
