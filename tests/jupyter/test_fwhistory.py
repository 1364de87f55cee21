"""`%fwhistory`, and `%fwtime --against`, in a real IPython shell."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from IPython.core.error import UsageError

import ipyjaxbench
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.history import History
from ipyjaxbench.reports import Chart, Facts, Headline, Table
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.timing.figure_change import Against, Figure
from ipyjaxbench.timing.measurement import summarize
from ipyjaxbench.validation import kept_name
from tests.results import STEADY, measured, rows
from tests.shell import Shell

QUICK = "-q -b 0.05"
COUNTED = "-q -n 100 -r 9"  # enough samples for an interval on a busy machine, too
DAY = 86400


def session_of(shell: Shell) -> Session:
    session: Session = shell.shell.magics_manager.registry["FrameworkMagics"].session
    return session


@pytest.fixture(autouse=True)
def place(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of this test's own."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    session = session_of(shell)
    session.journal.close()
    session.measurements.clear()
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
        session_of(shell).journal.close()
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


def test_every_measurement_is_kept_with_what_was_around_it(shell: Shell) -> None:
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    (entry,) = stored_entries()
    assert (entry.magic, entry.label, entry.code) == ("fwtime", "base", "sum(range(100))")
    assert entry.figure.samples == len(session_of(shell).measurements["base"].samples)
    assert entry.median == session_of(shell).measurements["base"].median
    assert entry.where.directory == os.getcwd()
    assert entry.environment.cpus == os.cpu_count()


def test_arms_and_points_are_kept(shell: Shell) -> None:
    shell.run("%%fwcompare -q -b 0.1\na: sum(range(20))\nb: sum(range(40))")
    assert {entry.label for entry in stored_entries()} == {"a", "b"}
    shell.run("%%fwcompare -q -b 0.2 --sweep n=10,20\na: sum(range(n))\nb: sorted(range(n))")
    assert {entry.name for entry in stored_entries()} >= {"a.n=10", "b.n=20"}


def test_comparing_what_is_kept_keeps_nothing_more(shell: Shell) -> None:
    for name in ("one", "two"):
        shell.run(f"%fwtime {QUICK} --name {name} sum(range(100))")
    shell.run("%fwcompare -q one two")
    assert len(stored_entries()) == 2


@pytest.mark.parametrize("by", ["configuration", "environment"])
def test_one_setting_turns_it_off(shell: Shell, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    if by == "environment":
        monkeypatch.setenv("IPYJAXBENCH_HISTORY", "0")
    else:
        monkeypatch.setattr(session_of(shell).settings, "history", False)
    shell.run(f"%fwtime {QUICK} --name off sum(range(100))")
    assert stored_entries() == ()
    assert "off" in session_of(shell).measurements


def test_the_notebook_and_the_cell_are_kept_where_they_are_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "work/a.ipynb")
    shell.run(f"%fwtime {QUICK} sum(range(100))")
    shell.names["__vsc_ipynb_file__"] = "/home/me/b.ipynb"
    shell.run(f"%fwtime {QUICK} sum(range(100))")
    assert [entry.where.notebook for entry in stored_entries()] == [
        "/home/me/b.ipynb",
        "work/a.ipynb",
    ]


@pytest.mark.parametrize("error", [OSError("no"), RuntimeError("no"), RecursionError()])
def test_a_measurement_is_shown_whatever_becomes_of_its_history(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(session_of(shell).journal, "append", fail)
    shell.run("%fwtime -b 0.05 sum(range(100))")
    assert len(shell.shown) == 1
    assert shell.text == ""


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
)
@given(label=st.text(st.characters()), code=st.text(st.characters()), named=st.text())
def test_whatever_is_typed_keeping_it_raises_nothing(
    shell: Shell, label: str, code: str, named: str
) -> None:
    session = session_of(shell)
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


def test_an_empty_history_says_what_fills_it(shell: Shell) -> None:
    found = shell.run("%fwhistory -o")
    assert len(found) == 0
    assert "no measurements   yet" in str(found)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("", ["third", "second", "first"]),
        ("FIRST", ["first"]),
        ("range(200)", ["second"]),
        ("'range(200)' --last 5", ["second"]),
        ("--last 2", ["third", "second"]),
        ("--framework python", ["third", "second", "first"]),
        ("--framework jax", []),
        ("--since 1h", ["third", "second", "first"]),
        ("--here", ["third", "second", "first"]),
        ("nothing", []),
        ("await f()", []),
    ],
)
def test_it_is_filtered(shell: Shell, asked: str, names: list[str]) -> None:
    for number, name in enumerate(("first", "second", "third"), 1):
        shell.run(f"%fwtime {QUICK} --name {name} sum(range({number}00))")
    found = shell.run(f"%fwhistory -q -o {asked}")
    assert [entry.label for entry in found] == names


def test_what_is_old_or_of_elsewhere_is_left_out_where_that_is_asked_for(
    shell: Shell, changed: Callable[..., None]
) -> None:
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    (entry,) = stored_entries()
    changed(when=entry.when - 2 * DAY, where={"directory": "/elsewhere", "notebook": "b.ipynb"})
    assert len(shell.run("%fwhistory -q -o --since 1d")) == 0
    assert len(shell.run("%fwhistory -q -o --since 3d")) == 1
    assert len(shell.run("%fwhistory -q -o --here")) == 0
    shell.names["__vsc_ipynb_file__"] = "b.ipynb"
    assert len(shell.run("%fwhistory -q -o --here")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "--since 7",
        "--since x",
        "--since -1d",
        "--last 0",
        "--last x",
        "--prune 3x",
        "--nope",
        "-n 3",
    ],
)
def test_bad_options_are_one_line(shell: Shell, line: str) -> None:
    with pytest.raises(UsageError) as raised:
        shell.run(f"%fwhistory {line}")
    assert line.split()[0] in str(raised.value)
    assert "\n" not in str(raised.value)


def test_it_is_drawn_over_time(shell: Shell) -> None:
    for _ in range(3):
        shell.run(f"%fwtime {QUICK} sum(range(100))")
    blocks = shell.run("%fwhistory -q -o --plot").report().blocks
    (chart,) = (block for block in blocks if isinstance(block, Chart))
    assert [len(each.points) for each in chart.series] == [3]
    shell.run("%fwhistory --plot sum")
    assert "median ± rerun, per call over measured" in shell.shown[0].data["text/html"]
    assert "s sum(range(100))\n" in shell.shown[0].data["text/plain"]


def test_one_measurement_is_not_drawn_and_that_is_said(shell: Shell) -> None:
    shell.run(f"%fwtime {QUICK} sum(range(100))")
    found = shell.run("%fwhistory -q -o --plot")
    assert "no name has two measurements" in str(found)


def test_the_record_can_be_shown_instead(shell: Shell) -> None:
    shell.run(f"%fwtime {QUICK} sum(range(100))")
    shell.run("%fwhistory --json")
    (output,) = shell.shown
    record = json.loads(output.data["text/plain"])
    assert History.from_dict(record) == History.from_dict(output.data["application/json"])


def test_old_files_are_removed_by_hand_and_it_is_said(
    shell: Shell, changed: Callable[..., None], place: Path
) -> None:
    shell.run(f"%fwtime {QUICK} sum(range(100))")
    changed(label="old")
    os.utime(place / "other.jsonl", (0, 0))
    shell.run(f"%fwtime {QUICK} --name new sum(range(100))")
    assert [entry.label for entry in stored_entries()] == [
        "new"
    ]  # a new process removed what is that old
    changed(label="old")
    month = (place / "other.jsonl").stat().st_mtime - 31 * DAY
    os.utime(place / "other.jsonl", (month, month))
    shown = shell.run("%fwhistory -q -o --prune 30d")
    assert shown.removed == (1, 1)
    assert "removed  1 measurement in 1 file" in str(shown)
    assert stored_entries() == ()


def test_lines_that_cannot_be_read_are_said_once(shell: Shell, place: Path) -> None:
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    (place / "broken.jsonl").write_bytes(b"{\n\xff\n[]\n")
    shown = str(shell.run("%fwhistory -q -o"))
    assert shown.count("unreadable") == 1
    assert "3 lines in broken.jsonl" in shown
    assert "base" in shown


def test_what_is_not_kept_is_said(shell: Shell, tmp_path: Path, place: Path) -> None:
    tmp_path.joinpath("ipyjaxbench").write_text("a file stands where the directory would")
    shell.run("%fwtime -b 0.05 sum(range(100))")
    assert len(shell.shown) == 1
    shown = " ".join(str(shell.run("%fwhistory -q -o")).split())
    assert "not saved measurements of this session: Jupyter's data directory is not" in shown


def test_hostile_names_are_shown_as_text(shell: Shell, changed: Callable[..., None]) -> None:
    shell.run(f"%fwtime {QUICK} sum(range(100))")
    changed(label="<script>alert(1)</script>", environment={"devices": ["<b>"], "python": "<i>"})
    shell.run("%fwhistory")
    html = shell.shown[0].data["text/html"]
    assert "<script" not in html
    assert "<b>" not in html.replace('<b title=""', "")
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("when", [0.0, 1e12, 9e18])
def test_moments_that_no_calendar_has_are_shown(
    shell: Shell, changed: Callable[..., None], when: float
) -> None:
    shell.run(f"%fwtime {COUNTED} sum(range(100))")
    changed(when=when, figure={"median": 9e8, "half_width": 1e308})
    assert "1 measurement" in str(shell.run("%fwhistory -q -o"))
    against = shell.run(f"%fwtime {COUNTED} -o --against last sum(range(100))").against
    assert against.base.median == 9e8


def test_it_is_the_same_from_python(shell: Shell) -> None:
    for name in ("one", "two"):
        shell.run(f"%fwtime {QUICK} --name {name} sum(range(100))")
    found = ipyjaxbench.history("one", last=None, since="1h", here=True, framework="python")
    assert [entry.label for entry in found] == ["one"]
    assert (len(found), found.kept, found[0].label) == (1, 2, "one")
    assert found[:1] == found.entries
    with pytest.raises(ipyjaxbench.OptionError, match="since"):
        ipyjaxbench.history(since="soon")
    with pytest.raises(ipyjaxbench.OptionError, match="last"):
        ipyjaxbench.history(last=0)


def test_a_name_of_this_session_comes_before_the_history(shell: Shell) -> None:
    shell.run(f"%fwtime {QUICK} --name base sum(range(1000))")
    m = shell.run(f"%fwtime {QUICK} -o --against base sum(range(100000))")
    assert m.against.base.median == session_of(shell).measurements["base"].median
    assert m.against.age is None
    assert "in this session" in rows(m)["compared"]
    assert "compared" in rows(m)


@pytest.mark.parametrize(
    ("nanoseconds", "words"),
    [
        (
            2000,
            "2.0× slower than 'base' (95 % CI 1.9–2.1×); that took 1.00 µs ± 2.5 %, 2 hours ago",
        ),
        (500, "2.0× faster than 'base' (95 % CI 1.9–2.1×); that took 1.00 µs ± 2.5 %, 2 hours ago"),
        (1000, "no clear difference from 'base' (95 % CI 0.97–1.04×); that took "),
    ],
)
def test_how_much_slower_or_faster_it_is_is_told_with_how_sure_that_is(
    nanoseconds: int, words: str
) -> None:
    base = Against("base", summarize(measured([1000] * 100)), 7300.0)
    m = measured([nanoseconds] * 100, against=base)
    assert words in rows(m)["compared"]
    assert "changed" not in rows(m)


def test_an_interval_that_says_nothing_is_not_shown() -> None:
    base = Against("base", Figure(1e-6, 9.0, 100, "NOISY"), None)
    assert (
        "no clear difference from 'base'; that took"
        in rows(measured([1000] * 100, against=base))["compared"]
    )


def test_a_name_of_another_session_is_found_with_what_differs(
    shell: Shell, changed: Callable[..., None]
) -> None:
    shell.run(f"%fwtime {COUNTED} --name base sum(range(100))")
    session_of(shell).measurements.clear()
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
    session = session_of(shell)
    for nanoseconds in (1000, 3000, 2000):
        session.keep(measured([nanoseconds] * 100, code="sum(range(100))"))
    session.keep(measured([10] * 100, code="sum(range(7))"))
    m = shell.run(f"%fwtime {QUICK} -o --against {asked} sum(range(100))")
    assert m.against.base.median == pytest.approx(2e-6 if newest else 1e-6)


def test_runs_of_the_same_name_are_of_the_same_code(shell: Shell) -> None:
    session_of(shell).keep(measured(STEADY, code="old()"), "step")
    m = shell.run(f"%fwtime {QUICK} -o --name step --against last sum(range(100))")
    assert m.against.base is not None
    (newest, *_) = stored_entries()
    assert newest.label == "step"


def test_other_data_another_clock_and_no_figure_are_not_the_same_code(shell: Shell) -> None:
    shell.run("import numpy as np\na = np.ones(10)")
    shell.run(f"%fwtime {QUICK} a + a")
    shell.run("a = np.ones(1000)")
    assert shell.run(f"%fwtime {QUICK} -o --against last a + a").against.base is None
    assert shell.run(f"%fwtime {QUICK} -o -c --against last a + a").against.base is None
    session_of(shell).keep(measured([], code="once()"))
    shell.names["once"] = list
    assert shell.run(f"%fwtime {QUICK} -o --against best once()").against.base is None


def test_where_nothing_is_kept_yet_that_is_said_and_it_is_measured(shell: Shell) -> None:
    m = shell.run(f"%fwtime {QUICK} -o --against best sum(range(100))")
    assert rows(m)["compared"] == "best: no earlier measurement of this code with such data"


def test_a_name_that_was_not_kept_is_one_line_before_anything_runs(shell: Shell) -> None:
    shell.names["ran"] = []
    with pytest.raises(UsageError, match="no result was kept by name yet"):
        shell.run("%fwtime --against base ran.append(1)")
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    with pytest.raises(UsageError, match="Did you mean base"):
        shell.run("%fwtime --against bsae ran.append(1)")
    assert shell.names["ran"] == []


def test_a_measurement_held_against_another_is_saved_and_read_back(shell: Shell) -> None:
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    shell.run("%fwtime -b 0.05 --against base sum(range(100))")
    output, *_ = shell.shown
    m = ipyjaxbench.Measurement.from_dict(output.data[MIME])
    assert m.against is not None
    assert "'base'" in rows(m)["compared"]
    assert "&#39;base&#39;" in output.data["text/html"]


def test_the_report_has_a_headline_a_table_and_what_to_know() -> None:
    found = ipyjaxbench.history()
    assert [type(block) for block in found.report().blocks][:1] == [Headline]
    assert not any(isinstance(block, Table | Facts) for block in found.report().blocks)


@pytest.mark.parametrize("name", ["last", "best", "''", "--quick", '"a;"', '"it\'s"', "why?"])
@pytest.mark.parametrize("magic", ["%fwtime -q {} 1 + 1", "%%fwcompare -q {}\na: 1 + 1\nb: 2"])
def test_a_name_means_nothing_else_and_can_be_typed(shell: Shell, magic: str, name: str) -> None:
    with pytest.raises(UsageError, match=r"--name .*: must be a name (other|without)"):
        shell.run(magic.format(f"--name {name}"))


def test_figures_of_another_clock_are_not_taken_for_a_misspelt_name(shell: Shell) -> None:
    shell.run("%fwtime -q --quick --name base sum(range(99))")
    with pytest.raises(UsageError, match=r"--against base: that is elapsed time .* CPU time"):
        shell.run("%fwtime -q --quick -c --against base sum(range(99))")


def test_the_first_report_of_a_home_says_where_figures_are_kept(shell: Shell, place: Path) -> None:
    shell.run("%fwtime -q -n1 -r1 1 + 1")
    assert shell.shown == []
    shell.run("%fwtime -n1 -r1 1 + 1")
    report, said = shell.shown
    assert MIME in report.data
    assert str(place) in said.data["text/plain"]
    shell.run("%%fwcompare -b 0.02\na: 1\nb: 2")
    assert len(shell.shown) == 1


def test_nothing_is_said_where_nothing_is_kept(
    shell: Shell, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYJAXBENCH_HISTORY", "0")
    shell.run("%fwtime -n1 -r1 1 + 1")
    assert len(shell.shown) == 1
    assert not place.exists()
