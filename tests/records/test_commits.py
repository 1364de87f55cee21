"""Measurements in the order of the commits of a real repository, which is only read."""

import dataclasses
import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.__main__ import main
from ipyjaxbench.errors import RecordError
from ipyjaxbench.records import Benchmark, Benchmarks, find_commits, write_benchmarks
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.environment import Environment
from tests.records.test_export_runs import entry

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in a new repository."""
    place = tmp_path / "repository"
    place.mkdir()
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=a", "-c", "user.email=a@b")

    def run(*words: str) -> str:
        done = subprocess.run(
            ["git", *who, *words], cwd=place, env={**os.environ, **nobody},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def commits(git: Git) -> list[str]:
    """Five commits of the same second, so that dates give no order."""
    message = ("commit", "-q", "--allow-empty", "--date=2026-01-01T00:00:00", "-m")
    for number in range(5):
        git(*message, f"change {number} | `x`")
    return git("rev-list", "--reverse", "HEAD").split()


def at(commit: str, times: float, when: float = 1.0, **changes: Any) -> HistoryEntry:
    environment = Environment(revision=commit, cpus=2, cpu="A", **changes)
    return dataclasses.replace(entry("step", times), when=when, environment=environment)


def newest_first(commits: Sequence[str], times: Sequence[float]) -> list[HistoryEntry]:
    """Measured in another order than that of the commits."""
    return [at(c, t, when=9.0 - n) for n, (c, t) in enumerate(zip(commits, times, strict=True))]


def place_of(tmp_path: Path) -> str:
    return str(tmp_path / "repository")


def digest(place: Path) -> str:
    """All files of a repository with what they hold and when they were changed."""
    files = sorted(path for path in place.rglob("*") if path.is_file())
    facts = [(str(path), path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def test_the_commit_from_which_on_it_is_slower_is_named(commits: list[str], tmp_path: Path) -> None:
    before = digest(tmp_path / "repository")
    entries = newest_first(commits, [1.0, 1.0, 1.0, 1.5, 1.5])
    found = find_commits(entries, place_of(tmp_path))
    ((line, step),) = found.slower
    assert [point.commit for point in line.points] == commits
    assert step.at.commit == commits[3]
    assert step.ratio.value == pytest.approx(1.5, rel=0.01)
    assert step.lasts
    shown = str(found)
    assert "1 of 1 slower" in shown
    assert f"1.5× slower since {commits[3][:7]} “change 3 | `x`”" in shown
    others = [dataclasses.replace(each, label="another") for each in entries]
    both = str(find_commits([*entries, *others], place_of(tmp_path)))
    assert ("trend" in shown, "trend" in both) == (False, True)
    assert digest(tmp_path / "repository") == before
    assert type(found).from_dict(found.to_dict()) == found
    assert [row["change"] for row in found.rows()] == ["", "", "", "SLOWER", ""]


@pytest.mark.parametrize(
    ("times", "steps", "slower"),
    [
        ([1.0, 1.01, 0.99, 1.0, 1.01], [], 0),
        ([1.0, 1.04, 1.08, 1.12, 1.17], [(2, "SLOWER"), (4, "SLOWER")], 1),  # a slow drift
        ([1.0, 2.0, 2.0, 1.0, 1.0], [(1, "SLOWER"), (3, "FASTER")], 0),  # it was mended
    ],
)
def test_steps_are_found_and_count_where_they_last(
    commits: list[str], tmp_path: Path, times: list[float], steps: list[tuple[int, str]],
    slower: int,
) -> None:  # fmt: skip
    found = find_commits(newest_first(commits, times), place_of(tmp_path))
    ((_, own),) = found.steps
    assert [(commits.index(step.at.commit), step.verdict) for step in own] == steps
    assert len(found.slower) == slower
    assert ("none of 1 became slower" in str(found)) is (not slower)


def test_of_several_runs_the_middle_one_counts_and_what_does_not_belong_is_left_out(
    commits: list[str], tmp_path: Path, git: Git
) -> None:
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-q", "--allow-empty", "-m", "elsewhere")
    branch = git("rev-parse", "HEAD")
    git("checkout", "-q", "main")
    elsewhere = dataclasses.replace(
        at(commits[1], 3.0), environment=Environment(revision=commits[1], cpus=64, cpu="B")
    )
    runs = [at(commits[1], 1.0), at(commits[1], 9.0), at(commits[1], 1.0)]
    entries = [at(commits[0], 1.0), elsewhere, at(branch, 5.0), at("", 7.0), *runs]
    found = find_commits(entries, place_of(tmp_path))
    assert (found.without, found.unreachable, found.lines[0].elsewhere) == (1, 1, 1)
    assert [point.runs for point in found.lines[0].points] == [1, 3]
    assert found.slower == ()
    assert str(found).count("left out") == 3


def test_where_there_is_no_repository_or_no_commit_one_line_says_so(
    git: Git, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=r"has no Git history: not a git repository"):
        find_commits([at("a" * 40, 1.0)], str(tmp_path))
    with pytest.raises(RecordError, match="has no Git history"):
        find_commits([], place_of(tmp_path))


def test_the_command_reads_a_file_of_benchmarks(
    commits: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    file = str(tmp_path / "a.json")
    made = (at(commits[0], 1.0), at(commits[4], 2.0))
    write_benchmarks(file, Benchmarks(tuple(map(Benchmark, made))))
    monkeypatch.chdir(place_of(tmp_path))
    assert main(["history", "--commits", "--file", file]) == 0
    shown = capsys.readouterr().out
    assert f"slower since {commits[4][:7]}" in shown
    assert max(map(len, shown.splitlines())) <= 80
    monkeypatch.chdir(tmp_path)
    assert main(["history", "--commits", "--file", file]) == 2
    assert capsys.readouterr().err.count("\n") == 1
