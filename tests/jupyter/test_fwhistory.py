"""`%fwhistory`, and `%fwtime --against`, in a real IPython shell."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from IPython.core.error import UsageError

import ipyjaxbench
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.history import History
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.validation import kept_name
from tests.results import STEADY, measured, rows
from tests.shell import Shell

QUICK = "-q -b 0.05"
COUNTED = "-q -n 100 -r 9"  # enough samples for an interval on a busy machine, too
DAY = 86400


@pytest.fixture(autouse=True)
def place(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of this test's own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    session = shell.session
    session.journal.close()
    yield tmp_path / "ipyjaxbench" / "history"
    session.journal.close()
    session.journal.trouble = ""


def stored_entries() -> tuple[HistoryEntry, ...]:
    return store.read_store().entries


@pytest.fixture
def changed(shell: Shell, place: Path) -> Callable[..., None]:
    """Writes the newest entry anew, with other facts, in a file of another process."""

    def change(**facts: Any) -> None:
        (newest, *_) = stored_entries()
        shell.session.journal.close()
        for path in place.iterdir():
            path.unlink()
        whole = msgspec.to_builtins(newest)
        for name, value in facts.items():
            if isinstance(value, dict):
                whole[name] |= value
            else:
                whole[name] = value
        (place / "other.jsonl").write_bytes(msgspec.json.encode(whole) + b"\n")

    return change


def test_every_measurement_is_kept_with_what_was_around_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "work/a.ipynb")
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    (entry,) = stored_entries()
    assert (entry.magic, entry.label, entry.code) == ("fwtime", "base", "sum(range(100))")
    assert entry.figure.samples == len(shell.session.measurements["base"].samples)
    assert entry.median == shell.session.measurements["base"].median
    assert (entry.where.directory, entry.where.notebook) == (os.getcwd(), "work/a.ipynb")
    assert entry.environment.cpus == os.cpu_count()


def test_arms_and_points_are_kept(shell: Shell) -> None:
    shell.run("%%fwcompare -q -b 0.1\na: sum(range(20))\nb: sum(range(40))")
    assert {entry.label for entry in stored_entries()} == {"a", "b"}
    shell.run("%%fwcompare -q -b 0.2 --sweep n=10,20\na: sum(range(n))\nb: sorted(range(n))")
    assert {entry.name for entry in stored_entries()} >= {"a.n=10", "b.n=20"}
    shell.run(f"%fwtime {QUICK} --name one 1\n%fwtime {QUICK} --name two 2")
    kept = len(stored_entries())
    shell.run("%fwcompare -q one two")
    assert len(stored_entries()) == kept


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=30,
)
@given(label=st.text(st.characters()), code=st.text(st.characters()), named=st.text())
def test_whatever_is_typed_keeping_it_raises_nothing(
    shell: Shell, label: str, code: str, named: str
) -> None:
    session = shell.session
    shell.names["__vsc_ipynb_file__"] = named
    session.keep(measured(STEADY, code=code), label)
    shell.names["__vsc_ipynb_file__"] = None
    session.keep(measured(STEADY, code=code), label)
    assert label == "" or kept_name(label) in session.measurements
    str(ipyjaxbench.history())


def test_it_is_shown_in_three_forms_the_newest_first(shell: Shell) -> None:
    for name in ("one", "two"):
        shell.run(f"%fwtime {QUICK} --name {name} sum(range(100))")
    shell.run("%fwhistory")
    (output,) = shell.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    lines = output.data["text/plain"].splitlines()
    assert lines[0].startswith("2 measurements")
    assert [line.split()[0] for line in lines[2:4]] == ["two", "one"]
    assert History.from_dict(output.data[MIME])[0].label == "two"


def test_it_is_filtered(shell: Shell) -> None:
    for number, name in enumerate(("first", "second", "third"), 1):
        shell.run(f"%fwtime {QUICK} --name {name} sum(range({number}00))")
    for asked, names in {
        "": ["third", "second", "first"],
        "FIRST": ["first"],
        "'range(200)' --last 5": ["second"],
        "--last 2": ["third", "second"],
        "--framework python": ["third", "second", "first"],
        "--framework jax": [],
        "--since 1h": ["third", "second", "first"],
        "--here": ["third", "second", "first"],
        "await f()": [],
    }.items():
        assert [entry.label for entry in shell.run(f"%fwhistory -q -o {asked}")] == names, asked


@pytest.mark.parametrize(
    "line", ["--since 7", "--since -1d", "--last 0", "--last x", "--prune 3x", "--nope", "-n 3"]
)
def test_bad_options_are_one_line(shell: Shell, line: str) -> None:
    with pytest.raises(UsageError) as raised:
        shell.run(f"%fwhistory {line}")
    assert line.split()[0] in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_name_of_this_session_comes_before_the_history(shell: Shell) -> None:
    shell.run(f"%fwtime {QUICK} --name base sum(range(1000))")
    m = shell.run(f"%fwtime {QUICK} -o --against base sum(range(100000))")
    assert m.against.base.median == shell.session.measurements["base"].median
    assert m.against.age is None
    assert "in this session" in rows(m)["compared"]
    assert "compared" in rows(m)


def test_a_name_of_another_session_is_found_with_what_differs(
    shell: Shell, changed: Callable[..., None]
) -> None:
    shell.run(f"%fwtime {COUNTED} --name base sum(range(100))")
    shell.session.measurements.clear()
    (entry,) = stored_entries()
    changed(
        when=entry.when - 2 * DAY,
        environment={"python": "3.1", "cpu": "abacus", "cpus": 3, "revision": "abcdef0123"},
    )
    m = shell.run(f"%fwtime {COUNTED} -o --against base sum(range(100))")
    assert "'base'" in rows(m)["compared"]
    assert "2 days ago" in rows(m)["compared"]
    assert rows(m)["changed"].startswith("Python 3.1 → 3.")
    assert "machine 3 × abacus → " in rows(m)["changed"]


@pytest.mark.parametrize(("asked", "newest"), [("last", True), ("best", False)])
def test_the_last_or_the_best_run_of_the_same_code_is_meant(
    shell: Shell, asked: str, newest: bool
) -> None:
    session = shell.session
    for nanoseconds in (1000, 3000, 2000):
        session.keep(measured([nanoseconds] * 100, code="sum(range(100))"))
    session.keep(measured([10] * 100, code="sum(range(7))"))
    m = shell.run(f"%fwtime {QUICK} -o --against {asked} sum(range(100))")
    assert m.against.base.median == pytest.approx(2e-6 if newest else 1e-6)


def test_a_name_that_was_not_kept_is_one_line_before_anything_runs(shell: Shell) -> None:
    shell.names["ran"] = []
    with pytest.raises(UsageError, match="no result was kept by name yet"):
        shell.run("%fwtime --against base ran.append(1)")
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    with pytest.raises(UsageError, match="Did you mean base"):
        shell.run("%fwtime --against bsae ran.append(1)")
    with pytest.raises(UsageError, match=r"--against base: that is elapsed time .* CPU time"):
        shell.run("%fwtime -q --quick -c --against base ran.append(1)")
    assert shell.names["ran"] == []


@pytest.mark.parametrize("name", ["last", "best", "''", "--quick", '"a;"', '"it\'s"', "why?"])
@pytest.mark.parametrize("magic", ["%fwtime -q {} 1 + 1", "%%fwcompare -q {}\na: 1 + 1\nb: 2"])
def test_a_name_means_nothing_else_and_can_be_typed(shell: Shell, magic: str, name: str) -> None:
    with pytest.raises(UsageError, match=r"--name .*: must be a name (other|without)"):
        shell.run(magic.format(f"--name {name}"))


def test_the_first_report_of_a_home_says_where_figures_are_kept(shell: Shell, place: Path) -> None:
    shell.run("%fwtime -q -n1 -r1 1 + 1")
    assert shell.shown == []
    shell.run("%fwtime -n1 -r1 1 + 1")
    report, said = shell.shown
    assert MIME in report.data
    assert str(place) in said.data["text/plain"]
    shell.run("%%fwcompare -b 0.02\na: 1\nb: 2")
    assert len(shell.shown) == 1
