"""``python -m tests`` runs what failed again, and says what became of each test."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.__main__ import ROOT, check, run, summary
from tests.matrix import ENVIRONMENTS

TESTS = """\
import os
import pathlib

import pytest

COUNT = pathlib.Path("count")

@pytest.fixture
def broken():
    yield
    raise ValueError("torn down")

def test_that_passes(): pass
def test_that_fails():
    with open("runs", "a") as runs:
        runs.write("another ")
    assert 1 == 2
def test_with_a_broken_fixture(broken): pass
def test_that_is_skipped(): pytest.skip("no device")

@pytest.mark.parametrize("text", ["a - b", "c::d["])
def test_by_chance(text):
    before = COUNT.read_text() if COUNT.exists() else ""
    COUNT.write_text(before + text)
    assert before.count(text) == 2, "not yet"
"""
BY_CHANCE = ["test_some.py::test_by_chance[a - b]", "test_some.py::test_by_chance[c::d[]"]
ALWAYS = ["test_some.py::test_that_fails", "test_some.py::test_with_a_broken_fixture"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return tmp_path


def test_what_passes_when_run_again_fails_nothing_and_what_fails_thrice_fails(folder: Path) -> None:
    (folder / "test_some.py").write_text(TESTS)
    total, flaky = check([["test_some.py"]], reruns=True, folder=folder)
    assert [*flaky] == BY_CHANCE
    assert [*total.failed] == ALWAYS
    assert (folder / "runs").read_text().split() == ["another"] * 3
    lines = summary(total, flaky, 60)
    assert lines[-4:] == [
        "3 passed, 2 failed, 1 skipped",
        "2 tests passed only when run again:",
        *(f"  {test}: AssertionError: not yet" for test in BY_CHANCE),
    ]
    assert "FAILED test_some.py::test_that_fails: assert 1 == 2" in lines
    assert "FAILED test_some.py::test_with_a_broken_fixture: ValueError: torn down" in lines
    assert "skipped 1: no device" in lines


def test_once_is_enough_where_nothing_runs_again(folder: Path) -> None:
    (folder / "test_some.py").write_text(TESTS)
    total, flaky = check([["test_some.py", "-k", "chance"]], reruns=False, folder=folder)
    assert (total.passed, sorted(total.failed), flaky) == (0, BY_CHANCE, {})


def test_without_time_the_first_file_runs_and_the_others_are_left_out(folder: Path) -> None:
    for name in ("one", "two", "three"):
        tests = "".join(f"def test_{word}(): pass\n" for word in ("this", "that"))
        (folder / f"test_{name}.py").write_text(tests)
    total = run(["--within=0", "test_two.py", "test_one.py", "test_three.py"], folder)
    assert total.passed == 2
    assert total.left_out == {"test_one.py": 2, "test_three.py": 2}
    assert "left out 4 tests of 2 files" in "\n".join(summary(total, {}, 60))


def test_a_process_that_dies_or_cannot_begin_is_a_failure_and_says_where(folder: Path) -> None:
    (folder / "test_it.py").write_text("import os\ndef test_dying(): os._exit(0)\n")
    (folder / "test_no.py").write_text("import nothing_like_this\n")
    groups = [["test_it.py"], ["test_no.py"], ["absent.py"]]
    total, flaky = check(groups, reruns=True, folder=folder)
    message = "ModuleNotFoundError: No module named 'nothing_like_this'"
    assert total.failed == {"test_no.py": message}
    assert total.broken == [
        "a process ended with 0, test_it.py::test_dying",
        "a process ended with 2, outside of the tests",  # nothing of the group ran
        "a process ended with 4, outside of the tests",
    ]
    assert summary(total, flaky, 0)[-1] == "0 passed, 4 failed, 0 skipped"


def test_a_test_that_hangs_ends_its_process_which_shows_where(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "test_it.py").write_text(
        "import threading\ndef test_hanging(): threading.Event().wait()\n"
    )
    (ending,) = run(["--longest=0.5", "test_it.py"], folder).broken
    assert ending == "a process ended with 1, test_it.py::test_hanging"
    assert "in test_hanging" in capfd.readouterr().out


def test_bytecode_is_kept_for_the_processes_that_come(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (folder / "test_it.py").write_text("def test_passing(): pass\n")
    assert run(["test_it.py"], folder).passed == 1
    assert [*folder.glob("__pycache__/test_it.*.pyc")]


def test_other_environments_run_tests_that_are_there() -> None:
    """Else a file that is renamed breaks a leg of `.ci/run`, which is seen last."""
    script = (ROOT / ".ci/run").read_text()
    words = " ".join(re.findall(r"\b(?:tests|examples)/[\w./*{},]+", script))
    expand = ["bash", "-c", f"printf '%s\\n' {words}"]
    named = {*subprocess.check_output(expand, cwd=ROOT, text=True).split()}
    named |= {path for environment in ENVIRONMENTS for path in environment.tests}
    assert "tests/adapters/jax/test_xla_costs.py" in named  # of braces
    assert [path for path in named if not Path(ROOT, path).exists()] == []
    chosen = (
        ",".join(re.findall(r"(?<!\.)\bmatrix (\w[^;\n]+)", script)).replace('"', "").split(",")
    )
    known = [environment.name for environment in ENVIRONMENTS]
    assert [each for each in chosen if not any(each in name for name in known)] == []
