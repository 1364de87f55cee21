"""`%fwhistory`, and `%fwtime --against`, in a real IPython shell."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.error import UsageError

from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.history import History
from ipyjaxbench.reports.result import MIME
from tests.results import rows
from tests.shell import Shell

QUICK = "-q -b 0.05"


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


def test_every_measurement_is_kept_with_what_was_around_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "work/a.ipynb")
    shell.run(f"%fwtime {QUICK} --name base sum(range(100))")
    (entry,) = stored_entries()
    assert (entry.magic, entry.label, entry.code) == ("fwtime", "base", "sum(range(100))")
    assert entry.figure.samples == len(session_of(shell).measurements["base"].samples)
    assert entry.median == session_of(shell).measurements["base"].median
    assert (entry.where.directory, entry.where.notebook) == (os.getcwd(), "work/a.ipynb")
    assert entry.environment.cpus == os.cpu_count()
    shell.run(f"%fwtime {QUICK} 1\n%fwtime {QUICK} --name other 2\n%fwcompare -q base other")
    assert session_of(shell).measurements.keys() == {"base", "other"}
    assert [entry.label for entry in stored_entries()] == ["other", "", "base"]


def test_it_is_shown_and_filtered_the_newest_first(shell: Shell) -> None:
    for number, name in enumerate(("one", "two"), 1):
        shell.run(f"%fwtime {QUICK} --name {name} sum(range({number}00))")
    for asked, names in {
        "": ["two", "one"], "ONE": ["one"], "'range(200)' --last 5": ["two"],
        "--framework jax": [], "--here --since 1h": ["two", "one"], "await f()": [],
    }.items():  # fmt: skip
        assert [entry.label for entry in shell.run(f"%fwhistory -q -o {asked}")] == names, asked
    shell.run("%fwhistory")
    (output,) = shell.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    lines = output.data["text/plain"].splitlines()
    assert lines[0].startswith("2 measurements")
    assert [line.split()[0] for line in lines[2:4]] == ["two", "one"]
    assert History.from_dict(output.data[MIME])[0].label == "two"


@pytest.mark.parametrize("line", ["--since 7", "--last 0", "--prune 3x", "-n 3"])
def test_bad_options_are_one_line(shell: Shell, line: str) -> None:
    with pytest.raises(UsageError) as raised:
        shell.run(f"%fwhistory {line}")
    assert line.split()[0] in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_name_is_found_in_this_session_and_then_in_the_history(shell: Shell) -> None:
    session, line = session_of(shell), "%fwtime -q -n 100 -r 9 -o"
    shell.run(f"{line} --name base sum(range(100))")
    here = shell.run(f"{line} --against base sum(range(100))")
    assert here.against.base.median == session.measurements["base"].median
    assert here.against.age is None
    assert "in this session" in rows(here)["compared"]
    session.measurements.clear()
    there = shell.run(f"{line} --against base sum(range(100))")
    assert there.against.age is not None
    assert "'base'" in rows(there)["compared"]


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


@pytest.mark.parametrize("name", ["last", "''", "--quick", '"a;"', '"it\'s"', "why?"])
def test_a_name_means_nothing_else_and_can_be_typed(shell: Shell, name: str) -> None:
    with pytest.raises(UsageError, match=r"--name .*: must be a name (other|without)"):
        shell.run(f"%fwtime -q --name {name} 1 + 1")
