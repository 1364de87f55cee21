"""`python -m tests.mutations` changes single lines and asks the tests that run them."""

import ast
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

from tests.mutations.changes import Change, changes_of
from tests.mutations.source_hook import ROOT

TEST = "ipyjaxbench/units.py::ipyjaxbench.units.count"
SOURCE = '''"""Text."""
LIMIT = 3


def first(values):
    """Text."""
    if not values or len(values) > LIMIT:
        return None
    return values[0] + 0.5
'''


def test_changes_of_a_line_have_the_function_in_which_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    found = [(each.line, each.now.strip(), each.function) for each in changes_of(tmp_path, "a.py")]
    assert found == [
        (2, "LIMIT = 4", 0),
        (9, "return", 5),
        (7, "if not values and len(values) > LIMIT:", 5),
        (9, "return values[0] - 0.5", 5),
        (7, "if values or len(values) > LIMIT:", 5),
        (7, "if not values or len(values) <= LIMIT:", 5),
        (9, "return values[0] + 1.5", 5),
        (9, "return values[1] + 0.5", 5),
    ]
    for each in changes_of(tmp_path, "a.py"):
        ast.parse(each.applied(SOURCE))


def test_a_change_is_noticed_by_a_test_that_runs_it_and_nothing_is_without_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ran"
    noting = [sys.executable, "-m", "pytest", "-q", "-ptests.mutations.ran", f"--ran={path}", TEST]
    subprocess.run(noting, cwd=ROOT, check=True, capture_output=True)
    ((test, _, functions),) = map(json.loads, path.read_text().splitlines())
    change = next(each for each in changes_of(ROOT, "ipyjaxbench/units.py") if "n != 1" in each.now)
    assert test == TEST
    assert f"{change.path}:{change.function}" in functions

    def job(change: Change | None) -> str:
        return json.dumps([change and dataclasses.asdict(change), [TEST]])

    judging = [sys.executable, "-m", "tests.mutations.judge", "rooms"]
    jobs = f"{job(None)}\n{job(change)}\n{job(None)}\n"
    judged = subprocess.run(judging, cwd=ROOT, check=True, input=jobs, stdout=subprocess.PIPE,
                            text=True)  # fmt: skip
    assert [json.loads(line) for line in judged.stdout.splitlines()] == [[], [TEST], []]
