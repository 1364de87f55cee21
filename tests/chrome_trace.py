"""A strict reader of the Chrome trace format: it refuses what Perfetto would drop or guess."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

_NUMBERS = {"pid", "tid", "ts", "dur"}
_SLICE = {"ph", "name", *_NUMBERS}
_NAMES = {"process_name", "thread_name", "process_sort_index", "thread_sort_index"}


class Slice(NamedTuple):
    """One slice, in nanoseconds."""

    process: str
    track: str
    name: str
    begun: int
    ended: int
    args: dict[str, Any]

    @property
    def ns(self) -> int:
        """How long it is."""
        return self.ended - self.begun


def read(path: Path) -> list[Slice]:
    """All slices of a file; ValueError where anything in it is not as the format has it."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    trace = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_twins)
    if trace["displayTimeUnit"] not in ("ms", "ns"):
        raise ValueError("a unit that is none")
    return _read_events(trace["traceEvents"])


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError(f"a key stands twice: {pairs}")
    return dict(pairs)


def _read_events(events: list[dict[str, Any]]) -> list[Slice]:
    names: dict[tuple[int, int], str] = {}
    found: list[tuple[int, int, dict[str, Any]]] = []
    for event in events:
        if event["ph"] == "M":
            _check_name(event)
            if event["name"] in ("process_name", "thread_name"):
                if (event["pid"], event["tid"]) in names:
                    raise ValueError(f"a track is named twice: {event}")
                names[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X":
            _check_slice(event)
            found.append((event["pid"], event["tid"], event))
        else:
            raise ValueError(f"neither a slice nor a name: {event}")
    slices, tracks = [], defaultdict(list)
    for process, thread, event in found:
        begun = round(event["ts"] * 1e3)
        ended = begun + round(event["dur"] * 1e3)
        own = (names[process, 0], names[process, thread], event["name"], begun, ended)
        slices.append(Slice(*own, event.get("args", {})))
        tracks[process, thread].append((begun, ended))
    for track, spans in tracks.items():
        _check_nesting(names[track], spans)
    return slices


def _check_name(event: dict[str, Any]) -> None:
    if event["name"] not in _NAMES or set(event) != {"ph", "name", "pid", "tid", "args"}:
        raise ValueError(f"a name that the format has not: {event}")
    key = "name" if event["name"].endswith("_name") else "sort_index"
    if set(event["args"]) != {key}:
        raise ValueError(f"a name without its value: {event}")


def _check_slice(event: dict[str, Any]) -> None:
    if set(event) - {"args"} != _SLICE or not isinstance(event["name"], str) or not event["name"]:
        raise ValueError(f"a slice that lacks something: {event}")
    numbers = {key: event[key] for key in _NUMBERS}
    if any(type(n) not in (int, float) or n < 0 for n in numbers.values()):
        raise ValueError(f"a slice with a time before the first: {event}")


def _check_nesting(track: str, spans: list[tuple[int, int]]) -> None:
    """Refuse slices that lie over each other in part: Perfetto drops one of them."""
    ends: list[int] = []
    for begun, ended in sorted(spans, key=lambda span: (span[0], -span[1])):
        while ends and ends[-1] <= begun:
            ends.pop()
        if ends and ended > ends[-1]:
            raise ValueError(f"{track}: slices lie over each other in part")
        ends.append(ended)
