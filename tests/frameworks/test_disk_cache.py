"""What is kept of a cache's entries, and in what a search differs from them."""

from datetime import datetime
from pathlib import Path

import pytest

from ipyjaxbench.frameworks import DIGEST, PROGRAM, Entry, explain_miss, keep_entry, read_entries
from ipyjaxbench.frameworks.disk_cache.miss import CAUSES, Difference, DiskMiss
from ipyjaxbench.host import data_folder

NOW = datetime(2026, 11, 27, 12).timestamp()
DAY = 86400.0
USUAL = {
    PROGRAM: {DIGEST: "p", "types": "f32[8]", "code": "c"},
    "jaxlib version": {DIGEST: "j", "": "0.10.2"},
    "XLA flags": {DIGEST: "x"},
    "compile options": {DIGEST: "o", "num_replicas": "1"},
}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))


def entry(key: str, age: float = 0.0, **parts: dict[str, str]) -> Entry:
    return Entry(key, NOW - age, {**USUAL, **{k.replace("_", " "): v for k, v in parts.items()}})


def kept(name: str = "f", folder: str = "/c", framework: str = "jax") -> list[str]:
    return [each.key for each in read_entries(framework, folder, name)]


def words(sought: Entry, *entries: Entry, gone: str = "") -> str:
    miss = explain_miss("f", sought, entries, lambda key: key != gone, was_there=False)
    return miss.words()


OTHER_OPTIONS = {DIGEST: "q", "num_replicas": "1"}


@pytest.mark.parametrize(("sought", "old", "said"), [
    # What implies another part is named alone.
    ({"XLA_flags": {DIGEST: "y", "--xla_a": "1"}, "compile_options": OTHER_OPTIONS}, {},
     "XLA flags differ from the entry of 20 November (--xla_a=1 is new)"),
    # What is hashed is the same, whatever was noted with it.
    ({"compile_options": OTHER_OPTIONS, "XLA_flags": {DIGEST: "x", "--b": "1"}}, {},
     "compile options differ from the entry of 20 November"),
    # Only the hash is known.
    ({"compile_options": OTHER_OPTIONS}, {},
     "compile options differ from the entry of 20 November"),
    ({"jaxlib_version": {"": "0.10.3"}, "XLA_flags": {"--a": "1", "--b": ""}},
     {"age": 400 * DAY, "XLA_flags": {"--a": "2", "--c": "3", "--d": "4", "--e": "5"}},
     ("jaxlib version (0.10.3, was 0.10.2) and XLA flags (--a=1, was 2; --b is new; without"
      " --c=3; and 2 more) differ from the entry of 23 October 2025")),
])  # fmt: skip
def test_parts_that_differ_are_named(
    sought: dict[str, dict[str, str]], old: dict[str, dict[str, str]], said: str
) -> None:
    assert words(entry("b", **sought), entry("a", **{"age": 7 * DAY, **old})) == said


def test_the_nearest_entry_has_the_same_program_then_fewest_other_parts_and_is_new() -> None:
    other = {DIGEST: "p2", "types": "f32[9]", "code": "c2"}
    sought = entry("z", XLA_flags={"--a": "1"})
    near = entry("near", 5 * DAY)
    both = entry("both", 2 * DAY, jaxlib_version={"": "0.9"})
    far = Entry("far", NOW - DAY, {**USUAL, PROGRAM: other, "XLA flags": {"--a": "1"}})
    assert "22 November" in words(sought, near, both, far)
    assert "25 November" in words(sought, near, both, far, gone="near")
    assert words(sought, far) == CAUSES["types"]
    assert "24 November" in words(sought, near, entry("newer", 3 * DAY), far)
    sought = entry("a")  # one that is made for a search is not what it is compared with
    assert words(sought, sought) == CAUSES["first"]
    gone = "the entry of 26 November is gone from the cache folder"
    assert words(sought, entry("a", DAY), sought) == gone


def test_entries_are_kept_by_framework_folder_and_program() -> None:
    names = ["f", "f/../g", "f/../h", "ä" * 300, "ä" * 301, ""]  # that no file can have
    for name in names:
        keep_entry("jax", "/c", name, entry(name, DAY))
    keep_entry("jax", "/c", "f", entry("two"))
    assert [kept(name) for name in names] == [["f", "two"], *([name] for name in names[1:])]
    assert read_entries("jax", "/c", "f")[0] == entry("f", DAY)
    assert kept(framework="torch") == kept(folder="/d") == kept("g") == []
    assert all(path.stat().st_mode & 0o077 == 0 for path in data_folder("disk_cache").iterdir())


def test_old_entries_make_room_and_what_is_none_is_left_out() -> None:
    for number in range(100):
        keep_entry("jax", "/c", "f", entry(str(number)))
    found = kept()
    assert found[-1] == "99"
    assert 32 <= len(found) <= 64
    (path,) = data_folder("disk_cache").iterdir()
    path.write_bytes(b'{"key":"cut' + b"\n[]\n\xff\n" + path.read_bytes())
    assert kept() == found


def test_no_folder_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    keep_entry("jax", "/c", "f", entry("one"))
    assert kept() == []


@pytest.mark.parametrize("moment", [1e300, -1.0])
def test_a_forged_moment_is_a_question_mark(moment: float) -> None:
    flags = (Difference("XLA flags", ""),)
    miss = DiskMiss("f", NOW, "differs", flags, moment)
    assert miss.words().startswith("XLA flags differ from the entry of ")
