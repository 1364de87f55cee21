"""Pictures as matplotlib draws them."""

import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from ipyjaxbench.errors import MissingLibraryError, OptionError
from ipyjaxbench.reports import figures
from tests.reports.pictures.test_bars import BARS
from tests.reports.pictures.test_chart import CROSSING, OVER_TIME
from tests.reports.pictures.test_distribution import EVEN, Distribution
from tests.reports.pictures.test_flows import ALL
from tests.reports.pictures.test_stack import CALL
from tests.reports.pictures.test_tiles import BOTH, ROWS, Tiles

SAMPLES = Distribution("samples", EVEN)


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    import matplotlib as mpl

    mpl.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_flows_are_bars_and_tiles_are_rectangles() -> None:
    flows, tiles = figures.plot([ALL, Tiles((BOTH, ROWS))])
    assert [bar.get_width() for bar in flows.patches] == [1000, 200, 10]
    names = [tick.get_text() for tick in flows.get_yticklabels()]
    assert names == ["host → gpu:0", "gpu:0 → host", "gpu:0 → gpu:1"]
    assert [text.get_text() for text in flows.texts] == [flow.words for flow in ALL.rows]
    assert len(tiles.patches) == 6
    assert {"w f32[16,8]", "cpu:3", "2,3", "columns 0-3"} <= {
        text.get_text() for text in tiles.texts
    }


def test_given_axes_get_the_first_picture() -> None:
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    assert figures.plot([BARS, CALL], ax) is ax
    assert [bar.get_width() for bar in ax.patches] == [0.2, 0.1]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["numpy", "jax"]
    errors: Any = next(each for each in ax.containers if hasattr(each, "has_xerr"))
    ends = errors.lines[2][0].get_segments()
    assert ends[0][:, 0].tolist() == pytest.approx([0.15, 0.25])


def test_segments_are_stacked_and_each_picture_has_axes_of_its_own() -> None:
    ax, *others = figures.plot([CALL, SAMPLES, BARS, OVER_TIME, CROSSING])
    assert len(others) == 4
    ax.figure.savefig(io.BytesIO())
    assert [bar.get_x() for bar in ax.patches[:4]] == pytest.approx([0, 1e-3, 3e-3, 7e-3])
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["trace", "lower", "compile", "run"]


def test_a_chart_keeps_its_axes_dates_are_ticks_and_changes_stand_above() -> None:
    ax = figures.plot([CROSSING])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("n", "time per call")
    assert ax.lines[0].get_xydata().tolist() == [[1, 1e-3], [10, 1e-2], [100, 1e-1]]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1 ms", "10 ms", "100 ms"]
    ax = figures.plot([OVER_TIME])
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels == [shown for _, shown in OVER_TIME.across_ticks(6)]
    assert ax.get_title() == "jax 0.10.2"


def test_nothing_to_plot_and_a_missing_library_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match=r"^plot\(\) draws the pictures of the report, and"):
        figures.plot([])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingLibraryError, match="matplotlib"):
        figures.plot([CALL])
