"""What is measured now stands in a file while it is measured, and a reader knows what is stale."""

import json
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ipyjaxbench.host import process_space, process_start
from ipyjaxbench.records import Heartbeat, LiveMeasurement, LiveReader
from ipyjaxbench.testing import FakeClock

SECOND = 1_000_000_000
PLACE = ("2026-11-01-1-c0ffee", "work/a.ipynb", "cell-1", "f(x)")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return tmp_path / "ipyjaxbench" / "live"


def written(place: Path) -> dict[str, Any]:
    (path,) = place.iterdir()
    facts: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    return facts


def write(place: Path, name: str, **facts: Any) -> Path:
    """The file of a measurement that began at second 100."""
    base = LiveMeasurement(process_space(), os.getpid(), own_start(), *PLACE, 100.0, 100.0)
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{name}.json"
    path.write_text(json.dumps(msgspec.to_builtins(base) | facts))
    return path


def own_start() -> float:
    start = process_start(os.getpid())
    assert start is not None
    return start


def clock_at(seconds: float) -> FakeClock:
    clock = FakeClock()
    clock.advance(int(seconds * SECOND))
    return clock


#: No process that runs: the number of this one, which began at another time.
GONE = {"started": 0.5}
ELSEWHERE = {"host": "another"}


def test_it_says_what_is_measured_and_where_to_its_owner_alone(place: Path) -> None:
    with Heartbeat(*PLACE, clock_at(100)):
        (path,) = place.iterdir()
        assert [each.stat().st_mode & 0o777 for each in (path, place)] == [0o600, 0o700]
        assert written(place) == {
            "host": process_space(), "pid": os.getpid(), "started": own_start(),
            "run": "2026-11-01-1-c0ffee", "notebook": "work/a.ipynb", "cell": "cell-1",
            "line": "f(x)", "began": 100.0, "updated": 100.0, "phase": "first call",
            "half_width": None, "left": None, "died": False,
        }  # fmt: skip
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("told", "facts"),
    [
        ((math.inf, 2 * SECOND), ("warming up", None, 2.0)),
        ((331.0, SECOND), ("measuring", 331.0, 1.0)),
        ((math.nan, 0), ("measuring", None, None)),
        ((math.nan, -1), ("measuring", None, None)),
        ((0.5, 3600 * SECOND), ("measuring", 0.5, None)),  # a budget that long is none
    ],
)
def test_it_says_how_far_it_is(
    place: Path, told: tuple[float, int], facts: tuple[object, ...]
) -> None:
    clock = clock_at(100)
    with Heartbeat(*PLACE, clock) as heartbeat:
        clock.advance(30 * SECOND)
        heartbeat.wait(30.0)  # the first call lasts
        assert (written(place)["phase"], written(place)["updated"]) == ("first call", 130.0)
        clock.advance(SECOND)
        heartbeat(*told)
        found = written(place)
    assert (found["phase"], found["half_width"], found["left"]) == facts
    assert (found["began"], found["updated"]) == (100.0, 131.0)


def test_it_is_written_twice_a_second_at_most(place: Path) -> None:
    clock, moments = clock_at(100), set()
    with Heartbeat(*PLACE, clock) as heartbeat:
        for _ in range(150):
            clock.advance(SECOND // 100)
            heartbeat(0.1, SECOND)
            moments.add(round(written(place)["updated"], 3))
    assert sorted(moments) == [100.0, 100.5, 101.0, 101.5]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_it_is_removed_whatever_ends_the_measurement(
    place: Path, error: type[BaseException]
) -> None:
    def fail() -> None:
        with Heartbeat(*PLACE, clock_at(100)):
            assert written(place)
            raise error

    with pytest.raises(error):
        fail()
    assert list(place.iterdir()) == []


def test_one_within_another_is_silent(place: Path) -> None:
    clock = clock_at(100)
    with Heartbeat(*PLACE, clock):
        with Heartbeat("", "", "", "inner", clock) as inner:
            clock.advance(SECOND)
            inner(0.1, SECOND)
            inner.wait(1.0)
            assert written(place)["line"] == "f(x)"
        assert written(place)["line"] == "f(x)"
    with Heartbeat("", "", "", "next", clock):
        assert written(place)["line"] == "next"


def test_threads_measure_beside_each_other(place: Path) -> None:
    both = threading.Barrier(3)

    def measure(line: str) -> None:
        with Heartbeat("", "", "", line, clock_at(100)):
            both.wait(60)
            both.wait(60)

    threads = [threading.Thread(target=measure, args=(line,)) for line in ("a", "b")]
    for thread in threads:
        thread.start()
    both.wait(60)
    assert {live.line for live in LiveReader(clock=clock_at(101)).read()} == {"a", "b"}
    both.wait(60)
    for thread in threads:
        thread.join()
    assert list(place.iterdir()) == []


def test_a_folder_that_vanishes_or_cannot_be_made_fails_nothing(place: Path) -> None:
    reader, clock = LiveReader(), clock_at(100)
    assert (reader.folder, reader.read()) == (place, ())
    assert not place.exists()
    with Heartbeat(*PLACE, clock) as heartbeat:
        shutil.rmtree(place)
        clock.advance(SECOND)
        heartbeat(0.1, SECOND)
    assert not place.exists()
    place.parent.rmdir()
    place.parent.touch()
    with Heartbeat(*PLACE, clock) as heartbeat:
        heartbeat(0.1, SECOND)
    assert reader.read() == ()


def test_a_reader_finds_what_is_measured_the_first_one_first(place: Path) -> None:
    write(place, "2-a", began=102.0, line="second")
    write(place, "1-a", began=101.0, line="first", phase="measuring", half_width=0.1, left=2.0)
    found = LiveReader(clock=clock_at(103)).read()
    assert [live.line for live in found] == ["first", "second"]
    assert (found[0].half_width, found[0].left, found[0].died) == (0.1, 2.0, False)
    # Their process lives, so it does not matter when it last said so.
    assert len(LiveReader(clock=clock_at(100_000)).read()) == 2


@pytest.mark.parametrize("unknown", [ELSEWHERE, {"started": 0.0}])
def test_of_what_cannot_be_looked_up_one_minute_of_silence_is_the_end(
    place: Path, unknown: dict[str, object]
) -> None:
    write(place, "1-a", **unknown)
    clock = clock_at(160)
    reader = LiveReader(clock=clock)
    assert [live.died for live in reader.read()] == [False]
    clock.advance(SECOND)
    assert reader.read() == ()


def test_one_that_died_is_told_for_ten_seconds_and_after_a_long_call_by_who_saw_it_live(
    place: Path,
) -> None:
    clock = clock_at(1000)
    write(place, "1-a")
    saw, later = LiveReader(clock=clock), LiveReader(clock=clock)
    assert [live.died for live in saw.read()] == [False]
    write(place, "1-a", **GONE)
    assert [live.died for live in saw.read()] == [True]
    assert later.read() == ()  # for all it knows that was long ago
    write(place, "1-a", updated=1000.0, **GONE)
    assert [live.died for live in LiveReader(clock=clock).read()] == [True]
    clock.advance(10 * SECOND)
    assert [live.died for live in saw.read()] == [True]
    clock.advance(SECOND)
    assert saw.read() == saw.read() == ()


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"\xff", b'{"host":' * 50_000, b"x" * 1_000_000, b'{"host":"a","pid":-1}'],
)  # fmt: skip
def test_broken_files_are_passed_over(place: Path, text: bytes) -> None:
    write(place, "1-a")
    (place / "2-b.json").write_bytes(text)
    (place / "folder.json").mkdir()
    (place / "link.json").symlink_to("/etc/passwd")
    (place / "3-c.tmp").write_bytes((place / "1-a.json").read_bytes())
    assert len(LiveReader(clock=clock_at(101)).read()) == 1


@pytest.mark.parametrize(
    "change",
    [{"pid": 0}, {"pid": 10**400}, {"began": -1.0}, {"updated": 1e300}, {"half_width": -1.0},
     {"left": "2"}, {"phase": "asleep"}, {"line": None}, {"started": -5.0}],
)  # fmt: skip
def test_facts_that_make_no_sense_are_passed_over(place: Path, change: dict[str, Any]) -> None:
    write(place, "1-a", **change)
    assert LiveReader(clock=clock_at(101)).read() == ()


Made = Callable[[Path], Path]


@pytest.mark.parametrize(
    ("make", "age", "left"),
    [
        (lambda place: write(place, "1-a", **GONE), 5, True),  # readers are to see that it died
        (lambda place: write(place, "1-a", **GONE), 11, False),
        (lambda place: write(place, "1-a"), 100_000, True),  # it runs
        (lambda place: write(place, "1-a", **ELSEWHERE), 59, True),
        (lambda place: write(place, "1-a", **ELSEWHERE), 61, False),
        (lambda place: write(place, "1-a", **GONE).rename(place / "1-a.tmp"), 11, False),
        (lambda place: write(place, "1-a").rename(place / "1-a.txt"), 100_000, True),
    ],
)  # fmt: skip
def test_the_next_one_removes_what_is_stale(place: Path, make: Made, age: int, left: bool) -> None:
    path = make(place)
    with Heartbeat(*PLACE, clock_at(100 + age)):
        assert path.exists() is left


def test_broken_files_are_removed_when_they_are_old(place: Path) -> None:
    place.mkdir(parents=True)
    for age in (61, 59):
        (place / f"{age}.json").write_bytes(b"{")
        os.utime(place / f"{age}.json", (1000 - age, 1000 - age))
    with Heartbeat(*PLACE, clock_at(1000)):
        assert [(place / f"{age}.json").exists() for age in (61, 59)] == [False, True]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_of_a_forked_process_the_parent_alone_has_the_file_and_reading_imports_nothing() -> None:
    """In a process of its own, since this one has threads."""
    code = """
import os, sys
from ipyjaxbench.host import Clock
from ipyjaxbench.records import Heartbeat, LiveReader, StoreIndex
place = LiveReader().folder
with Heartbeat("", "", "", "f(x)", Clock.calendar()) as heartbeat:
    (before,) = [path.read_bytes() for path in place.iterdir()]
    child = os.fork()
    if not child:
        heartbeat.wait(1.0)
        heartbeat.end()
        os._exit([path.read_bytes() for path in place.iterdir()] != [before])
    print(os.waitpid(child, 0)[1], len(LiveReader().read()), StoreIndex().refresh().heads)
print([*place.iterdir()], {"IPython", "numpy", "jax", "torch", "tensorflow"} & sys.modules.keys())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["0 1 {}", "[] set()", ""]
