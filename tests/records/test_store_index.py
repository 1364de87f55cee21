"""The index of the store reads what is new, and sees all that becomes of the files."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from ipyjaxbench.records import (
    HistoryEntry,
    Journal,
    Location,
    StoreHeads,
    StoreIndex,
    make_entries,
    store_index,
)
from ipyjaxbench.records.store import read_store
from tests.results import STEADY, measured


def past(label: str, when: float = 1e9) -> HistoryEntry:
    m = measured(STEADY, phases={"compile": 0.001, "trace": 0.0005})
    where = Location("/project", "a.ipynb", "cell-1")
    (entry,) = make_entries(m, label, when=when, where=where, revision="c0ffee")
    return entry


def line(label: str, when: float = 1e9) -> bytes:
    return msgspec.json.encode(past(label, when)) + b"\n"


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def found(contents: StoreHeads) -> dict[str, str]:
    return {entry_id: head.label for entry_id, head in contents.heads.items()}


def test_entries_are_found_by_id_the_newest_first_and_read_whole(place: Path) -> None:
    add(place / "a.b.jsonl", line("one", 1.0) + b"\n" + line("three", 3.0))
    add(place / "a.jsonl", line("two", 2.0))
    index = StoreIndex()
    assert index.folder == place
    assert index.read("a.b.1") is None  # nothing was looked for yet
    assert [*found(index.refresh()).items()] == [
        ("a.b.3", "three"),
        ("a.1", "two"),
        ("a.b.1", "one"),
    ]
    assert index.read("a.b.1") == past("one", 1.0)
    assert index.read("a.b.3") == past("three", 3.0)
    assert index.read("a.1") == past("two", 2.0)


def test_the_head_is_the_entry_without_its_samples(place: Path) -> None:
    add(place / "a.jsonl", line("one"))
    entry, head = past("one"), StoreIndex().refresh().heads["a.1"]
    for name in ("name", "median", "interval", "figure", "where", "environment", "first_call"):
        assert getattr(head, name) == getattr(entry, name)
    assert head.row() == entry.row()
    assert head.first_call == {"trace": 0.0005, "compile": 0.001, "run": 0.0005}
    assert not hasattr(head, "picoseconds")


def test_what_a_magic_appends_is_there_after_the_next_refresh_and_nothing_is_read_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, journal, other = StoreIndex(), Journal(), StoreIndex()
    journal.append([past("one")] * 50)
    first = index.refresh()
    decoded, decode = [], store_index._decode
    monkeypatch.setattr(store_index, "_decode", lambda *a: decoded.append(a) or decode(*a))
    assert index.refresh() is first is index.contents
    assert decoded == []
    journal.append([past("two")])
    second = index.refresh()
    journal.close()
    (path,) = place.iterdir()
    assert second.heads[f"{path.stem}.51"].label == "two"
    assert second.heads[f"{path.stem}.1"] is first.heads[f"{path.stem}.1"]
    assert {data for _, data in decoded if data} == {line("two").rstrip()}
    assert first.version != second.version == other.refresh().version
    path.unlink()
    assert index.refresh().version != second.version


@pytest.mark.parametrize(
    "wrong",
    ["", ".", "a", "a.", "a.0", "a.2", "a.01", "a.-1", "a.jsonl.1", "../b.1", "../history/a.1",
     "/etc/passwd", "a.1\x00", "A.1", "a.1 ", "b.1"],
)  # fmt: skip
def test_an_id_that_is_not_in_the_index_reads_nothing(place: Path, wrong: str) -> None:
    add(place / "a.jsonl", line("one"))
    add(place.parent / "b.jsonl", line("secret"))
    (place / "b.jsonl").symlink_to(place.parent / "b.jsonl")  # it is not followed
    index = StoreIndex()
    assert found(index.refresh()) == {"a.1": "one"}
    assert index.read(wrong) is None


def test_a_line_that_is_being_written_is_read_when_it_has_its_end(place: Path) -> None:
    index, two = StoreIndex(), line("two")
    add(place / "a.jsonl", line("one") + two[:100])
    assert found(index.refresh()) == {"a.1": "one"}
    assert index.contents.unread == {"a.jsonl": 1}
    add(place / "a.jsonl", two[100:-1])
    assert found(index.refresh()) == {"a.1": "one", "a.2": "two"}
    assert index.contents.unread == {}
    add(place / "a.jsonl", two[-1:] + line("three"))
    assert set(found(index.refresh()).values()) == {"one", "two", "three"}
    assert index.read("a.2") == past("two")
    assert index.read("a.3") == past("three")


def test_lines_that_are_no_entries_or_cannot_be_true_are_counted_once(place: Path) -> None:
    index, nested = StoreIndex(), b'{"at":' * 100_000
    whole = msgspec.to_builtins(past("x"))
    huge = {"median": 1e308, "half_width": 0.1, "samples": 9, "verdict": "OK"}
    changes = ({"schema": 99}, {"when": -1.0}, {"rounds": [5]}, {"figure": huge},
               {"picoseconds": [-1], "rounds": [1]})  # fmt: skip
    wrong = [msgspec.json.encode(whole | change) for change in changes]
    add(place / "a.jsonl", b"\n".join([b"\xff\xfe", b"null", nested, b" ", *wrong, b""]))
    for _ in range(3):
        assert index.refresh().unread == {"a.jsonl": 8} == read_store().unread
        add(place / "a.jsonl", line("good"))
    assert {*index.refresh().heads} == {"a.10", "a.11", "a.12"}


def test_files_that_vanished_are_dropped(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(place / "a.jsonl", line("one"))
    add(place / "b.jsonl", b"broken\n")
    index = StoreIndex()
    before = index.refresh()
    (place / "b.jsonl").unlink()
    after = index.refresh()
    assert (after.unread, [*after.heads]) == ({}, ["a.1"])
    add(place / "c.jsonl", line("two"))
    opened = Path.open

    def vanishing(self: Path, mode: str) -> object:
        shutil.rmtree(place.parent, ignore_errors=True)
        return opened(self, mode)

    monkeypatch.setattr(Path, "open", vanishing)
    assert index.refresh().heads.keys() <= {"a.1"}  # it went while it was read
    assert index.read("a.1") is None
    assert (index.refresh().heads, index.contents.unread) == ({}, {})
    assert len({before.version, after.version, index.contents.version, ""}) == 4
    assert not place.parent.exists()  # and is not made anew


def test_a_file_that_cannot_be_read_is_counted_until_it_can(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(place / "a.jsonl", line("one"))
    index = StoreIndex()

    def refused(self: Path, mode: str) -> object:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refused)
        first = index.refresh()
        assert (first.heads, first.unread) == ({}, {"a.jsonl": 1})
        assert index.refresh() is first
        assert index.read("a.1") is None
    assert (found(index.refresh()), index.contents.unread) == ({"a.1": "one"}, {})


@pytest.mark.parametrize("lines", [1, 2, 3])
@pytest.mark.parametrize("in_place", [True, False])
def test_a_file_that_was_replaced_is_read_anew(place: Path, lines: int, in_place: bool) -> None:
    """By fewer, as many, or more bytes, under the same inode or another one."""
    path = place / "a.jsonl"
    path.write_bytes(line("one") + line("two"))
    index = StoreIndex()
    before = index.refresh()
    if not in_place:
        path.rename(place / "old")
    path.write_bytes(b"".join(line(f"new{number}") for number in range(lines)))
    os.utime(path, (5.0, 5.0))
    assert index.read("a.1") is None  # not the new one under the old one's id
    after = index.refresh()
    assert sorted(found(after).values()) == [f"new{number}" for number in range(lines)]
    assert after.version != before.version
    assert index.read("a.1") == past("new0")


def test_names_that_are_not_utf8_fit_into_json(place: Path) -> None:
    try:
        add(Path(os.fsdecode(os.fsencode(place) + b"/\xff.jsonl")), line("one") + b"bad")
    except OSError:
        pytest.skip("this file system takes no such name")
    index = StoreIndex()
    assert found(index.refresh()) == {"\\xff.1": "one"}
    assert index.contents.unread == {"\\xff.jsonl": 1}
    assert msgspec.json.encode([*index.contents.heads])
    assert index.read("\\xff.1") == past("one")


def test_it_is_refreshed_while_another_process_appends(place: Path) -> None:
    """Nothing is lost, read twice, or taken for broken for good."""
    path, count = place / "a.jsonl", 50
    (place / "line").write_bytes(line("x"))
    code = (
        f"data = open({str(place / 'line')!r}, 'rb').read()\n"
        f"with open({str(path)!r}, 'ab', 0) as file:\n"
        f"    for number in range({count}):\n"
        "        half = number * 7919 % len(data)\n"
        "        file.write(data[:half])\n"
        "        file.write(data[half:])\n"
    )
    index, sizes = StoreIndex(), list[int]()
    with subprocess.Popen([sys.executable, "-Sc", code]) as writer:
        threads = [threading.Thread(target=index.refresh) for _ in range(4)]
        for thread in threads:
            thread.start()
        while writer.poll() is None:
            sizes.append(len(index.refresh().heads))
        for thread in threads:
            thread.join()
    assert writer.returncode == 0
    assert sizes == sorted(sizes)
    contents = index.refresh()
    assert {*contents.heads} == {f"a.{number}" for number in range(1, count + 1)}
    assert contents.unread == {}
    assert index.read(f"a.{count}") == past("x")
