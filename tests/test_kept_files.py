"""Files that outlive a notebook stand below Jupyter's data directory."""

import os
from pathlib import Path

import pytest

from ipyjaxbench import kept_files


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_folder_is_made_below_jupyters_data_directory(data_dir: Path) -> None:
    assert kept_files.folder("history") == data_dir / "ipyjaxbench" / "history"
    assert (data_dir / "ipyjaxbench" / "history").is_dir()


def test_a_folder_that_cannot_be_made_is_none(data_dir: Path) -> None:
    data_dir.write_text("a file stands where the directory would")
    assert kept_files.folder("history") is None


def test_a_folder_that_exists_is_taken_as_it_is(data_dir: Path) -> None:
    first = kept_files.folder("ceilings")
    assert first is not None
    (first / "kept").touch()
    assert os.listdir(kept_files.folder("ceilings") or "") == ["kept"]
