"""What earlier versions saved still reads and says what it said; each kind becomes a frame."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench import MissingLibraryError
from ipyjaxbench.records.history import History
from ipyjaxbench.records.notebooks import KINDS, read_notebook
from ipyjaxbench.reports.blocks import Headline
from tests.results import holds

SAVED = Path(__file__).parent / "saved"
MIME = "application/vnd.ipyjaxbench.result.v1+json"
NOTEBOOK = SAVED / "every_kind.ipynb"
RECORDS = read_notebook(NOTEBOOK)
RESULTS = [saved.result for saved in RECORDS]
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
    assert not RECORDS.refused
    assert len(RECORDS) == len(OUTPUTS)
    assert {result.kind for result in RESULTS} == {*KINDS, "loop"}
    assert [saved.name for saved in RECORDS][:2] == ["base", ""]


@pytest.mark.parametrize("number", range(len(OUTPUTS)))
def test_a_record_reads_as_it_was_saved(number: int) -> None:
    """The text is that of the saved notebook, the record is unchanged, and there is HTML."""
    result = RESULTS[number]
    assert str(result) == OUTPUTS[number]["text/plain"], "run: python -m tests.records.resave"
    assert holds(json.loads(json.dumps(result.to_dict())), OUTPUTS[number][MIME])
    html = result._repr_mimebundle_()["text/html"]
    titles = [block.title for block in result.report().blocks if isinstance(block, Headline)]
    assert all(title.split()[0] in html for title in titles if title)


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


#: How a column of numbers ends, or what it is.
UNITS = ("_s", "_bytes", "flop", "_per_s", "ratio", "ratio_low", "ratio_high")
COUNTS = ("line", "arrays", "steps", "cell", "call", "times", "count", "samples")


@pytest.mark.parametrize("result", [RECORDS, *RESULTS], ids=lambda result: type(result).__name__)
def test_a_frame_has_a_row_for_each_part_and_units_in_its_names(result: Any) -> None:
    frame = result.to_pandas()
    assert len(frame) == len(result.rows())
    for name, kind in frame.dtypes.items():
        if kind.kind == "f" and frame[name].notna().any():
            assert str(name).endswith(UNITS), name
        if kind.kind in "iu":
            assert str(name).endswith((*UNITS, *COUNTS)), name


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingLibraryError, match="pandas is not installed: pip install"):
        RECORDS.to_pandas()


def test_frames_of_measurements_and_of_the_history_have_the_same_times() -> None:
    kinds = {type(result).__name__: result for result in RESULTS}
    measurement, history = kinds["Measurement"], kinds["History"]
    assert measurement.to_pandas()["median_s"][0] == measurement.median
    assert list(history.to_pandas()["median_s"]) == [entry.median for entry in history]
    assert {"median_s", "rerun_low_s", "rerun_high_s", "verdict"} <= {*measurement.rows()[0]} & {
        *history.rows()[0]
    }
