"""``python -m ipyjaxbench history``: earlier measurements in a terminal, and for other programs."""

import csv
import io
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ipyjaxbench import history
from ipyjaxbench.__main__ import main
from ipyjaxbench.records import Journal, Location, make_entries
from tests.results import STEADY, measured

Run = Callable[..., tuple[int, str, str]]
CODES = {
    "plain": "f(x)",
    "quoted": 'g("a, b")\nh(x)',
    "formula": "=1+1",
    "minus": "-x",
    "plus": "+x",
    "decorator": "@jax.jit\ndef f(x): ...",
    "words": "行列 · ±",
}


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven measurements, one an hour, the last one now."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    journal, now = Journal(), time.time()
    for hours, (label, code) in enumerate(reversed(CODES.items())):
        samples = [1000] if label == "plus" else STEADY  # of one sample no interval is known
        m = measured(samples, code=code, frameworks={"jax": "0.10"})
        when = now - 3600 * (len(CODES) - 1 - hours)
        place = Location("/project", "a.ipynb")
        journal.append(make_entries(m, label, when=when, where=place, revision="c0ffee"))
    journal.close()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; returns its status, output and errors."""

    def called(*arguments: str) -> tuple[int, str, str]:
        status = main(["history", *arguments])
        return status, *capsys.readouterr()

    return called


def test_it_shows_what_the_magic_shows(run: Run) -> None:
    assert run() == (0, f"{history()}\n", "")


@pytest.mark.parametrize(("arguments", "labels"), [
    ((), [*CODES]),
    (("--last", "2"), ["plain", "quoted"]),
    (("--since", "90m"), ["plain", "quoted"]),
    (("FORM",), ["formula"]),
    (("a", "--last", "1"), ["plain"]),
    (("nothing like this",), []),
])  # fmt: skip
def test_it_finds_what_is_asked_for(
    run: Run, arguments: tuple[str, ...], labels: list[str]
) -> None:
    status, lines, errors = run(*arguments, "--json")
    assert (status, errors) == (0, "")
    assert [json.loads(line)["name"] for line in lines.splitlines()] == labels


def test_csv_has_the_columns_and_values_of_the_data_frame(run: Run) -> None:
    pandas = pytest.importorskip("pandas")
    _, text, _ = run("--csv")
    read, frame = pandas.read_csv(io.StringIO(text)), history().to_pandas()
    assert [*read.columns] == [*frame.columns]
    for name in frame.select_dtypes("float"):
        assert read[name].equals(frame[name])
    assert [*pandas.to_datetime(read["measured"], format="ISO8601")] == [*frame["measured"]]


def test_csv_keeps_each_text_and_none_is_a_formula(run: Run) -> None:
    _, text, _ = run("--csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["code"].removeprefix("'") for row in rows] == [*CODES.values()]
    guarded = [row["name"] for row in rows if row["code"].startswith("'")]
    assert guarded == ["formula", "minus", "plus", "decorator"]
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    assert text.endswith("\r\n")
    _, text, _ = run("nothing like this", "--csv")
    assert text == f"{','.join(history().rows()[0])}\r\n"


def test_other_programs_get_all_and_a_person_twenty(run: Run) -> None:
    journal, m = Journal(), measured(STEADY)
    for number in range(20):
        where = Location("/project", "a.ipynb")
        journal.append(make_entries(m, f"more{number}", when=1.0, where=where, revision=""))
    journal.close()
    _, lines, _ = run("--json")
    _, table, _ = run()
    assert len(lines.splitlines()) == 27
    assert sum(name in table for name in CODES) + table.count("more") == 20


def test_json_has_the_same_rows(run: Run) -> None:
    _, text, _ = run("--json")
    for row, line in zip(history().rows(), text.splitlines(), strict=True):
        read = json.loads(line)
        assert [*read] == [*row]
        assert read["code"] == row["code"]
        unknown = row["rerun_high_s"] is None or math.isinf(row["rerun_high_s"])
        assert (read["rerun_high_s"] is None) is unknown


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--last", "0"), "--last 0: must be a whole number from 1 to 10000, for example"),
        (("--since", "7"), "--since 7: must be a number followed by m, h, d, w or y,"),
    ],
)  # fmt: skip
def test_what_is_mistyped_ends_in_one_line(
    run: Run, arguments: tuple[str, ...], error: str
) -> None:
    status, text, errors = run(*arguments)
    assert (status, text) == (2, "")
    assert errors.startswith(error)
    assert errors.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise")
def test_who_reads_no_further_sees_no_error() -> None:
    journal = Journal()
    m = measured(STEADY, code="x" * 4000)
    for _ in range(100):
        journal.append(make_entries(m, "", when=1e9, where=Location(), revision=""))
    journal.close()
    command = [sys.executable, "-m", "ipyjaxbench", "history", "--last", "10000", "--csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        os.read(done.stdout.fileno(), 10)
        done.stdout.close()
        assert done.stderr.read() == b""
    assert done.returncode == 0
