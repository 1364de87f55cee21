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
    folder = make_data_folder("history")
    assert folder == data_dir / "ipyjaxbench" / "history"
    assert modes(folder) | modes(folder.parent) == {
        0o700
    }  # their owner alone may read what is kept
    (folder / "kept").touch()
    assert os.listdir(make_data_folder("history") or "") == ["kept"]


def test_a_folder_that_cannot_be_made_is_none(data_dir: Path) -> None:
    data_dir.write_text("a file stands where the directory would")
    assert make_data_folder("history") is None


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}


def test_what_earlier_versions_left_open_is_closed(data_dir: Path, tmp_path: Path) -> None:
    old, other = data_dir / "ipyjaxbench" / "ceilings", tmp_path / "other"
    old.mkdir(parents=True, mode=0o755)
    (old / "a.json").touch(mode=0o644)
    other.touch(mode=0o644)
    (old / "link.jsonl").symlink_to(other)
    folder = make_data_folder("ceilings")
    assert folder is not None
    assert (folder / "a.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
    assert other.stat().st_mode & 0o777 == 0o644  # which is not ours
