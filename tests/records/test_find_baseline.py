"""What ``--against`` means, and what differs around two measurements."""

import dataclasses
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.sweep import Point, Sweep
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.host import Conditions, Gpu
from ipyjaxbench.records import choose_baseline, find_baseline
from ipyjaxbench.records.entry import HistoryEntry, Location, make_entries
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.find_baseline import Candidates
from ipyjaxbench.records.store import Journal
from ipyjaxbench.reports.result import Result
from ipyjaxbench.timing import Measurement, TimeOptions
from ipyjaxbench.timing.figure_change import Against
from ipyjaxbench.timing.measurement import summarize
from tests.results import STEADY, measured

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


HERE = Environment(
    python="3.11.7", frameworks={"jax": "0.10.2", "python": "3.11"}, devices=("jax cuda:0",),
    cpu="A CPU", cpus=8, gpus=("H100",), revision="c0ffee" * 6, data={"x": "f32[3]"},
)  # fmt: skip


def test_what_is_not_known_of_one_of_them_differs_in_nothing() -> None:
    assert Environment().differences(HERE) == ()
    assert HERE.differences(Environment()) == ()
    assert HERE.differences(HERE) == ()
    one, other = Environment(cpus=2), Environment(cpus=4)  # of an unknown CPU the number tells
    assert one.differences(other) == ("machine 2 × CPU → 4 × CPU",)


@pytest.mark.parametrize(("name", "value", "words"), [
    ("python", "3.12.1", "Python 3.11.7 → 3.12.1"),
    ("frameworks", {"jax": "0.11.0", "python": "3.12"}, "jax 0.10.2 → 0.11.0"),
    ("devices", ("jax cpu:0",), "jax cuda:0 → jax cpu:0"),
    ("cpus", 4, "machine 8 × A CPU → 4 × A CPU"),
    ("gpus", ("A100",), "H100 → A100"),
    ("revision", "deadbeef", "git c0ffeec → deadbee"),
    ("data", {"x": "f32[4]", "y": "f32[]"}, "x f32[3] → f32[4]"),
])  # fmt: skip
def test_what_differs_is_named(name: str, value: object, words: str) -> None:
    assert HERE.differences(dataclasses.replace(HERE, **{name: value})) == (words,)


def test_gpus_that_others_use_alone_are_left_out() -> None:
    gpus = (Gpu("H100", ours=True), Gpu("A100", ours=False), Gpu("L4"))
    conditions = Conditions(wall=1.0, cpu=1.0, cpus=2, usable=2, gpus=gpus, model="A CPU")
    around = Environment.saved(measured(STEADY, conditions=conditions), "3.11")
    assert (around.gpus, around.cpu, around.cpus) == (("H100", "L4"), "A CPU", 2)
    assert around.python == "3.11"
    around = Environment.saved(measured(STEADY, conditions=None))
    assert (around.gpus, around.cpu, around.cpus, around.python) == ((), "", 0, "")


def test_a_measurement_of_this_machine_knows_it() -> None:
    places = [Placement(f"x{n}", "jax", 1, "float32", (n,), ("cpu:0",), 4 * n) for n in range(9)]
    result = Placement("", "jax", 1, "float32", (3,), ("cuda:0",), 12)
    around = Environment.here(measured(STEADY, inputs=tuple(places), outputs=(result,)), "c0ffee")
    assert (around.python, around.cpus) == (platform.python_version(), os.cpu_count())
    assert (around.revision, around.frameworks) == ("c0ffee", {"python": "3.12"})
    assert around.devices == ("cpu:0", "cuda:0")
    assert around.data == {f"x{n}": f"f32[{n}]" for n in range(8)}  # the first ones
