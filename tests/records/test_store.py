"""Past measurements are kept in files of JSON lines, and nothing fails where they cannot be."""

import dataclasses
import errno
import os
import shutil
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.sweep import Point, Sweep
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry, Location, make_entries
from ipyjaxbench.records.store import Journal
from ipyjaxbench.reports.result import Result
from tests.results import STEADY, measured

DAY = 86400


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return tmp_path / "ipyjaxbench" / "history"


@pytest.fixture
def journal() -> Iterator[Journal]:
    made = Journal()
    yield made
    made.close()


def past(
    label: str = "base", *, when: float = 1e9, result: Result | None = None
) -> list[HistoryEntry]:
    found = result or measured(STEADY)
    where = Location("/project", "a.ipynb", "cell-1")
    return list(make_entries(found, label, when=when, where=where, revision="c0ffee"))


def test_what_is_appended_is_read_back_the_newest_first(journal: Journal) -> None:
    older, newer = past("older", when=1e9), past("newer", when=2e9)
    journal.append(newer)
    journal.append(older)
    assert store.read_store().entries == (*newer, *older)
    assert journal.trouble == ""


def test_each_process_has_a_file_of_its_own_with_a_line_for_each_entry(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([*past("one"), *past("two")])
    journal.append(past("three"))
    (path,) = place.iterdir()
    labels = [msgspec.json.decode(line)["label"] for line in path.read_bytes().split(b"\n")[:-1]]
    assert labels == ["one", "two", "three"]
    other = Journal()
    other.append(past())
    other.close()
    assert len(list(place.iterdir())) == 2
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as in a process that was forked
    journal.append(past())
    assert len(list(place.iterdir())) == 3
    assert len(store.read_store().entries) == 5


def test_entries_go_where_they_are_read_when_jupyters_folder_changes(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(past("before"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "other"))
    journal.append(past("after"))
    assert [entry.label for entry in store.read_store().entries] == ["after"]


def test_a_result_without_a_measurement_makes_no_file(journal: Journal, place: Path) -> None:
    journal.append([])
    assert not place.exists()


def test_a_comparison_is_kept_arm_by_arm() -> None:
    sides = (
        ArmResult("a", measured(STEADY)),
        ArmResult("b", None, "failed"),
        ArmResult("c", measured(STEADY)),
    )
    compared = Comparison(sides, "a")
    assert [(e.magic, e.label) for e in past(result=compared)] == [
        ("fwcompare", "base.a"),
        ("fwcompare", "base.c"),
    ]
    swept = Sweep(("n",), ("a", "b", "c"), (Point(("100",), compared),))
    assert [e.name for e in past(result=swept)] == ["base.a.n=100", "base.c.n=100"]


def test_kept_measurements_that_are_compared_again_are_not_kept_twice() -> None:
    sides = (ArmResult("a", measured(STEADY)), ArmResult("b", measured(STEADY)))
    assert past(result=Comparison(sides, "a", interleaved=False)) == []


@pytest.mark.parametrize("count", [1, 7, 119, 120, 121, 999, 50_000])
def test_of_many_samples_some_are_kept_evenly_with_their_rounds(count: int) -> None:
    samples = [1_000_000 + (i * 7919) % 1000 for i in range(count)]
    m = measured(samples)
    (entry,) = past(result=m)
    assert len(entry.samples) == len(entry.picoseconds) == min(count, 120)
    assert entry.check() is None
    assert entry.median == m.median
    assert entry.samples[0] == pytest.approx(m.samples[0])
    assert sorted(entry.samples)[len(entry.samples) // 2] == pytest.approx(m.median, rel=1e-3)
    if count > 100:
        assert entry.half_width == pytest.approx(m.half_width, rel=0.1)


def test_of_twice_as_many_samples_every_second_one_is_kept() -> None:
    (entry,) = past(result=measured([1_000_000 + i for i in range(240)]))
    assert entry.picoseconds == tuple(1_000_000_000 + 2000 * i for i in range(120))
    assert entry.rounds == (5,) * 24


@pytest.mark.parametrize(
    ("phases", "kept"),
    [
        ({}, {}),
        ({"compile": None}, {}),
        ({"compile": 0.001, "trace": None}, {}),
        (
            {"compile": 0.00123456, "trace": 0.0005},
            {"trace": 5e-4, "compile": 1.235e-3, "run": 2.654e-4},
        ),
        ({"compile": 0.003}, {"compile": 0.003, "run": 0.0}),
    ],
)
def test_the_first_call_is_kept_by_phase_where_all_are_known(
    phases: dict[str, float | None], kept: dict[str, float]
) -> None:
    (entry,) = past(result=measured(STEADY, phases=phases))
    assert entry.first_call == kept
    assert [*entry.first_call] == [*kept]


def test_of_long_code_the_beginning_is_kept() -> None:
    code = "x = 1\n" * 1000
    (entry,) = past(result=dataclasses.replace(measured(STEADY), code=code))
    assert entry.code == code[:4000]


def test_a_usual_line_has_about_two_kilobytes(journal: Journal, place: Path) -> None:
    phases = {"trace": 0.0123456789, "lower": 0.00123456789, "compile": 0.0812345678}
    m = measured([1_234_567 + i * 7919 % 9999 for i in range(2000)], phases=phases)
    journal.append(past(result=m))
    (path,) = place.iterdir()
    assert path.stat().st_size < 2_200


JUNK = st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b""))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
)
@given(lines=st.lists(st.one_of(st.none(), JUNK), max_size=8))
def test_lines_that_are_no_entries_are_left_out_and_counted(
    place: Path, lines: list[bytes | None]
) -> None:
    good = msgspec.json.encode(past()[0])
    place.mkdir(parents=True, exist_ok=True)
    (place / "a.jsonl").write_bytes(b"\n".join(good if each is None else each for each in lines))
    kept = store.read_store()
    assert len(kept.entries) == lines.count(None)
    bad = sum(1 for each in lines if each is not None and each.strip())
    assert sum(kept.unread.values()) == bad


@pytest.mark.parametrize(
    "change",
    [
        {"figure": {"median": -1.0}}, {"figure": {"median": "1"}}, {"figure": {"half_width": -0.1}},
        {"figure": {"samples": -1}}, {"figure": {"verdict": 3}}, {"schema": 99}, {"when": -1.0},
        {"picoseconds": [2**70]}, {"picoseconds": [-1]}, {"rounds": [5]}, {"floor": -1.0},
    ],
)  # fmt: skip
def test_an_entry_that_makes_no_sense_is_left_out(place: Path, change: dict[str, Any]) -> None:
    place.mkdir(parents=True)
    facts = msgspec.to_builtins(past()[0])
    figure = facts["figure"] | change.get("figure", {})
    (place / "a.jsonl").write_bytes(msgspec.json.encode(facts | change | {"figure": figure}))
    assert store.read_store() == store.StoreContents((), {"a.jsonl": 1})


def test_lines_nested_without_end_are_left_out(place: Path) -> None:
    place.mkdir(parents=True)
    good = msgspec.json.encode(past()[0])
    (place / "a.jsonl").write_bytes(b'{"at":' * 100_000 + b"\n" + good)
    kept = store.read_store()
    assert (len(kept.entries), kept.unread) == (1, {"a.jsonl": 1})


def test_a_full_disk_fails_nothing_and_the_next_line_begins_anew(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(FileIO):
        left = 10

        def write(self, data: bytes) -> int:  # type: ignore[override]
            if not self.left:
                raise OSError(errno.ENOSPC, "No space left on device")
            written = super().write(data[: self.left])
            type(self).left -= written
            return written

    monkeypatch.setattr(store, "FileIO", Full)
    journal.append(past("lost"))
    assert journal.trouble == "the disk is full"
    journal.append(past("lost too"))
    assert journal.trouble == "No space left on device"
    Full.left = 100_000
    journal.append(past("kept"))
    assert journal.trouble == ""
    kept = store.read_store()
    assert [entry.label for entry in kept.entries] == ["kept"]
    assert sum(kept.unread.values()) == 1


def test_a_home_that_cannot_be_written_to_fails_nothing(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    journal.append(past())
    assert journal.trouble == "Jupyter's data directory is not writable"
    assert store.read_store() == store.StoreContents((), {})
    assert store.prune_store(0) == (0, 0)


def test_a_folder_that_vanishes_is_made_anew(journal: Journal, place: Path) -> None:
    journal.append(past("lost"))
    shutil.rmtree(place)
    journal.append(past("kept"))
    assert [entry.label for entry in store.read_store().entries] == ["kept"]


def test_a_file_that_is_lost_is_made_anew(journal: Journal, place: Path) -> None:
    journal.append(past("first"))
    assert journal._file is not None
    os.close(journal._file.fileno())  # as a network does that is gone
    journal.append(past("second"))
    assert journal.trouble == ""
    assert len(list(place.iterdir())) == 2
    assert {entry.label for entry in store.read_store().entries} == {"first", "second"}


def test_a_file_that_vanishes_while_it_is_read_is_left_out(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(past())
    (place / "gone.jsonl").symlink_to(place / "nothing")
    (place / "folder.jsonl").mkdir()
    (place / "other.txt").write_text("no entry")
    assert len(store.read_store().entries) == 1
    assert store.read_store().unread == {}


def test_a_file_that_is_gone_when_it_is_read_is_counted(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(past())
    (place / "gone.jsonl").write_bytes(msgspec.json.encode(past()[0]))
    listed = store.list_files

    def files(folder: Path | None) -> Iterator[tuple[Path, os.stat_result]]:
        for path, status in listed(folder):
            if path.name == "gone.jsonl":
                path.unlink()
            yield path, status

    monkeypatch.setattr(store, "list_files", files)
    kept = store.read_store()
    assert (len(kept.entries), kept.unread) == (1, {"gone.jsonl": 1})


def _aged(path: Path, days: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(past(path.stem)[0]))
    now = path.stat().st_mtime
    os.utime(path, (now - days * DAY, now - days * DAY))


def test_the_first_entry_of_a_process_removes_what_is_too_old(
    journal: Journal, place: Path
) -> None:
    _aged(place / "old.jsonl", 366)
    _aged(place / "young.jsonl", 364)
    _aged(place / "other.txt", 366)
    journal.append(past("new"))
    assert {entry.label for entry in store.read_store().entries} == {"young", "new"}
    assert (place / "other.txt").exists()


@pytest.mark.parametrize(("name", "most"), [("_MAX_FILES", 2), ("MAX_BYTES", 5_000)])
def test_the_first_entry_of_a_process_removes_the_oldest_of_too_much(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(store, name, most)
    for days in range(1, 6):
        _aged(place / f"{days}.jsonl", days)
    left = most if name == "_MAX_FILES" else most // (place / "1.jsonl").stat().st_size
    journal.append(past("new"))
    assert 0 < left < 5
    assert sorted(each.name for each in place.glob("?.jsonl")) == [
        f"{days}.jsonl" for days in range(1, left + 1)
    ]


def test_pruning_by_hand_removes_files_with_nothing_younger(place: Path) -> None:
    for days in (1, 10, 100):
        _aged(place / f"{days}.jsonl", days)
    assert store.prune_store(30 * DAY) == (1, 1)
    assert {entry.label for entry in store.read_store().entries} == {"1", "10"}


def test_a_file_can_be_read_by_its_owner_alone(journal: Journal, place: Path) -> None:
    before = os.umask(0o022)
    journal.append(past())
    os.umask(before)
    (path,) = place.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


def test_where_they_are_is_said_once_for_each_home(place: Path) -> None:
    words = store.make_history_notice()
    assert str(place) in words
    assert "%config IpyJaxBench.history = False" in words
    assert store.make_history_notice() == ""
    (said,) = place.iterdir()
    assert said.stat().st_mode & 0o777 == 0o600
    assert store.read_store().unread == {}
