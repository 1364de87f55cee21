"""What ``--against`` means: a name of this session or of the history, the last run or the best."""

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.sweep import Point, Sweep
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.records import choose_baseline, find_baseline
from ipyjaxbench.records.entry import HistoryEntry, Location, make_entries
from ipyjaxbench.records.find_baseline import Candidates
from ipyjaxbench.records.store import Journal
from ipyjaxbench.reports.result import Result
from ipyjaxbench.timing import Measurement, TimeOptions
from ipyjaxbench.timing.figure_change import Against
from ipyjaxbench.timing.measurement import summarize
from tests.results import measured

X3 = Placement("x", "jax", 1, "float32", (3,), ("cpu:0",), 12)
X4 = Placement("x", "jax", 1, "float32", (4,), ("cpu:0",), 16)


@pytest.fixture(autouse=True)
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    """A store of this test's own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    made = Journal()
    yield made
    made.close()


def run(nanoseconds: int = 1000, **facts: Any) -> Measurement:
    return measured([nanoseconds] * 100, **facts)


def entry(result: Result, label: str = "", when: float = 1e9) -> HistoryEntry:
    (made,) = make_entries(result, label, when=when, where=Location(), revision="")
    return made


def medians(candidates: Candidates) -> list[int]:
    """In nanoseconds."""
    assert isinstance(candidates, tuple)
    return [round(each.median * 1e9) for each in candidates]


def find(against: str | None, code: str = "f(x)", **options: Any) -> Candidates:
    return find_baseline(TimeOptions(against=against, **options), code, {})


def test_a_name_of_this_session_is_that_measurement_if_its_clock_is(journal: Journal) -> None:
    assert find(None) == ()  # nothing is asked for
    journal.append([entry(run(), "base"), entry(run(3000, clock="cpu"), "base")])
    kept = {"base": run(2000)}
    assert find_baseline(TimeOptions(against="base"), "f(x)", kept) is kept["base"]
    options = TimeOptions(against="base", clock="cpu")
    assert medians(find_baseline(options, "f(x)", kept)) == [3000]


def test_the_newest_of_a_name_or_of_the_same_code_with_a_figure_and_this_clock_is_meant(
    journal: Journal,
) -> None:
    swept = Sweep(("n",), ("a",), (Point(("1",), Comparison((ArmResult("a", run(9000)),), "a")),))
    results = [run(1000), run(2000), run(3000, code="g(x)"), run(4000, clock="cpu"), measured([])]
    for number, result in enumerate([*results, swept], 1):
        journal.append([entry(result, "base" if number in (1, 3) else "", number * 1e9)])
    assert medians(find("base")) == [3000]
    for against in ("last", "best"):
        assert medians(find(against)) == [2000, 1000]
    assert medians(find("last", clock="cpu")) == [4000]
    assert find("last", "h(x)") == ()
    assert medians(find("last", name="base")) == [3000, 1000]  # its name says that it is the same


def refusal(against: str, measurements: dict[str, Measurement] | None = None) -> str:
    with pytest.raises(OptionError) as raised:
        find_baseline(TimeOptions(against=against), "f(x)", measurements or {})
    return str(raised.value)


def test_a_figure_of_another_clock_is_named_with_its_option(journal: Journal) -> None:
    here = "but this is elapsed time (without -t and -c). Use the same clock for both."
    kept = {"base": run(clock="cpu"), "other": run(clock="calendar")}
    assert refusal("base", kept) == f"--against base: that is CPU time (-c), {here}"
    journal.append([entry(run(clock="calendar"), "base"), entry(run(clock="cpu"), "third")])
    assert refusal("base", kept) == (
        f"--against base: that is calendar time (-t) and CPU time (-c), {here}"
    )


def test_names_that_there_are_stand_in_the_error(journal: Journal) -> None:
    assert refusal("base") == (
        "--against base: no result was kept by name yet. First type %fwtime --name base"
    )
    journal.append([entry(run(), f"arm{n}", 1e9 + n) for n in range(7)])
    journal.append([entry(run(), "", 3e9), entry(run(), "arm3", 1e6)])
    known, end = (
        "arm6, arm5, arm4, arm3, arm2, arm1",
        "; or last and best, for runs of the same code.",
    )
    for kept, typed, told in (
        ("", "zzz", f"Names: {known}, arm0"),
        ("here", "zzz", f"Names: here, {known}, arm0"),
        ("here more", "mroe", f"Did you mean more? Names: here, more, {known}, …"),
    ):
        names = {name: run() for name in kept.split()}
        assert refusal(typed, names) == f"--against {typed}: there is no such name. {told}{end}"


def test_its_samples_come_along_evenly_taken() -> None:
    base = run(1000)
    here = choose_baseline(run(2000), "base", base, "")
    kept = choose_baseline(run(2000), "b", (entry(base, "b"),), "")
    assert (here.base, here.age) == (summarize(base), None)  # of this session it has no age
    assert here.picoseconds == kept.picoseconds
    assert 0 < len(here.picoseconds) <= 120
    assert {*here.picoseconds} == {1_000_000}


def test_the_last_is_the_newest_and_the_best_the_fastest_of_the_same_data() -> None:
    base = tuple(entry(run(ns), "b") for ns in (2000, 1000, 3000))
    for name, nanoseconds in {"last": 2000, "best": 1000, "b": 2000}.items():
        assert choose_baseline(run(), name, base, "").base == summarize(run(nanoseconds))
    other, same = entry(run(1000, inputs=(X4,))), entry(run(2000, inputs=(X3,)))
    m = run(inputs=(X3,))
    assert choose_baseline(m, "last", (other, same), "").base == summarize(run(2000))
    assert choose_baseline(m, "best", (other,), "") == Against("best")
    named = choose_baseline(m, "base", (other, same), "")
    assert named.base == summarize(run(1000))
    assert named.differs == ("x f32[4] → f32[3]",)


def test_its_age_is_that_of_the_entry_and_a_change_of_the_code_in_git_is_named() -> None:
    now = time.time()
    old, future = (entry(run(), "base", now + seconds) for seconds in (-7200, 7200))
    assert choose_baseline(run(), "base", (old,), "").age == pytest.approx(7200, abs=600)
    assert choose_baseline(run(), "base", (future,), "").age == 0.0  # never negative
    around = dataclasses.replace(old.environment, revision="c0ffee1234")
    old = dataclasses.replace(old, environment=around)
    found = choose_baseline(run(), "base", (old,), "deadbeef99")
    assert found.differs == ("git c0ffee1 → deadbee",)
