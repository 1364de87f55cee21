"""Past measurements are kept in files of JSON lines, and nothing fails where they cannot be."""

import errno
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import FileIO
from pathlib import Path

import msgspec
import pytest

from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.sweep import Point, Sweep
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry, Location, make_entries
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.store import Journal
from ipyjaxbench.reports.result import Result
from tests.results import STEADY, measured

DAY = 86400


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are; nobody has made it yet."""
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
    where = Location("/project", "a.ipynb", "cell-1")
    found = result or measured(STEADY)
    return list(make_entries(found, label, when=when, where=where, revision="c0ffee"))


def labels() -> list[str]:
    """Of what is in the store, the newest first."""
    return [entry.label for entry in store.read_store().entries]


def test_each_process_has_a_file_of_its_own_with_a_line_for_each_entry(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([])
    assert not folder.exists()
    older, newer = past("older", when=1e9), past("newer", when=2e9)
    journal.append([*newer, *older])
    assert store.read_store().entries == (*newer, *older)
    (path,) = folder.iterdir()
    lines = [msgspec.json.decode(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [line["label"] for line in lines] == ["newer", "older"]
    assert path.stat().st_mode & 0o777 == 0o600  # its owner alone reads it
    other = Journal()
    other.append(past())
    other.close()
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as in a process that was forked
    journal.append(past())
    assert len(list(folder.iterdir())) == 3
    assert len(labels()) == 4


def test_a_file_is_made_anew_where_it_is_lost_or_jupyters_folder_changes(
    journal: Journal, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(past("lost"))
    shutil.rmtree(folder)
    journal.append(past("first"))
    assert journal._file is not None
    os.close(journal._file.fileno())  # as a network does that is gone
    journal.append(past("second"))
    assert journal.trouble == ""
    assert len(list(folder.iterdir())) == 2
    assert {*labels()} == {"first", "second"}
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "other"))
    journal.append(past("elsewhere"))
    assert labels() == ["elsewhere"]


def test_a_comparison_is_kept_arm_by_arm_unless_its_arms_were_kept() -> None:
    m = measured(STEADY)
    compared = Comparison(
        (ArmResult("a", m), ArmResult("b", None, "failed"), ArmResult("c", m)), "a"
    )
    kept = [("fwcompare", "base.a"), ("fwcompare", "base.c")]
    assert [(entry.magic, entry.label) for entry in past(result=compared)] == kept
    swept = Sweep(("n",), ("a", "b", "c"), (Point(("100",), compared),))
    assert [entry.name for entry in past(result=swept)] == ["base.a.n=100", "base.c.n=100"]
    assert past(result=Comparison(compared.sides, "a", interleaved=False)) == []


@pytest.mark.parametrize("count", [1, 119, 120, 121, 999, 50_000])
def test_of_many_samples_some_are_kept_evenly_with_their_rounds(count: int) -> None:
    m = measured([1_000_000 + (i * 7919) % 1000 for i in range(count)])
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
        ({"compile": 0.001, "trace": None}, {}),
        ({"compile": 0.00123456, "trace": 0.0005},
         {"trace": 5e-4, "compile": 1.235e-3, "run": 2.654e-4}),
        ({"compile": 0.003}, {"compile": 0.003, "run": 0.0}),
    ],
)  # fmt: skip
def test_the_first_call_is_kept_by_phase_where_all_are_known(
    phases: dict[str, float | None], kept: dict[str, float]
) -> None:
    (entry,) = past(result=measured(STEADY, phases=phases))
    assert entry.first_call == kept
    assert [*entry.first_call] == [*kept]


def test_a_usual_line_has_about_two_kilobytes_and_of_long_code_the_beginning_is_kept(
    journal: Journal, folder: Path
) -> None:
    phases = {"trace": 0.0123456789, "lower": 0.00123456789, "compile": 0.0812345678}
    m = measured([1_234_567 + i * 7919 % 9999 for i in range(2000)], phases=phases)
    # Without what the names of this machine's processor and its settings add.
    journal.append([replace(each, environment=Environment()) for each in past(result=m)])
    (path,) = folder.iterdir()
    assert path.stat().st_size < 2_200
    code = "x = 1\n" * 1000
    assert past(result=measured(STEADY, code=code))[0].code == code[:4000]


def test_lines_that_are_no_entries_or_make_no_sense_are_left_out_and_counted(
    folder: Path,
) -> None:
    folder.mkdir(parents=True)
    good = msgspec.json.encode(past()[0])
    facts = msgspec.to_builtins(past()[0])
    changes = (
        *({"figure": facts["figure"] | wrong} for wrong in (
            {"median": -1.0}, {"median": "1"}, {"half_width": -0.1}, {"samples": -1},
            {"verdict": 3}, {"median": 1e10})),
        *({"schema": 99}, {"when": -1.0}, {"floor": -1.0}, {"rounds": [5]}),
        *({"picoseconds": [2**70]}, {"picoseconds": [-1]}),
    )  # fmt: skip
    wrong = [msgspec.json.encode(facts | change) for change in changes]
    junk = [b"\xff\xfe", b"null", b"{", good[:-1], b'{"at":' * 100_000, b"x"]
    for name, line in {f"{n}.jsonl": line for n, line in enumerate([*wrong, *junk])}.items():
        (folder / name).write_bytes(b"\n".join([good, line, b" ", good]))
        kept = store.read_store()
        assert (len(kept.entries), kept.unread) == (2, {name: 1}), line[:200]
        (folder / name).unlink()


def test_a_full_disk_fails_nothing_and_the_next_line_begins_anew(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
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
    assert labels() == ["kept"]
    assert sum(store.read_store().unread.values()) == 1


def test_a_home_that_cannot_be_written_to_fails_nothing(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    journal.append(past())
    assert journal.trouble == "Jupyter's data directory is not writable"
    assert store.read_store() == store.StoreContents((), {})
    assert store.prune_store(0) == (0, 0)
    assert store.make_history_notice() == ""


def test_a_file_that_is_gone_when_it_is_read_is_counted_and_one_that_is_none_is_not(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(past())
    (folder / "link.jsonl").symlink_to(folder / "nothing")
    (folder / "folder.jsonl").mkdir()
    (folder / "other.txt").write_text("no entry")
    (folder / "gone.jsonl").write_bytes(msgspec.json.encode(past()[0]))
    listed = store.list_files

    def files(folder: Path | None) -> Iterator[tuple[Path, os.stat_result]]:
        for path, status in listed(folder):
            if path.name == "gone.jsonl":
                path.unlink()
            yield path, status

    monkeypatch.setattr(store, "list_files", files)
    kept = store.read_store()
    assert (len(kept.entries), kept.unread) == (1, {"gone.jsonl": 1})


def aged(path: Path, days: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(past(path.stem)[0]))
    now = path.stat().st_mtime
    os.utime(path, (now - days * DAY, now - days * DAY))


def test_what_is_too_old_is_removed_by_the_first_entry_of_a_process_and_by_hand(
    journal: Journal, folder: Path
) -> None:
    for name, days in {
        "old.jsonl": 366,
        "young.jsonl": 364,
        "1.jsonl": 1,
        "other.txt": 366,
    }.items():
        aged(folder / name, days)
    journal.append(past("new"))
    assert {*labels()} == {"young", "1", "new"}
    assert (folder / "other.txt").exists()
    assert store.prune_store(30 * DAY) == (1, 1)
    assert {*labels()} == {"1", "new"}


@pytest.mark.parametrize(("name", "most"), [("_MAX_FILES", 2), ("MAX_BYTES", 5_000)])
def test_the_first_entry_of_a_process_removes_the_oldest_of_too_much(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(store, name, most)
    for days in range(1, 6):
        aged(folder / f"{days}.jsonl", days)
    left = most if name == "_MAX_FILES" else most // (folder / "1.jsonl").stat().st_size
    journal.append(past("new"))
    assert 0 < left < 5
    kept = sorted(each.name for each in folder.glob("?.jsonl"))
    assert kept == [f"{days}.jsonl" for days in range(1, left + 1)]


def test_where_they_are_is_said_once_for_each_home(folder: Path) -> None:
    words = store.make_history_notice()
    assert str(folder) in words
    assert "%config IpyJaxBench.history = False" in words
    assert store.make_history_notice() == ""
    (said,) = folder.iterdir()
    assert said.stat().st_mode & 0o777 == 0o600
    assert store.read_store().unread == {}
