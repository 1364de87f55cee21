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
NOT_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


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


def test_an_end_of_gz_packs_it(tmp_path: Path) -> None:
    write(tmp_path / "a.json")
    write(tmp_path / "a.json.gz")
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "a.json").read_bytes()


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


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(OptionError, match="is a folder; give a file, such as"):
        find_target(str(tmp_path / "a.json"))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"there is no folder .*nowhere; make it"):
        find_target(str(tmp_path / "nowhere" / "a.json"))


@NOT_ROOT
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OptionError, match="you may not write into"):
        find_target(str(tmp_path / "a.json"))


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


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "a.json")
    write(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read(tmp_path / "a.json")


def test_why_there_is_no_pass_is_said(tmp_path: Path) -> None:
    written = write_trace(find_target(str(tmp_path / "a.json")), [], FACTS, "interrupted")
    assert written.words() == "not written: interrupted"
    assert not (tmp_path / "a.json").exists()


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = find_target(str(tmp_path / "a.json"))
    written = write_trace(path, [session(offset=None)], FACTS, "")
    assert written.missing == "jax: the moment of its operations is not known"
    assert written.words().endswith("ui.perfetto.dev; " + written.missing)
