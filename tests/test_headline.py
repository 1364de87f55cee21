"""One figure, one name: whatever shows a run shows the value, the statistic and the interval of
`Measurement.headline`."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.comparison import Comparison
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.records.benchmarks import Benchmark, Benchmarks
from ipyjaxbench.records.commits import AtCommit, CommitLine, Commits
from ipyjaxbench.records.entry import EntryHead, HistoryEntry, Location, make_entries
from ipyjaxbench.records.history import History
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.records.notebooks import NotebookRecords, Saved
from ipyjaxbench.reports import Bars, Headline, Result, Stack, Table
from ipyjaxbench.server.measured import describe_measured
from ipyjaxbench.server.saved import describe_rerun
from ipyjaxbench.timing import notes, summarize_samples
from ipyjaxbench.timing.estimate import Estimate, name_column, predict
from ipyjaxbench.timing.figure_change import Against
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import STEADY, measured, rows

SCATTERED = [1000 + 700 * (i % 2) + i * 7919 % 31 for i in range(60)]
TWO_SPEEDS = [100_000 + 80_000 * (i // 10 % 2) for i in range(100)]
#: Heads of columns of times.
COLUMNS = {"median ± rerun", "5th percentile (5–95 %)", "minimum (min–max)", "one sample", "time"}
COMPILED = {"phases": {"compile": 0.001}, "compilations": 1}

#: Runs with their verdict, their headline in words, and its statistic.
RUNS: dict[str, tuple[Measurement, str, str, str]] = {
    "steady": (measured(STEADY), "QUIET", "1.00 µs ± 2.5 %", "median"),
    "fairly steady": (measured([1000 + 30 * (i // 10 % 2) for i in range(100)]), "OK",
                      "1.02 µs ± 6.6 %", "median"),
    "noisy": (measured(SCATTERED, **COMPILED), "NOISY", "1.00 µs (5th percentile)",
              "5th percentile"),
    "noisy, few samples": (measured([1000, 3000] * 6, rounds=(6, 6)), "NOISY",
                           "1.00 µs (minimum)", "minimum"),
    "noisy, calls differ": (measured(TWO_SPEEDS, notes=(notes.calls_differ(100e-6, 180e-6, 0.5),)),
                            "NOISY", "140 µs (rerun 63–309 µs)", "median"),
    "interrupted": (measured([1000, 1900, 1000], rounds=(1, 1, 1), notes=(notes.interrupted(),)),
                    "FEW", "1.00 µs (minimum)", "minimum"),
    "few": (measured([1000] * 3, rounds=(1, 1, 1)), "FEW", "1.00 µs", "median"),
    "one sample": (measured([], batches=((1500, 3_000_000),), rounds=(1,), loops=1500), "ONCE",
                   "2.00 µs (one sample)", "one sample"),
    "one warm call": (measured([1000]), "ONCE", "1.00 µs (one sample)", "one sample"),
    "first call": (measured([], **COMPILED), "ONCE", "2.00 ms (first call)", "first call"),
    "invalid": (measured(SCATTERED, notes=(validity_notes.not_called("f"),)), "INVALID",
                "1.37 µs (rerun 0.67–2.8 µs)", "median"),
    "recompiles": (measured(STEADY, notes=(validity_notes.recompiles(60, 100, 0.1),)),
                   "RECOMPILES", "1.00 µs ± 2.5 %", "median"),
}  # fmt: skip


def _entry(m: Measurement) -> HistoryEntry:
    (kept,) = make_entries(m, "f", when=1.0, where=Location(), revision="c0ffee1")
    return msgspec.json.decode(msgspec.json.encode(kept), type=HistoryEntry)


def _old(m: Measurement) -> EntryHead:
    """What the page reads of a line that an earlier version wrote."""
    line = msgspec.json.decode(msgspec.json.encode(_entry(m)))
    del line["figure"]["leads"]
    return msgspec.json.decode(msgspec.json.encode(line), type=EntryHead)


def _comparison(*sides: Measurement, **facts: Any) -> Comparison:
    arms = (ArmResult(label, m) for label, m in zip("ab", sides, strict=True))
    return Comparison(tuple(arms), "a", **facts)


def _job(*ranks: Measurement) -> JobMeasurement:
    return JobMeasurement("f(x)", tuple(RankMeasurement(i, "node", 7, m)
                                        for i, m in enumerate(ranks)))  # fmt: skip


def _cell(result: Result) -> str:
    """The cell of the first row in the column of times, with the head of that column."""
    table = next(block for block in result.report().blocks if isinstance(block, Table))
    ((head, cell),) = [(head, cell) for head, cell in zip(table.head, table.rows[0], strict=True)
                       if head in COLUMNS]  # fmt: skip
    return f"{head} | {cell}"


def _lead(result: Result) -> str:
    (line,) = (block for block in result.report().blocks if isinstance(block, Headline))
    return f"{line.figure} | {line.detail}"


def _saved(result: Result) -> str:
    records = NotebookRecords("a.ipynb", (Saved(1, "", "", 1, "", result, None),))
    return records.rows()[0]["found"]


#: What says a headline in words.
SPOKEN: dict[str, Callable[[Measurement], str]] = {
    "repr": repr,
    "repr of a job": lambda m: repr(_job(m, m)),
    "panel and page": lambda m: describe_measured("", _entry(m), None, ())["figure"],
    "page, of two notebooks": lambda m: describe_rerun(
        Rerun("a", "b", (Pair("f", 1, summarize_samples(m), summarize_samples(m)),))
    )["pairs"][0]["after"]["figure"],
    "records of a notebook": _saved,
    "records of a job": lambda m: _saved(_job(m, m)),
    "--against": lambda m: rows(
        measured(STEADY, against=Against("base", summarize_samples(m), 60.0))
    )["compared"],
}
#: What has a place of its own for the number, and another one for what that is.
TABULAR: dict[str, Callable[[Measurement], str]] = {
    "report": _lead,
    "report of a job": lambda m: _lead(_job(m, m)),
    "ranks": lambda m: _cell(_job(m, m)),
    "%%fwcompare": lambda m: _cell(_comparison(m, m)),
    "%fwhistory": lambda m: _cell(History((_entry(m),), 1, 1, 2.0)),
    "tests": lambda m: _cell(Benchmarks((Benchmark(_entry(m)),))),
    "commits": lambda m: _cell(Commits((CommitLine("f", (AtCommit("c0ffee1", "", _entry(m)),)),))),
}


@pytest.mark.parametrize("run", RUNS)
def test_everything_that_shows_a_run_shows_one_figure_by_one_name(run: str) -> None:
    m, verdict, words, statistic = RUNS[run]
    assert (m.verdict, m.headline.words(), m.headline.statistic) == (verdict, words, statistic)
    number = " ".join(words.split(" ")[:2])
    assert {place: words in show(m) for place, show in SPOKEN.items()} == dict.fromkeys(
        SPOKEN, True
    )
    for place, show in TABULAR.items():
        shown = show(m)
        assert number in shown or (shown.endswith("first call only") and not m.batches), place
        # These tables have the verdict instead, where it leaves no figure.
        has_verdict = place in ("%fwhistory", "tests") and verdict in (
            "INVALID",
            "RECOMPILES",
            "ONCE",
        )
        assert statistic in shown or has_verdict, (place, shown)


@pytest.mark.parametrize("run", RUNS)
def test_records_and_tables_hold_the_same_value(run: str) -> None:
    m, *_ = RUNS[run]
    lead = m.headline
    assert Measurement.from_dict(m.to_dict()).headline == lead
    assert _entry(m).headline == lead
    for row in (*m.rows(), _entry(m).row(), *_comparison(m, m).rows(), *_job(m, m).rows()):
        assert (row["headline_s"], row["statistic"]) == (lead.value, lead.statistic)
    described = describe_measured("", _entry(m), None, ())
    assert (described["statistic"], described["range"]) == (lead.statistic, lead.span())
    if bars := [
        block for block in _comparison(m, m).report().pictures() if isinstance(block, Bars)
    ]:
        assert {(bar.value, bar.low, bar.high) for bar in bars[0].rows} == {
            (lead.value, *lead.ends)
        }
    for stack in m.report().pictures():
        if isinstance(stack, Stack) and m.batches:
            assert stack.rows[-1][1][0].seconds == lead.value


@pytest.mark.parametrize("run", [run for run, (m, *_) in RUNS.items() if m.verdict != "FEW"])
def test_what_an_earlier_version_kept_is_said_as_its_report_said_it(run: str) -> None:
    """But for a noisy run whose calls differ, which it did not keep: the low end is named then."""
    m, *_ = RUNS[run]
    before, lead = _old(m).headline, m.headline
    if run == "noisy, calls differ":
        assert before.words() == "100 µs (5th percentile)"
    else:
        assert (before.value, before.statistic) == (lead.value, lead.statistic)
        assert before.words() == lead.words()
    assert before.is_known == (lead.is_known and lead.of == "rerun") or before.of == "samples"


@pytest.mark.parametrize(
    ("names", "head"),
    [("", "median ± rerun"), ("m", "median ± rerun"), ("mp", "median ± rerun"),
     ("pp", "5th percentile (5–95 %)"), ("n", "minimum (min–max)"), ("pn", "time")],
)  # fmt: skip
def test_a_column_is_named_by_what_its_cells_do_not_name(names: str, head: str) -> None:
    kinds = {"m": RUNS["steady"], "p": RUNS["noisy"], "n": RUNS["noisy, few samples"]}
    chosen: Sequence[Estimate] = [kinds[name][0].headline for name in names]
    assert name_column(chosen) == head
    for each in chosen:
        assert (f"({each.statistic})" in each.cell(head=head)) == (head != each.name)


def test_a_comparison_of_two_kinds_says_so_and_draws_one() -> None:
    """Lengths of bars are read as ratios, as the ratio is: both are medians."""
    noisy, steady = RUNS["noisy"][0], measured([1000 + i % 3 for i in range(60)])
    mixed = _comparison(noisy, steady)
    (table,) = (block for block in mixed.report().blocks if isinstance(block, Table))
    assert table.head[1] == "median ± rerun"
    assert [row[1][:7] for row in table.rows] == ["1.37 µs", "1.00 µs"]
    assert rows(mixed)["ratios"] == (
        "of pairs of samples; times are medians, while %fwtime shows a as 1.00 µs (5th percentile)"
    )
    (bars,) = (block for block in mixed.report().pictures() if isinstance(block, Bars))
    assert bars.name == "median ± rerun, per call"
    assert {(bar.value, bar.shown) for bar in bars.rows} == {
        (noisy.median, "median 1.37 µs"), (steady.median, "median 1.00 µs"),
    }  # fmt: skip
    kept = dataclasses.replace(mixed, interleaved=False)
    assert kept.ratio("b").value == pytest.approx(steady.median / noisy.median)
    assert rows(kept)["ratios"].startswith("of medians; times are medians")
    assert "ratios" not in rows(_comparison(noisy, noisy))


def test_a_change_is_one_of_medians_and_says_so_where_another_statistic_is_shown() -> None:
    base = Against("base", summarize_samples(RUNS["noisy"][0]), 60.0)
    shown = rows(measured([9 * ns for ns in SCATTERED], against=base))["compared"]
    assert shown == (
        "9× slower than 'base' (95 % CI 2–39×), by the medians; that took 1.00 µs"
        " (5th percentile), 1 minute ago"
    )
    steady = Against("base", summarize_samples(RUNS["steady"][0]), 60.0)
    assert "median" not in rows(measured(STEADY, against=steady))["compared"]


def test_the_interval_of_a_low_end_is_that_of_the_samples() -> None:
    lead = RUNS["noisy"][0].headline
    assert (lead.value, lead.of, lead.span()) == (lead.low, "samples", "1.0–1.7 µs (5–95 %)")
    assert predict(1e-3, 0.02, 1).ends == (1e-3, 1e-3)
