"""Every kind of result becomes a pandas frame, whose columns say their units."""

from typing import Any

import pytest

from ipyjaxbench import MissingLibraryError
from ipyjaxbench.records.notebooks import read_notebook
from tests.records.test_saved import NOTEBOOK

RECORDS = read_notebook(NOTEBOOK)
RESULTS = [RECORDS, *(saved.result for saved in RECORDS)]
#: How a column of numbers ends, or what it is.
UNITS = ("_s", "_bytes", "flop", "_per_s", "ratio", "ratio_low", "ratio_high")
COUNTS = ("line", "arrays", "steps", "cell", "call", "times", "count", "samples")


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
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
