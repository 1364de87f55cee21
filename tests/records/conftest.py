"""A store of its own for each test that asks for it."""

from pathlib import Path

import pytest


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the history."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    folder = tmp_path / "ipyjaxbench" / "history"
    folder.mkdir(parents=True)
    return folder
