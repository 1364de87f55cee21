"""Files that outlive a notebook stand below Jupyter's data directory."""

import os
from pathlib import Path

import pytest

from ipyjaxbench.host.data_dir import make_data_folder


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_folder_is_made_below_jupyters_data_directory(data_dir: Path) -> None:
    assert make_data_folder("history") == data_dir / "ipyjaxbench" / "history"
    assert (data_dir / "ipyjaxbench" / "history").is_dir()


def test_a_folder_that_cannot_be_made_is_none(data_dir: Path) -> None:
    data_dir.write_text("a file stands where the directory would")
    assert make_data_folder("history") is None


def test_a_folder_that_exists_is_taken_as_it_is(data_dir: Path) -> None:
    first = make_data_folder("ceilings")
    assert first is not None
    (first / "kept").touch()
    assert os.listdir(make_data_folder("ceilings") or "") == ["kept"]


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}


def test_their_owner_alone_may_read_what_is_kept(data_dir: Path) -> None:
    folder = make_data_folder("history")
    assert folder is not None
    assert modes(folder) | modes(folder.parent) == {0o700}


def test_what_earlier_versions_left_open_is_closed(data_dir: Path) -> None:
    old = data_dir / "ipyjaxbench" / "ceilings"
    old.mkdir(parents=True, mode=0o755)
    (old / "a.json").touch(mode=0o644)
    folder = make_data_folder("ceilings")
    assert folder is not None
    assert (folder / "a.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700


def test_files_elsewhere_stay_open_to_whom_they_are(data_dir: Path, tmp_path: Path) -> None:
    """A link in the folder leads to a file that is not ours."""
    other = tmp_path / "other"
    other.touch(mode=0o644)
    old = data_dir / "ipyjaxbench" / "history"
    old.mkdir(parents=True, mode=0o755)
    (old / "link.jsonl").symlink_to(other)
    assert make_data_folder("history") == old
    assert other.stat().st_mode & 0o777 == 0o644
