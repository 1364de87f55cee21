"""Two runs for GitHub and measurements for Bencher: what other programs read, and exit statuses."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.__main__ import main
from ipyjaxbench.records import Benchmark, Benchmarks, to_bencher, to_markdown, write_benchmarks
from ipyjaxbench.records.entry import HistoryEntry, Location, make_entries
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.timing.figure_change import Figure
from tests.results import STEADY, measured

NASTY = ["a|b", "`x`", "``", "a\nb | c", "<b>&amp;</b>", "[l](http://x) *y*", "\\|", "\x1b[31m", ""]


def entry(name: str, times: float = 1.0, **changes: Any) -> HistoryEntry:
    m = measured([round(ns * times) for ns in STEADY], code="f(x)")
    (made,) = make_entries(m, name, when=1.0, where=Location(), revision="")
    return dataclasses.replace(made, magic="fwbench", **changes)


def invalid(name: str) -> HistoryEntry:
    return dataclasses.replace(entry(name), figure=Figure(1e-6, 0.01, 100, "INVALID"))


def write(path: Path, *entries: HistoryEntry) -> str:
    write_benchmarks(str(path), Benchmarks(tuple(map(Benchmark, entries))))
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    before = [entry("same"), entry("slow"), entry("fast"), entry("gone")]
    after = [entry("same"), entry("fast", 0.5), entry("slow", 2.0), entry("new")]
    return write(tmp_path / "a.json", *before), write(tmp_path / "b.json", *after)


def table(markdown: str) -> list[list[str]]:
    """The cells of the rows, as GitHub splits them: at bars that are not escaped."""
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    marked = (row.replace("\\|", "\0") for row in rows[2:])
    return [[c.strip().replace("\0", "|") for c in row.strip("|").split("|")] for row in marked]


def test_what_became_slower_comes_first(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert main(["diff", "--github", "--fail-slower", *files]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("**1 of 3 measurements slower (up to 2.00×) and 1 faster.**\n")
    assert [row[0] for row in table(shown)] == ["`slow`", "`same`", "`fast`"]
    assert [row[-1] for row in table(shown)] == ["🔴 SLOWER", "CAN'T TELL", "🟢 FASTER"]
    assert "only before: `gone`; only after: `new`" in shown
    assert summary.read_text("utf-8") == f"before\n{shown}\n"


def test_without_a_clear_change_or_a_summary_to_write_it_says_so(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert main(["diff", "--github", "--fail-slower", files[0], files[0]]) == 0
    assert capsys.readouterr().out.startswith("**No clear change in 4 measurements.**")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main(["diff", "--github", *files]) == 2
    shown = capsys.readouterr()
    assert table(shown.out)
    assert shown.err == f"$GITHUB_STEP_SUMMARY {tmp_path} cannot be written: Is a directory\n"


def test_a_measurement_that_is_invalid_now_has_a_status_of_its_own(tmp_path: Path) -> None:
    before, after = write(tmp_path / "a", entry("f")), write(tmp_path / "b", invalid("f"))
    assert main(["diff", "--fail-slower", before, after]) == 3
    assert main(["diff", before, after]) == 0


def test_a_time_that_is_none_has_its_verdict_beside_it() -> None:
    quiet, invalid = Figure(1.0, 0.02, 50, "OK"), Figure(1.0, 0.02, 50, "INVALID")
    ((_, before, after, against, _),) = table(
        to_markdown(Rerun("a.ipynb", "b.ipynb", (Pair("f", 3, quiet, invalid),), ()))
    )
    assert (before, after, against) == ("1.00 s", "1.00 s INVALID", "")


@pytest.mark.parametrize("name", NASTY)
def test_a_name_breaks_no_table(name: str) -> None:
    figure = Figure(1.0, 0.02, 50, "OK")
    rerun = Rerun("a|`.ipynb", "b.ipynb", (Pair(name, 3, figure, figure),), ("x|<b> → `y`",))
    shown = to_markdown(rerun)
    (row,) = table(shown)
    assert len(row) == 5
    assert row[0].endswith(" in cell 3")
    assert "\x1b" not in shown
    assert "<b>" not in shown.replace(row[0], "").replace("\\<b\\>", "")


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "benchmarks"}'])
def test_a_file_that_is_damaged_of_another_kind_or_missing_is_one_line(
    text: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(text)
    for arguments in (["diff", files[0], str(bad)], ["history", "--file", str(bad)]):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert str(bad) in error
    bad.write_text('{"nbformat": 4, "cells": [], "metadata": {}}')
    assert main(["diff", files[0], str(bad)]) == 2
    assert "holds benchmarks of pytest and" in capsys.readouterr().err
    bad.unlink()
    assert main(["diff", files[0], str(bad)]) == 2
    assert capsys.readouterr() == ("", f"{bad}: no such file\n")


def test_bencher_gets_nanoseconds_and_no_figure_that_is_wrong() -> None:
    once = dataclasses.replace(entry("few"), figure=Figure(2e-6, None, 3, "FEW"))
    found = json.loads(to_bencher([entry("f"), invalid("bad"), once, entry("f", 9.0)]))
    assert [*found] == ["f", "few"]
    latency = found["f"]["latency"]
    assert latency["value"] == pytest.approx(1001)  # STEADY has 1000 to 1002 ns
    assert latency["lower_value"] < latency["value"] < latency["upper_value"] < 1200
    assert found["few"] == {"latency": {"value": pytest.approx(2000)}}


def test_json_alone_is_a_line_for_each_and_with_bmf_for_bencher(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = write(tmp_path / "a.json", entry("f"), entry("g"))
    assert main(["history", "--file", file, "--json", "g"]) == 0
    (line,) = capsysbinary.readouterr().out.splitlines()
    assert json.loads(line)["name"] == "g"
    assert main(["history", "--file", file, "--json", "bmf"]) == 0
    assert json.loads(capsysbinary.readouterr().out).keys() == {"f", "g"}


def test_exit_statuses_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["diff", "--help"])
    shown = capsys.readouterr().out
    for status in ("0  all went well", "1  with --fail-slower", "2  an option", "3  with --fail"):
        assert f"  {status}" in shown
