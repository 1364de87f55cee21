"""Past measurements are looked up, and shown as a table and a picture."""

import dataclasses
import os
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ipyjaxbench.records import History, HistoryOptions, Location, make_entries, query_history
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.history_report import moment
from ipyjaxbench.reports import Chart, Details, Facts, Footer, Headline, Mark, Table
from ipyjaxbench.timing.figure_change import Figure
from tests.results import blocks, measured

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


def test_it_is_a_sequence_of_facts_that_can_be_true() -> None:
    history = of(past("a"), past("b"), kept=5)
    assert (len(history), history[1].label, history[:1]) == (2, "b", history.entries[:1])
    assert repr(history) == "<History of 2 of 5 measurements>"
    assert history.check() is None
    words = "it holds more entries than were found, or more were found than are kept"
    assert of(past(), found=0).check() == of(past(), found=2, kept=1).check() == words
    other = past(picoseconds=(1,), rounds=())
    assert of(past(), other).check() == "the rounds do not add up to the samples"


@pytest.mark.parametrize(("entries", "found", "kept", "figure", "detail"), [
    (2, 2, 2, "2 measurements", "in the history"),
    (2, 3, 5, "2 measurements", "of 3 that match, of 5 in the history"),
    (2, 2, 5, "2 measurements", "of 5 in the history"),
    (2, 5, 5, "2 measurements", "of 5 in the history"),
    (0, 0, 1200, "no measurement matches", "of 1,200 in the history"),
    (0, 0, 0, "no measurements", "yet: %fwtime and %%fwcompare save theirs"),
])  # fmt: skip
def test_the_headline_says_how_many_of_how_many(
    entries: int, found: int, kept: int, figure: str, detail: str
) -> None:
    (headline,) = blocks(of(*[past()] * entries, found=found, kept=kept), Headline)
    assert (headline.title, headline.figure, headline.detail) == ("", figure, detail)


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
    assert table.head == ("name", "median ± rerun", "trend", "measured", "device", "version", "git")
    assert not table.folded
    figure = "1.00 ms ± 2.0 %"
    assert table.rows == (
        ("f", figure, "▁▁▁▁", "May 01 10:30", "cpu:0", "jax 0.10.2", ""),
        ("f(x)", figure, "", "May 01 10:30", "a, b", "python 3.11", ""),
        ("n.n=3", figure, "", "May 01 10:30", "a, b …", "python 3.11", ""),
        ("f", figure, "", "2025-12-31", "", "python 3.12", "c0ffee1"),
        ("f", figure, "", "May 01 10:30", "", "torch 2.13.0", "c0ffee1"),
        ("f", figure, "", "May 01 10:30", "", "torch 2.13.01", "c0ffee1"),
    )
    assert blocks(rows, Footer) == [Footer(())]
    assert blocks(of(kept=3), Table) == []


def test_what_is_the_same_in_all_rows_stands_once_below() -> None:
    around = Environment(frameworks={"jax": "0.10.2"}, devices=("cpu:0",), revision="c0ffee1234")
    history = of(past("a", environment=around), past("b", environment=around))
    (table,) = blocks(history, Table)
    assert table.head == ("name", "median ± rerun", "measured")
    assert blocks(history, Footer) == [Footer(("cpu:0", "jax 0.10.2", "git c0ffee1"))]
    assert str(history).splitlines()[-1] == "cpu:0 · jax 0.10.2 · git c0ffee1"
    assert blocks(of(kept=3), Footer) == []


def test_the_newest_row_of_a_name_has_its_trend_and_a_figure_that_is_none_its_verdict() -> None:
    slow = Figure(2e-3, 0.02, 40, "QUIET")
    history = of(past("a", MAY + 9, slow), past("b", MAY + 8), past("a", MAY + 2), past("a"))
    (table,) = blocks(history, Table)
    assert [(row[0], row[2]) for row in table.rows] == [
        ("a", "▁▁█"), ("b", ""), ("a", ""), ("a", ""),
    ]  # fmt: skip
    for verdict in ("INVALID", "RECOMPILES", "ONCE"):
        (table,) = blocks(of(past(figure=Figure(2e-3, 0.02, 40, verdict))), Table)
        assert table.rows[0][1] == f"2.00 ms {verdict}"


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
    assert (chart.x.unit, chart.y.name, chart.y.unit) == ("date", "median ± rerun, per call", "s")
    assert [series.label for series in chart.series] == ["b", "a"]
    certain = (1e-3, pytest.approx(1e-3 / 1.02), pytest.approx(1.02e-3))
    assert chart.series[0].points == (
        (MAY, *certain),
        (MAY + 100, 3e-3, 3e-3, 3e-3),
        (MAY + 200, 4e-3, pytest.approx(4e-3 / 1.5), 6e-3),
    )
    assert chart.series[1].points == ((MAY + 50, *certain), (MAY + 300, *certain))
    across, _ = chart.scales()
    assert (across.low, across.high) == (MAY, MAY + 300)
    assert blocks(history, Facts) == []


def test_a_picture_has_eight_lines_at_most_with_short_names() -> None:
    pairs = [past(f"a rather long name of line {n}") for n in range(10) for _ in range(2)]
    (chart,) = blocks(of(*pairs, plotted=True), Chart)
    assert len(chart.series) == 8
    shown = str(of(*pairs, plotted=True))
    assert all(f" {name}\n" in shown for name in {series.label for series in chart.series})
    assert "plot  8 of 10 names, those with the most measurements" in shown


def test_times_of_other_clocks_have_lines_of_their_own_and_a_chart_may_be_folded() -> None:
    history = of(past("a", MAY + 9), past("a", MAY + 8, clock="cpu"), past("a"))
    (table,) = blocks(history, Table)
    assert [row[0] for row in table.rows] == ["a", "a (CPU time)", "a"]
    (details,) = blocks(history, Details)  # a chart that was not asked for
    assert (details.summary, details.printed) == ("over time", False)
    (chart,) = history.report().pictures()
    assert [(series.label, len(series.points)) for series in chart.series] == [("a", 2)]
    assert "median ± rerun, per call" not in str(history)
    assert blocks(of(past("a"), past("b")), Details) == []


def test_changes_around_the_code_are_marked_when_they_were_seen_first() -> None:
    old = Environment(frameworks={"jax": "0.9.1"}, devices=("cpu:0",), revision="c0ffee1234",
                      data={"x": "f32[3]"})  # fmt: skip
    new = dataclasses.replace(old, frameworks={"jax": "0.10.2"}, devices=("cuda:0",))
    last = dataclasses.replace(new, revision="deadbeef12", data={"x": "f32[4]"})
    history = of(
        past("a", MAY + 30, environment=last), past("b", MAY + 25, environment=new),
        past("a", MAY + 20, environment=new), past("a", MAY + 10, environment=old),
        past("b", MAY, environment=old), plotted=True,
    )  # fmt: skip
    (chart,) = blocks(history, Chart)
    assert chart.marks == (
        Mark(MAY + 20, "jax 0.9.1 → 0.10.2, cpu:0 → cuda:0"),
        Mark(MAY + 30, "git c0ffee1 → deadbee"),
    )


def test_what_there_is_to_know_stands_below() -> None:
    files = {f"{name}.jsonl": 2 for name in "abc"}
    (facts,) = blocks(of(past(), unread=files, trouble="no room", removed=(1, 3)), Facts)
    assert facts.rows == (
        ("removed", "3 measurements in 1 file"),
        ("unreadable", "6 lines in a.jsonl, b.jsonl, c.jsonl"),
        ("not saved", "measurements of this session: no room"),
    )
    (facts,) = blocks(of(past(), unread=files | {"d.jsonl": 1}), Facts)
    shown = "7 lines in a.jsonl, b.jsonl, c.jsonl …"
    assert facts.rows == (("unreadable", shown),)
    (facts,) = blocks(of(past(), plotted=True), Facts)
    assert facts.rows == (("plot", "nothing to draw: no name has two measurements"),)
    assert blocks(of(past()), Facts) == []


DAY = 86400.0
HERE = Location("/project", "a.ipynb", "cell-1")
TODAY = time.time()


def keep(place: Path, label: str, days: float, where: Location = HERE, **facts: Any) -> None:
    """A measurement in a file of its own, as old as that."""
    m = measured([1000] * 20, **facts)
    when = TODAY - days * DAY
    (entry,) = make_entries(m, label, when=when, where=where, revision="")
    path = place / f"{label}.jsonl"
    path.write_bytes(msgspec.json.encode(entry) + b"\n")
    os.utime(path, (when, when))


@pytest.fixture
def kept(place: Path) -> None:
    keep(place, "one", 1, code="Alpha(x)", frameworks={"jax": "0.10"})
    keep(place, "two", 10, dataclasses.replace(HERE, notebook="b.ipynb"), code="beta(x)")
    keep(place, "three", 100, Location("/other", "a.ipynb"), frameworks={"numpy": "2.1"})


def query(place: Location = HERE, /, **options: Any) -> list[str]:
    return [entry.label for entry in query_history(HistoryOptions(**options), place)]


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(("options", "labels"), [
    ({}, ["one", "two", "three"]),
    ({"text": "T"}, ["two", "three"]),
    ({"text": "beta("}, ["two"]),
    ({"last": 2}, ["one", "two"]),
    ({"since": 2 * DAY}, ["one"]),
    ({"since": 11 * DAY}, ["one", "two"]),
    ({"framework": "jax"}, ["one"]),
    ({"here": True}, ["one", "three"]),
    ({"here": True, "since": 2 * DAY, "text": "one"}, ["one"]),
])  # fmt: skip
def test_what_is_asked_for_is_found_the_newest_first(
    options: dict[str, Any], labels: list[str]
) -> None:
    assert query(**options) == labels
    # Where no notebook is known here is the directory.
    assert query(Location("/project"), here=True) == ["one", "two"]


@pytest.mark.usefixtures("kept")
def test_how_many_match_and_how_many_are_kept_is_counted() -> None:
    history = query_history(HistoryOptions(since=11 * DAY, last=1), HERE, "no room")
    assert isinstance(history, History)
    assert (len(history), history.found, history.kept) == (1, 2, 3)
    assert (history.trouble, history.removed, history.plotted) == ("no room", None, False)
    assert history.now == pytest.approx(time.time(), abs=600)
    assert query_history(HistoryOptions(plot=True), HERE).plotted


@pytest.mark.usefixtures("kept")
def test_what_is_old_is_removed_first() -> None:
    history = query_history(HistoryOptions(prune=5 * DAY), HERE)
    assert history.removed == (2, 2)
    assert [entry.label for entry in history] == ["one"]
    assert query() == ["one"]
