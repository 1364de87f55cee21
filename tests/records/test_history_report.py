"""The history as a table and a picture."""

from datetime import datetime
from typing import Any

import pytest

from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.history import History
from ipyjaxbench.records.history_report import moment
from ipyjaxbench.reports import Chart, Facts, Headline, Table
from ipyjaxbench.timing.figure_change import Figure

NOW = datetime(2026, 5, 21, 12, 0).timestamp()
MAY = datetime(2026, 5, 1, 10, 30).timestamp()
BEFORE = datetime(2025, 12, 31, 23, 59).timestamp()
JAX = Environment(frameworks={"numpy": "2.1", "jax": "0.10.2"}, devices=("cpu:0",))


def past(
    label: str = "f",
    when: float = MAY,
    figure: Figure | None = None,
    environment: Environment = JAX,
    **facts: Any,
) -> HistoryEntry:
    figure = figure or Figure(1e-3, 0.02, 40, "QUIET")
    return HistoryEntry(1, when, "fwtime", label, "f(x)", figure, 1e-3, environment=environment,
                        **facts)  # fmt: skip


def of(*entries: HistoryEntry, **facts: Any) -> History:
    known = {"found": len(entries), "kept": len(entries), "now": NOW} | facts
    return History(entries, **known)


def blocks(history: History, kind: type) -> list[Any]:
    return [block for block in history.report().blocks if isinstance(block, kind)]


def test_facts_that_cannot_be_true_are_refused() -> None:
    assert of(past()).check() is None
    assert of(past(), kept=3, found=2).check() is None
    words = "it holds more entries than were found, or more were found than are kept"
    assert of(past(), found=0).check() == words
    assert of(past(), found=2, kept=1).check() == words
    other = past(picoseconds=(1,), rounds=())
    assert of(past(), other).check() == "the rounds do not add up to the samples"


def test_it_is_a_sequence_with_a_line_for_itself() -> None:
    history = of(past("a"), past("b"), kept=5)
    assert (len(history), history[1].label, history[:1]) == (2, "b", history.entries[:1])
    assert repr(history) == "<History of 2 of 5 measurements>"


@pytest.mark.parametrize(
    ("entries", "found", "kept", "figure", "detail"),
    [
        (2, 2, 2, "2 measurements", "all that are kept"),
        (1, 1, 1, "1 measurement", "all that are kept"),
        (2, 3, 5, "2 measurements", "of 3 that match, of 5 kept"),
        (2, 2, 5, "2 measurements", "of 5 kept"),
        (2, 5, 5, "2 measurements", "of 5 kept"),
        (0, 0, 1200, "0 measurements", "of 1,200 kept"),
        (0, 0, 0, "nothing", "is kept yet: what %fwtime and %%fwcompare measure will be"),
    ],
)
def test_the_headline_says_how_many_of_how_many(
    entries: int, found: int, kept: int, figure: str, detail: str
) -> None:
    (headline,) = blocks(of(*[past()] * entries, found=found, kept=kept), Headline)
    assert (headline.title, headline.figure, headline.detail) == ("history", figure, detail)


def test_a_row_has_figure_device_and_version() -> None:
    two, three = (Environment(python="3.11", devices=("a", "b", "c")[:n]) for n in (2, 3))
    plain = Environment(frameworks={"python": "3.12"}, revision="c0ffee1234")
    rows = of(
        past(),
        past("", environment=two),
        past("n", at={"n": "3"}, environment=three),
        past(when=BEFORE, environment=plain),
        past(environment=Environment(frameworks={"torch": "2.13.0"}, revision="c0ffee1234")),
        past(environment=Environment(frameworks={"torch": "2.13.01"}, revision="c0ffee1234")),
    )
    (table,) = blocks(rows, Table)
    assert table.head == ("measured", "when", "per call", "on", "with")
    assert not table.folded
    figure = "1.00 ms ± 2.0 %"
    assert table.rows == (
        ("f", "May 01 10:30", figure, "cpu:0", "jax 0.10.2"),
        ("f(x)", "May 01 10:30", figure, "a, b", "python 3.11"),
        ("n n=3", "May 01 10:30", figure, "a, b …", "python 3.11"),
        ("f", "2025-12-31", figure, "", "python 3.12 c0ffee1"),
        ("f", "May 01 10:30", figure, "", "torch 2.13.0 c0ffee1"),
        ("f", "May 01 10:30", figure, "", "torch 2.13.01"),
    )
    assert blocks(of(kept=3), Table) == []


@pytest.mark.parametrize("verdict", ["INVALID", "RECOMPILES", "ONCE"])
def test_a_figure_that_is_none_has_its_verdict_beside_it(verdict: str) -> None:
    (table,) = blocks(of(past(figure=Figure(2e-3, 0.02, 40, verdict))), Table)
    assert table.rows[0][2] == f"2.00 ms {verdict}"


@pytest.mark.parametrize("when", [1e300, float("nan"), float("inf")])
def test_a_moment_that_no_calendar_has_is_a_question_mark(when: float) -> None:
    assert moment(when, NOW) == moment(NOW, when) == "?"


def test_the_picture_has_a_line_for_each_name_with_two_figures() -> None:
    wide, unknown = Figure(4e-3, 0.5, 40, "NOISY"), Figure(3e-3, None, 0, "OK")
    history = of(
        past("a", MAY + 300), past("b", MAY + 200, wide), past("b", MAY + 100, unknown),
        past("b", MAY), past("c", MAY), past("a", MAY + 50),
        past("none", MAY, Figure(0.0, None, 0, "OK")), past("none", MAY),
        plotted=True,
    )  # fmt: skip
    (chart,) = blocks(history, Chart)
    assert (chart.x.unit, chart.y.name, chart.y.unit) == ("date", "time per call", "s")
    assert [series.label for series in chart.series] == ["b", "a"]
    certain = (1e-3, pytest.approx(0.98e-3), pytest.approx(1.02e-3))
    assert chart.series[0].points == (
        (MAY, *certain),
        (MAY + 100, 3e-3, 3e-3, 3e-3),
        (MAY + 200, 4e-3, 2e-3, 6e-3),
    )
    assert chart.series[1].points == ((MAY + 50, *certain), (MAY + 300, *certain))
    across, _ = chart.scales()
    assert (across.low, across.high) == (MAY, MAY + 300)
    assert blocks(history, Facts) == []


def test_a_picture_has_eight_lines_at_most_with_short_names() -> None:
    pairs = [past(f"a rather long name of line {n}") for n in range(10) for _ in range(2)]
    (chart,) = blocks(of(*pairs, plotted=True), Chart)
    assert len(chart.series) == 8
    assert {len(series.label) for series in chart.series} == {16}
    assert blocks(of(*pairs), Chart) == []


def test_what_there_is_to_know_stands_below() -> None:
    files = {f"{name}.jsonl": 2 for name in "abc"}
    (facts,) = blocks(of(past(), unread=files, trouble="no room", removed=(1, 3)), Facts)
    assert facts.rows == (
        ("removed", "3 measurements in 1 file"),
        ("left out", "6 lines that could not be read, in a.jsonl, b.jsonl, c.jsonl"),
        ("not kept", "what this session measures: no room"),
    )
    (facts,) = blocks(of(past(), unread=files | {"d.jsonl": 1}), Facts)
    shown = "7 lines that could not be read, in a.jsonl, b.jsonl, c.jsonl …"
    assert facts.rows == (("left out", shown),)
    (facts,) = blocks(of(past(), plotted=True), Facts)
    assert facts.rows == (("plot", "there are no two measurements of one name to draw over time"),)
    assert blocks(of(past()), Facts) == []
