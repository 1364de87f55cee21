"""A timeline made by hand as events, read by a strict reader of the format."""

import json
from pathlib import Path

import pytest

from ipyjaxbench.timing.device_time import Interval, SourceLine
from ipyjaxbench.timing.perfetto.events import events_of
from ipyjaxbench.timing.perfetto.line_recorder import LineSpan
from ipyjaxbench.timing.perfetto.timeline import CallSpan, Stretch, TimedSession
from tests.chrome_trace import Slice, read


def session(
    *intervals: Interval,
    lines: tuple[LineSpan, ...] = (),
    offset: float | None = 0.0,
    begun: int = 5_000,
) -> TimedSession:
    """Two calls from 5 µs to 9 µs, and half a microsecond of what they left running."""
    calls = (
        CallSpan(begun, begun + 500, begun + 2_000),
        CallSpan(begun + 2_000, begun + 2_500, begun + 4_000),
    )
    stretch = Stretch(begun, calls, begun + 4_500, lines, "")
    return TimedSession("jax", (stretch,), intervals, offset)


def slices(tmp_path: Path, *sessions: TimedSession) -> list[Slice]:
    """What the strict reader finds in them."""
    path = tmp_path / "a.json"
    events = list(events_of(sessions))
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    return read(path)


def test_phases_fill_the_pass_from_zero_on(tmp_path: Path) -> None:
    found = slices(tmp_path, session())
    assert [(s.track, s.name, s.begun, s.ended) for s in found] == [
        ("phases (jax)", "run Python", 0, 500),
        ("phases (jax)", "wait for the result", 500, 2_000),
        ("phases (jax)", "run Python", 2_000, 2_500),
        ("phases (jax)", "wait for the result", 2_500, 4_000),
        ("phases (jax)", "wait for the rest", 4_000, 4_500),
    ]
    assert sum(s.ns for s in found) == 4_500


def test_operations_are_moved_to_our_clock(tmp_path: Path) -> None:
    dot = Interval("dot", 100, 300, "gpu:0", "7")
    found = slices(tmp_path, session(dot, offset=5_600.0), session(begun=50_000))
    assert [s[:5] for s in found if s.name == "dot"] == [
        ("gpu:0 (jax)", "stream 7", "dot", 700, 900)
    ]
    # Sessions follow each other on one clock.
    assert (min(s.begun for s in found), max(s.ended for s in found)) == (0, 49_500)
    on_cpu = slices(tmp_path, session(dot._replace(device="cpu:0"), offset=None))
    (unknown,) = (s for s in on_cpu if s.name == "dot")
    assert (unknown.process, unknown.track) == ("cpu:0 (jax, moment not known)", "thread 7")
    assert list(events_of([])) == []


def test_the_readers_refusal_of_such_is_real(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    events = list(events_of([session(Interval("a", 5_000, 5_100, "cpu:0", "t"))]))
    operation = events[-1]
    assert operation["name"] == "a"
    events.append({**operation, "ts": operation["ts"] + 0.05})
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    with pytest.raises(ValueError, match="over each other in part"):
        read(path)
    b = Interval("b", 5_090, 5_200, "cpu:0", "t")  # which gets a track of its own
    found = slices(tmp_path, session(Interval("a", 5_000, 5_100, "cpu:0", "t"), b))
    assert {s.name for s in found} >= {"a", "b"}


def test_lines_of_operations_are_one_track_of_a_device_and_never_inside_of_each_other(
    tmp_path: Path,
) -> None:
    users = tmp_path / "users.py"
    users.write_text("y = x @ x\nz = y.sum()\n")
    one, two = (SourceLine(str(users), line, "step") for line in (1, 2))
    found = slices(
        tmp_path,
        session(
            Interval("dot", 5_000, 6_000, "cpu:0", "a", source=one),
            Interval("inside", 5_100, 5_200, "cpu:0", "a", source=two),
            Interval("bias", 6_000, 6_100, "cpu:0", "a", source=one),
            Interval("sum", 6_100, 6_400, "cpu:0", "a", source=two),
            Interval("sum.1", 6_150, 6_300, "cpu:0", "b", source=two),
            Interval("unknown", 6_400, 6_500, "cpu:0", "a"),
        ),
    )
    lines = [s for s in found if s.track == "lines"]
    assert sorted((s.name, s.begun, s.ended) for s in lines) == [
        ("y = x @ x", 0, 1_100),
        ("z = y.sum()", 1_100, 1_400),
        ("z = y.sum()", 1_150, 1_300),
    ]
    assert {s.args["at"] for s in lines} == {"users.py, line 1", "users.py, line 2"}
    assert {s.args["in"] for s in lines} == {"step"}


def test_lines_that_python_runs_stand_below_those_that_call_them(tmp_path: Path) -> None:
    lines = (
        LineSpan("<ipython-input>", 9, "f", 5_100, 5_200),
        LineSpan("<ipython-input>", 1, "", 5_000, 5_400),
    )
    found = [s for s in slices(tmp_path, session(lines=lines)) if s.track == "lines"]
    assert [(s.name, s.begun, s.ended) for s in found] == [
        ("cell, line 1", 0, 400),
        ("cell, line 9", 100, 200),
    ]
