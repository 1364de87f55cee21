"""A timeline made by hand as events, read by a strict reader, and the file that they stand in."""

import gzip
import json
import os
from pathlib import Path

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.timing.device_time import Interval, SourceLine
from ipyjaxbench.timing.perfetto import file as trace_file
from ipyjaxbench.timing.perfetto.events import events_of
from ipyjaxbench.timing.perfetto.file import find_target, write_trace
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
    path = tmp_path / "events.json"
    events = list(events_of(sessions))
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    return read(path)


def test_phases_fill_the_pass_from_zero_on(tmp_path: Path) -> None:
    found = slices(tmp_path, session())
    assert {s.track for s in found} == {"phases (jax)"}
    assert [(s.name, s.begun, s.ended) for s in found] == [
        *[("run Python", 0, 500), ("wait for the result", 500, 2_000)],
        *[("run Python", 2_000, 2_500), ("wait for the result", 2_500, 4_000)],
        ("wait for the rest", 4_000, 4_500),
    ]


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
    # What lies over another one in part gets a track of its own, which the reader asks for.
    over = [Interval(*each, "cpu:0", "t") for each in (("a", 5_000, 5_100), ("b", 5_090, 5_200))]
    assert {s.name for s in slices(tmp_path, session(*over))} >= {"a", "b"}


def test_lines_of_operations_are_a_track_and_never_inside_of_each_other(tmp_path: Path) -> None:
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
        *[("y = x @ x", 0, 1_100), ("z = y.sum()", 1_100, 1_400), ("z = y.sum()", 1_150, 1_300)]
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
        *[("cell, line 1", 0, 400), ("cell, line 9", 100, 200)]
    ]


# The file


def write(path: Path, *sessions: TimedSession, reason: str = "") -> trace_file.TraceFile:
    """A trace there."""
    facts = {"code": 'f("x")', "versions": "jax 0.10.2"}
    return write_trace(path, sessions, facts, reason)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_a_trace_is_written_and_replaces_one_of_ours(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for _ in range(2):
        written = write(find_target(str(path)), session())
        assert (written.path, written.nbytes) == (str(path), path.stat().st_size)
        assert (written.events, written.reason, written.missing) == (5, "", "")
        assert len(read(path)) == 5
    assert os.listdir(tmp_path) == [name]
    write(tmp_path / "b.json", session())
    content = path.read_bytes()
    packed = gzip.decompress(content) if name.endswith("gz") else content
    assert packed == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize(
    "content",
    [b"{}", b'{"traceEvents": []}', gzip.compress(b"{}"), b"\x1f\x8bbroken", b"\x00" * 100],
)
def test_a_file_of_others_is_not_overwritten_even_if_new(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.json"
    target = find_target(str(path))
    path.write_bytes(content)
    with pytest.raises(OptionError, match="no trace of ipyjaxbench; give another name, or remove"):
        find_target(str(path))
    words = write(target, session()).words()
    assert words == "not written: mine.json is another file by now"
    assert path.read_bytes() == content


def test_a_folder_is_no_file_and_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(OptionError, match="is a folder; give a file, such as"):
        find_target(str(tmp_path / "a.json"))
    with pytest.raises(OptionError, match=r"there is no folder .*nowhere; make it"):
        find_target(str(tmp_path / "nowhere" / "a.json"))
    (tmp_path / "link.json").symlink_to(tmp_path / "b.json")
    write(find_target(str(tmp_path / "link.json")), session())
    assert (tmp_path / "link.json").is_symlink()  # it stays a link
    assert read(tmp_path / "b.json")


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = find_target(str(tmp_path / "a.json"))
    write(path, session())
    before = path.read_bytes()

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trace_file.os, "replace", full)
    assert write(path, session()).words() == "not written: No space left on device"
    assert os.listdir(tmp_path) == ["a.json"]
    assert path.read_bytes() == before


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = find_target(str(tmp_path / "a.json"))
    assert write(path, reason="interrupted").words() == "not written: interrupted"
    assert not path.exists()
    written = write(path, session(offset=None))
    assert written.missing == "jax: the moment of its operations is not known"
    assert written.words().endswith("ui.perfetto.dev; " + written.missing)
