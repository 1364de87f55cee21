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
)
from ipyjaxbench.records.store import read_store
from tests.results import STEADY, measured

pytestmark = pytest.mark.usefixtures("place")


def past(label: str, when: float = 1e9) -> HistoryEntry:
    phases = {"compile": 0.001, "trace": 0.0005}
    m = measured(STEADY, phases=phases)
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


def test_a_folder_that_is_missing_is_empty_and_is_not_made(place: Path) -> None:
    shutil.rmtree(place.parent)
    index = StoreIndex()
    assert index.folder == place
    assert (index.refresh().heads, index.contents.unread) == ({}, {})
    assert index.contents.version
    assert not place.parent.exists()


def test_entries_are_found_by_id_the_newest_first(place: Path) -> None:
    add(place / "a.jsonl", line("one", 1.0) + line("three", 3.0))
    add(place / "b.jsonl", line("two", 2.0))
    assert found(StoreIndex().refresh()) == {"a.2": "three", "b.1": "two", "a.1": "one"}


def test_what_a_magic_appends_is_there_after_the_next_refresh(place: Path) -> None:
    index, journal = StoreIndex(), Journal()
    journal.append([past("one")])
    first = index.refresh()
    journal.append([past("two")])
    second = index.refresh()
    journal.close()
    (path,) = place.iterdir()
    assert [*first.heads] == [f"{path.stem}.1"]
    assert set(second.heads) == {f"{path.stem}.1", f"{path.stem}.2"}
    assert first.version != second.version
    (one,) = first.heads.values()
    assert second.heads[f"{path.stem}.1"] is one  # it was not read again


def test_what_has_not_changed_is_the_same_object(place: Path) -> None:
    add(place / "a.jsonl", line("one"))
    index = StoreIndex()
    assert index.refresh() is index.refresh() is index.contents


def test_two_servers_that_see_the_same_have_the_same_version(place: Path) -> None:
    add(place / "a.jsonl", line("one"))
    first, second = StoreIndex(), StoreIndex()
    first.refresh()
    add(place / "a.jsonl", line("two"))
    assert first.refresh().version == second.refresh().version
    first.folder.joinpath("a.jsonl").unlink()
    assert first.refresh().version != second.contents.version


def test_the_head_is_the_entry_without_its_samples(place: Path) -> None:
    add(place / "a.jsonl", line("one"))
    entry, head = past("one"), StoreIndex().refresh().heads["a.1"]
    for name in ("name", "median", "interval", "figure", "where", "environment", "first_call"):
        assert getattr(head, name) == getattr(entry, name)
    assert head.row() == entry.row()
    assert head.first_call == {"trace": 0.0005, "compile": 0.001, "run": 0.0005}
    assert not hasattr(head, "picoseconds")


def test_an_entry_is_read_whole_by_its_id(place: Path) -> None:
    add(place / "a.b.jsonl", line("one") + b"\n" + line("three"))
    add(place / "a.jsonl", line("other"))
    index = StoreIndex()
    assert index.read("a.b.1") is None  # nothing was looked for yet
    index.refresh()
    assert index.read("a.b.1") == past("one")
    assert index.read("a.b.3") == past("three")
    assert index.read("a.1") == past("other")


@pytest.mark.parametrize(
    "wrong",
    ["", ".", "a", "a.", "a.0", "a.2", "a.01", "a.-1", "a.jsonl.1", "../b.1", "../history/a.1",
     "/etc/passwd", "a.1\x00", "A.1", "a.1 ", "b.1"],
)  # fmt: skip
def test_an_id_that_is_not_in_the_index_reads_nothing(place: Path, wrong: str) -> None:
    add(place / "a.jsonl", line("one"))
    add(place.parent / "b.jsonl", line("secret"))
    index = StoreIndex()
    index.refresh()
    assert index.read(wrong) is None


def test_a_link_is_not_followed(place: Path) -> None:
    add(place.parent / "b.jsonl", line("secret"))
    (place / "b.jsonl").symlink_to(place.parent / "b.jsonl")
    assert StoreIndex().refresh().heads == {}


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


def test_lines_that_are_no_entries_are_counted_once(place: Path) -> None:
    index, nested = StoreIndex(), b'{"at":' * 100_000
    whole = msgspec.to_builtins(past("x"))
    wrong = [msgspec.json.encode(whole | change) for change in ({"schema": 99}, {"when": -1.0})]
    add(place / "a.jsonl", b"\n".join([b"\xff\xfe", b"null", nested, b" ", *wrong, b""]))
    for _ in range(3):
        assert index.refresh().unread == {"a.jsonl": 5}
        add(place / "a.jsonl", line("good"))
    assert sum(read_store().unread.values()) == 5
    assert {*index.refresh().heads} == {"a.7", "a.8", "a.9"}


@pytest.mark.parametrize(
    "wrong", [{"rounds": [5]}, {"picoseconds": [-1], "rounds": [1]},
              {"figure": {"median": 1e308, "half_width": 0.1, "samples": 9, "verdict": "OK"}}],
)  # fmt: skip
def test_an_entry_that_cannot_be_true_is_in_neither_way_of_reading(
    place: Path, wrong: dict[str, object]
) -> None:
    facts = msgspec.to_builtins(past("one"))
    add(place / "a.jsonl", msgspec.json.encode(facts | wrong) + b"\n")
    add(place / "a.jsonl", msgspec.json.encode(facts) + b"\n")
    contents = StoreIndex().refresh()
    assert found(contents) == {"a.2": "one"}
    assert contents.unread == {"a.jsonl": 1} == read_store().unread
    assert len(read_store().entries) == 1


def test_files_that_vanished_are_dropped(place: Path) -> None:
    add(place / "a.jsonl", line("one"))
    add(place / "b.jsonl", b"broken\n")
    index = StoreIndex()
    before = index.refresh()
    (place / "b.jsonl").unlink()
    after = index.refresh()
    assert (after.unread, [*after.heads]) == ({}, ["a.1"])
    shutil.rmtree(place)
    assert index.read("a.1") is None
    assert index.refresh().heads == {}
    assert len({before.version, after.version, index.contents.version}) == 3


def test_a_file_that_vanishes_while_it_is_read_is_dropped(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(place / "a.jsonl", line("one"))
    add(place / "b.jsonl", line("two"))
    opened = Path.open

    def vanishing(self: Path, mode: str) -> object:
        self.with_name("b.jsonl").unlink(missing_ok=True)
        return opened(self, mode)

    monkeypatch.setattr(Path, "open", vanishing)
    index = StoreIndex()
    assert (found(index.refresh()), index.contents.unread) in [({"a.1": "one"}, {}), ({}, {})]


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
    path, count = place / "a.jsonl", 100
    (place / "line").write_bytes(line("x"))
    code = (
        "import sys\n"
        f"data = open({str(place / 'line')!r}, 'rb').read()\n"
        f"with open({str(path)!r}, 'ab', 0) as file:\n"
        f"    for number in range({count}):\n"
        "        half = number * 7919 % len(data)\n"
        "        file.write(data[:half])\n"
        "        file.write(data[half:])\n"
    )
    index = StoreIndex()
    with subprocess.Popen([sys.executable, "-c", code]) as writer:
        threads = [threading.Thread(target=index.refresh) for _ in range(4)]
        for thread in threads:
            thread.start()
        sizes = []
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


def test_of_many_entries_only_what_is_new_is_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ipyjaxbench.records import store_index

    add(place / "a.jsonl", line("one") * 50)
    index = StoreIndex()
    assert len(index.refresh().heads) == 50
    decoded, decode = [], store_index._decode
    monkeypatch.setattr(store_index, "_decode", lambda *a: decoded.append(a) or decode(*a))
    index.refresh()
    assert decoded == []
    add(place / "a.jsonl", line("two"))
    assert index.refresh().heads["a.51"].label == "two"
    assert {data for _, data in decoded if data} == {line("two").rstrip()}
