"""Clocks, CPUs, memory, errors, processes, and the folder for what outlives a notebook."""

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ipyjaxbench.host import (
    filter_by_type,
    host_memory,
    process_space,
    process_start,
    procfs,
    summarize_error,
    usable_cpus,
)
from ipyjaxbench.host.clock import CLOCKS, Clock
from ipyjaxbench.host.data_dir import make_data_folder
from ipyjaxbench.testing import FakeClock
from tests.trees import Tree
from tests.waiting import wait_until

# Clocks


@pytest.mark.usefixtures("real_clock")
@pytest.mark.parametrize(
    ("name", "standard"),
    [("elapsed", "perf_counter_ns"), ("calendar", "time_ns"), ("cpu", "process_time_ns")],
)
def test_a_clock_reads_what_its_name_says_and_all_have_one_wall(name: str, standard: str) -> None:
    """Between two readings of the standard library's clock for that."""
    clock, theirs = CLOCKS[name](), getattr(time, standard)
    before, mine, after = theirs(), clock.now(), theirs()
    assert before <= mine <= after
    assert type(mine) is int
    assert clock.wall is time.perf_counter_ns


def test_a_clock_shows_no_less_than_a_reading_takes_and_that_is_looked_at_once() -> None:
    moment = itertools.count(step=70)
    assert Clock(lambda: next(moment), time.perf_counter_ns, time.sleep).resolution == 70
    reading = itertools.count()  # of one that stands still between steps
    coarse = Clock(lambda: next(reading) // 30 * 1000, time.perf_counter_ns, time.sleep)
    assert (coarse.resolution, FakeClock().resolution) == (1000, 0)
    clock = FakeClock(step=7)
    assert clock.now() == 7  # nothing was read before
    assert clock.resolution == 7
    before = clock.now()
    assert clock.resolution == 7
    assert clock.now() - before == 7


# CPUs, memory, errors, values


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_cpus_that_may_be_used_are_those_of_this_process() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert usable_cpus() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert usable_cpus() == len(before)


@pytest.mark.parametrize(("count", "usable"), [(8, 8), (None, 1)])
def test_where_nothing_binds_a_process_all_cpus_may_be_used(
    monkeypatch: pytest.MonkeyPatch, count: int | None, usable: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert usable_cpus() == usable


def test_the_memory_that_may_be_taken_is_a_part_of_all() -> None:
    memory = host_memory()
    assert type(memory) is int
    assert 0 < memory < psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("error", "line"),
    [(ValueError("no\nmore of it"), "ValueError: no"), (KeyError(), "KeyError: "),
     (ValueError("x" * 88), "ValueError: " + "x" * 88),
     (ValueError("x" * 89), "ValueError: " + "x" * 88)],
)  # fmt: skip
def test_an_error_is_one_line_of_a_hundred_characters(error: Exception, line: str) -> None:
    assert summarize_error(error) == line


class Proxy:
    """It takes itself for a number."""

    __class__ = int  # type: ignore[assignment]


def test_values_are_filtered_by_their_real_type() -> None:
    assert filter_by_type([1, "a", True, Proxy(), 2.0], int, str) == [1, "a", True]
    assert filter_by_type([], int) == []


# Processes are told apart although their numbers are used again

SLEEPER = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"]


@pytest.mark.parametrize("source", ["procfs", "psutil"])
def test_a_killed_process_is_over_unwaited(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    if source == "psutil":
        monkeypatch.setattr(procfs, "is_mounted", lambda root: False)
    elif not procfs.is_mounted(procfs.ROOT):
        pytest.skip("there is no /proc here")
    assert process_start(2**22 + 1) is process_start(2**63 - 1) is None  # none has these
    with subprocess.Popen(SLEEPER, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        begun = process_start(child.pid)
        assert begun is not None
        assert begun == process_start(child.pid) != process_start(os.getpid())
        child.kill()
        wait_until(lambda: process_start(child.pid) is None)  # a zombie still
        child.wait()
        assert process_start(child.pid) is None


STAT = "4711 (a) b (c) {state} 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 5 0 {start} 7 8\n"


@pytest.mark.parametrize(
    ("text", "known"),
    [(STAT.format(state="S", start="1234"), 1234), (STAT.format(state="R", start="1"), 1),
     (STAT.format(state="Z", start="1234"), None), (STAT.format(state="X", start="1"), None),
     (STAT.format(state="S", start="x"), None), ("", None), ("4711 (", None), ("\x00", None),
     ("4711 (a) S 1", None)],
)  # fmt: skip
def test_the_start_is_read_behind_the_name(tree: Tree, text: str, known: int | None) -> None:
    tree.write("proc/4711/stat", text)
    assert procfs.process_start(tree.root, 4711) == known


def test_the_space_of_numbers_is_the_same_in_a_child() -> None:
    code = "from ipyjaxbench.host import process_space; print(process_space())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == process_space() != ""


# Files that outlive a notebook stand below Jupyter's data directory


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_folder_is_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    folder = make_data_folder("history")
    assert folder == tmp_path / "data" / "ipyjaxbench" / "history"
    assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)
    (folder / "kept").touch()
    assert os.listdir(make_data_folder("history") or "") == ["kept"]
    # What earlier versions left open is closed, but not what a link leads to.
    old, other = folder.parent / "ceilings", tmp_path / "other"
    old.mkdir(mode=0o755)
    folder.parent.chmod(0o755)
    (old / "a.json").touch(mode=0o644)
    other.touch(mode=0o644)
    (old / "link.jsonl").symlink_to(other)
    assert make_data_folder("ceilings") == old
    modes = [mode(path) for path in (old / "a.json", old, old.parent, other)]
    assert modes == [0o600, 0o700, 0o700, 0o644]
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(other))  # a file, where a folder would be made
    assert make_data_folder("history") is None
