"""Where a trace may be written, and that nothing is lost where it cannot be."""

import gzip
import os
from pathlib import Path

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.timing.perfetto import file as trace_file
from ipyjaxbench.timing.perfetto.file import find_target, write_trace
from tests.chrome_trace import read
from tests.timing.perfetto.test_events import session

FACTS = {"code": 'f("x")', "versions": "jax 0.10.2"}


def write(path: Path) -> trace_file.TraceFile:
    """A trace there."""
    return write_trace(find_target(str(path)), [session()], FACTS, "")


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_a_trace_is_written_and_replaces_one_of_ours(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for _ in range(2):
        written = write(path)
        assert (written.path, written.nbytes) == (str(path), path.stat().st_size)
        assert (written.events, written.reason, written.missing) == (5, "", "")
        assert len(read(path)) == 5
    assert os.listdir(tmp_path) == [name]
    write(tmp_path / "b.json")
    content = path.read_bytes()
    packed = gzip.decompress(content) if name.endswith("gz") else content
    assert packed == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize(
    "content",
    [b"{}", b'{"traceEvents": []}', gzip.compress(b"{}"), b"\x1f\x8bbroken", b"\x00" * 100],
)
def test_another_file_is_not_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    with pytest.raises(OptionError, match="no trace of ipyjaxbench; give another name, or remove"):
        find_target(str(path))
    assert path.read_bytes() == content


def test_a_file_that_comes_while_calls_are_made_is_not_overwritten(tmp_path: Path) -> None:
    path = find_target(str(tmp_path / "a.json"))
    path.write_text("mine")
    written = write_trace(path, [session()], FACTS, "")
    assert written.words() == "not written: a.json is another file by now"
    assert path.read_text() == "mine"


def test_a_folder_is_no_file_and_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(OptionError, match="is a folder; give a file, such as"):
        find_target(str(tmp_path / "a.json"))
    with pytest.raises(OptionError, match=r"there is no folder .*nowhere; make it"):
        find_target(str(tmp_path / "nowhere" / "a.json"))
    (tmp_path / "link.json").symlink_to(tmp_path / "b.json")
    write(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()  # it stays a link
    assert read(tmp_path / "b.json")


def test_what_the_disk_refuses_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.json")
    before = (tmp_path / "a.json").read_bytes()

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trace_file.os, "replace", full)
    assert write(tmp_path / "a.json").words() == "not written: No space left on device"
    assert os.listdir(tmp_path) == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == before


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = find_target(str(tmp_path / "a.json"))
    written = write_trace(path, [], FACTS, "interrupted")
    assert written.words() == "not written: interrupted"
    assert not path.exists()
    written = write_trace(path, [session(offset=None)], FACTS, "")
    assert written.missing == "jax: the moment of its operations is not known"
    assert written.words().endswith("ui.perfetto.dev; " + written.missing)
