"""A timeline as events of the Chrome trace format, which Perfetto reads.

Processes are "your code" and each device, their threads are tracks. Times are in microseconds
since the first call; slices of a track lie inside of each other or apart, as the format asks.

Source: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

import linecache
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ipyjaxbench import units
from ipyjaxbench.timing.device_time import Interval, SourceLine
from ipyjaxbench.timing.perfetto.line_recorder import LineSpan
from ipyjaxbench.timing.perfetto.timeline import Stretch, TimedSession

Event = dict[str, Any]
_CODE, _LINES = "your code", "lines"
_PYTHON, _WAIT, _REST = "run Python", "wait for the result", "wait for the rest"
_MAX_NAME = 80  # letters


class _Slice(NamedTuple):
    """Something on a track, in whole nanoseconds since the first call."""

    begun: int
    ended: int
    name: str
    args: dict[str, Any]


def events_of(sessions: Sequence[TimedSession]) -> Iterator[Event]:
    """Yield the events of sessions, one after the other on one clock, with names of all tracks."""
    for number, (process, tracks) in enumerate(_tracks(sessions).items(), 1):
        yield _name(process, number, 0)
        yield {**_meta("process_sort_index", number, 0), "args": {"sort_index": number}}
        # What stands inside of another line of the code is called by it; of operations it is not.
        lanes = [
            (track, lane)
            for track, slices in tracks.items()
            for lane in _lanes(slices, nested=process == _CODE or track != _LINES)
        ]
        for thread, (track, lane) in enumerate(lanes, 1):
            yield _name(track, number, thread)
            yield {**_meta("thread_sort_index", number, thread), "args": {"sort_index": thread}}
            yield from (_event(each, number, thread) for each in lane)


def _tracks(sessions: Sequence[TimedSession]) -> dict[str, dict[str, list[_Slice]]]:
    """Return what is on each track of each process."""
    tracks: dict[str, dict[str, list[_Slice]]] = defaultdict(lambda: defaultdict(list))
    zero = min((s.begun for session in sessions for s in session.stretches), default=0)
    for session in sessions:
        for stretch in session.stretches:
            tracks[_CODE][f"phases ({session.framework})"] += _phases(stretch, zero)
            tracks[_CODE][_LINES] += (_line(span, zero) for span in stretch.lines)
        for device, track, found in _operations(session, zero):
            tracks[device][track] += found
    return tracks


def _phases(stretch: Stretch, zero: int) -> Iterator[_Slice]:
    """Yield the phases of each call, which fill the stretch without a gap."""
    reached = stretch.begun
    for number, call in enumerate(stretch.calls, 1):
        args = {"call": number}
        yield _Slice(call.begun - zero, call.returned - zero, _PYTHON, args)
        yield _Slice(call.returned - zero, call.ended - zero, _WAIT, args)
        reached = call.ended
    yield _Slice(reached - zero, stretch.ended - zero, _REST, {})


def _line(span: LineSpan, zero: int) -> _Slice:
    name, args = _source(SourceLine(*span[:3]))
    return _Slice(span.begun - zero, span.ended - zero, name, args)


def _source(source: SourceLine) -> tuple[str, dict[str, Any]]:
    """Return the text of a line, and where it stands: a file without its folders, or a cell."""
    text = linecache.getline(source.file, source.line).strip()
    file = os.path.basename(source.file) if os.path.exists(source.file) else "cell"
    where = f"{file}, line {source.line}"
    args = {"at": where, "in": source.function} if source.function else {"at": where}
    return units.cut(text or where, _MAX_NAME), args


def _operations(session: TimedSession, zero: int) -> Iterator[tuple[str, str, list[_Slice]]]:
    """Yield devices with tracks: the operations of each line, and the user's lines of them."""
    of_track: dict[tuple[str, str], list[Interval]] = defaultdict(list)
    for interval in session.intervals:
        of_track[interval.device, interval.line].append(interval)
    offset, note = session.offset, ""
    if offset is None:  # a picture with a wrong moment would mislead: it says so
        first = min((i.start for i in session.intervals), default=0.0)
        offset, note = session.stretches[0].begun - first, ", moment not known"
    for (device, line), intervals in of_track.items():
        shift = offset - zero
        process = f"{device} ({session.framework}{note})"
        if lines := [*_merged(sorted(intervals, key=lambda i: (i.start, -i.end)), shift)]:
            yield process, _LINES, lines
        yield process, _name_line(device, line), [_operation(each, shift) for each in intervals]


def _name_line(device: str, line: str) -> str:
    """Return the name of a thread or a stream; PyTorch has numbers alone."""
    if line.isdecimal():
        return f"thread {line}" if device.startswith("cpu") else f"stream {line}"
    return line or "operations"


def _operation(interval: Interval, shift: float) -> _Slice:
    args = _source(interval.source)[1] if interval.source else {}
    begun, ended = round(interval.start + shift), round(interval.end + shift)
    return _Slice(begun, ended, interval.operation, args)


def _merged(intervals: Iterable[Interval], shift: float) -> Iterator[_Slice]:
    """Yield the user's line of each outermost operation; of several in a row, one slice."""
    merged: list[tuple[SourceLine, float, float]] = []
    reached, last = float("-inf"), None
    for each in intervals:
        if each.start < reached:
            continue  # inside of another operation
        if each.source is not None and each.source == last:
            merged[-1] = (each.source, merged[-1][1], each.end)
        elif each.source is not None:
            merged.append((each.source, each.start, each.end))
        reached, last = each.end, each.source
    for source, start, end in merged:
        yield _Slice(round(start + shift), round(end + shift), *_source(source))


def _lanes(slices: Iterable[_Slice], *, nested: bool) -> list[list[_Slice]]:
    """Share slices out to as few tracks as hold them apart or, where they may be so, nested."""
    lanes: list[tuple[list[_Slice], list[int]]] = []  # with ends of slices that go on
    for each in sorted(slices, key=lambda s: (s.begun, -s.ended)):
        for _, ends in lanes:
            while ends and ends[-1] <= each.begun:
                ends.pop()
        free = (lane for lane in lanes if not lane[1] or (nested and each.ended <= lane[1][-1]))
        chosen = next(free, None)
        if chosen is None:
            chosen = [], []
            lanes.append(chosen)
        chosen[0].append(each)
        chosen[1].append(each.ended)
    return [slices for slices, _ in lanes]


def _event(each: _Slice, process: int, thread: int) -> Event:
    event = {
        "ph": "X", "name": each.name, "pid": process, "tid": thread,
        "ts": each.begun / 1e3, "dur": (each.ended - each.begun) / 1e3,
    }  # fmt: skip
    return {**event, "args": each.args} if each.args else event


def _meta(kind: str, process: int, thread: int) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread}


def _name(name: str, process: int, thread: int) -> Event:
    kind = "thread_name" if thread else "process_name"
    return {**_meta(kind, process, thread), "args": {"name": name}}
