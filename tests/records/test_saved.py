"""Notebooks and histories that earlier versions saved still read, and say what they said."""

import json
import time
from pathlib import Path

import pytest

from ipyjaxbench.records.history import History
from ipyjaxbench.records.notebooks import KINDS, read_notebook
from ipyjaxbench.reports.blocks import Headline

SAVED = Path(__file__).parent / "saved"
MIME = "application/vnd.ipyjaxbench.result.v1+json"
NOTEBOOK = SAVED / "every_kind.ipynb"
OUTPUTS = [
    output["data"]
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    for output in cell["outputs"]
]


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The times of day are those of the saved text."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr("sys.stdout", None)  # no terminal tells how wide the text is


def test_every_record_is_read() -> None:
    """None is refused, and each kind of result is among them."""
    records = read_notebook(NOTEBOOK)
    assert not records.refused
    assert len(records) == len(OUTPUTS)
    assert {saved.result.kind for saved in records} == {*KINDS, "loop"}
    assert [saved.name for saved in records][:2] == ["base", ""]


@pytest.mark.parametrize("number", range(len(OUTPUTS)))
def test_a_record_reads_as_it_was_saved(number: int) -> None:
    """The text is that of the saved notebook, the record is unchanged, and there is HTML."""
    result = read_notebook(NOTEBOOK)[number].result
    assert str(result) == OUTPUTS[number]["text/plain"], "run: python -m tests.records.resave"
    assert unchanged(OUTPUTS[number][MIME], result.to_dict())
    html = result._repr_mimebundle_()["text/html"]
    titles = [block.title for block in result.report().blocks if isinstance(block, Headline)]
    assert all(title.partition("\n")[0].partition(" ")[0] in html for title in titles)
    assert all(title.partition("\n")[0].partition(" ")[0] in str(result) for title in titles)


def unchanged(saved: object, now: object) -> bool:
    """Whether all that was saved is as it was; a later version may have more fields."""
    if isinstance(saved, dict):
        assert isinstance(now, dict)
        return all(unchanged(value, now[name]) for name, value in saved.items())
    if isinstance(saved, list):
        assert isinstance(now, list)
        return len(saved) == len(now) and all(map(unchanged, saved, now))
    return saved == now


def test_a_saved_history_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each measurement is there, and its table is shown as text and as HTML."""
    from ipyjaxbench import history

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    folder = tmp_path / "ipyjaxbench" / "history"
    folder.mkdir(parents=True)
    (folder / "saved.jsonl").write_bytes((SAVED / "history.jsonl").read_bytes())
    kept = history()
    assert isinstance(kept, History)
    assert not kept.unread
    assert [entry.name for entry in kept] == ["jax.n=8", "jitted", "numpy", "base"]
    assert [round(entry.median * 1e6, 1) for entry in kept] == [182.3, 26.6, 10.5, 40.1]
    lines = str(kept).splitlines()
    assert lines[-1] == "  base     32.2 µs (5th percentile)  Nov 23 01:44   cpu:0   jax 0.10.2"
    assert "32.2 µs (5th percentile)" in kept._repr_mimebundle_()["text/html"]
