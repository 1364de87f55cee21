"""Makes a sample of changes; prints each that no test notices, and the share of those noticed.

    python -m tests.mutations [--count N] [--seed N] [--notes FOLDER] [FOLDER …]

The first run notes which tests run which functions, which takes as long as three runs of all
tests; later ones read it from the folder. What no test notices is printed with its line: a person
says whether it changes anything.
"""

import argparse
import dataclasses
import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from tests.__main__ import environment
from tests.groups import group_of, groups
from tests.mutations.changes import Change, changes_of
from tests.mutations.source_hook import ROOT
from tests.nearest import find_tests, imports

if TYPE_CHECKING:
    import grimp

_AT_ONCE = 2
_MOST_TESTS, _MOST_SECONDS = 150, 150.0  # of one change
_NOTES = Path(tempfile.gettempdir(), "ipyjaxbench-ran")


class Ran(NamedTuple):
    """A test, and what it runs."""

    test: str
    seconds: float
    functions: frozenset[str]

    @property
    def path(self) -> Path:
        """The file that it is in."""
        return ROOT / self.test.partition("::")[0]

    @property
    def group(self) -> str:
        """The process that it runs in."""
        if "tests" in self.path.relative_to(ROOT).parts[:1]:
            return group_of(self.path)
        return "rooms"  # an example in a docstring


def note(folder: Path) -> None:
    """Write into a folder which functions the tests of each group run."""
    folder.mkdir(parents=True, exist_ok=True)

    def run(number_and_group: tuple[int, list[str]]) -> None:
        number, group = number_and_group
        path = folder / f"{number}.part"
        command = [sys.executable, "-m", "pytest", "-q", "-ptests.mutations.ran", f"--ran={path}"]
        with (folder / f"{number}.log").open("w") as log:
            subprocess.run([*command, *group], cwd=ROOT, env=environment(), stdout=log,
                           stderr=subprocess.STDOUT, check=False)  # fmt: skip
        path.rename(folder / f"{number}.json")

    with ThreadPoolExecutor(_AT_ONCE + 1) as pool:
        missing = [
            each for each in enumerate(groups()) if not (folder / f"{each[0]}.json").exists()
        ]
        [*pool.map(run, missing)]


class Judges:
    """Processes that judge changes, each for the tests of a group."""

    def __init__(self, folder: Path) -> None:
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._sound: dict[str, bool] = {}
        lines = [line for path in folder.glob("*.json") for line in path.read_text().splitlines()]
        self._ran = [Ran(test, s, frozenset(names)) for test, s, names in map(json.loads, lines)]

    @cached_property
    def _imports(self) -> "grimp.ImportGraph":
        return imports()

    @cached_property
    def _by_function(self) -> dict[str, list[Ran]]:
        found = defaultdict(list)
        for ran in sorted(self._ran, key=lambda ran: (len(ran.functions), ran.seconds)):
            files = {name.rpartition(":")[0] for name in ran.functions}
            for name in (*ran.functions, *(f"{path}:0" for path in files)):
                found[name].append(ran)
        return found

    def tests(self, change: Change) -> Iterator[Ran]:
        """Tests that run a change: by turns one that runs little else, and one of a near file."""
        found = self._by_function[f"{change.path}:{change.function}"]
        near = [ROOT / change.path, *find_tests([change.path], self._imports)]
        files = {path: rank for rank, path in enumerate(near)}
        nearest = sorted(found, key=lambda ran: files.get(ran.path, len(files)))
        seconds = 0.0
        turns = dict.fromkeys(chain.from_iterable(zip(found, nearest, strict=True)))
        for ran in islice(turns, _MOST_TESTS):
            seconds += ran.seconds
            if seconds > _MOST_SECONDS:
                return
            yield ran

    def notice(self, change: Change) -> bool:
        """Whether a test fails with a change that passes without it."""
        by_group = defaultdict(list)
        for ran in self.tests(change):
            by_group[ran.group].append(ran.test)
        return any(self._notice(change, *each) for each in by_group.items())

    def _notice(self, change: Change, group: str, tests: list[str]) -> bool:
        while tests and (failed := self._ask(group, change, tests)):
            if any(self._is_sound(group, test) for test in failed):
                return True
            tests = [test for test in tests if test not in failed]
        return False

    def _is_sound(self, group: str, test: str) -> bool:
        if test not in self._sound:
            self._sound[test] = not self._ask(group, None, [test])
        return self._sound[test]

    def _ask(self, group: str, change: Change | None, tests: list[str]) -> list[str]:
        if group not in self._running:
            command = [sys.executable, "-m", "tests.mutations.judge", group]
            self._running[group] = subprocess.Popen(
                command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        judge = self._running[group]
        assert judge.stdin is not None
        assert judge.stdout is not None
        job = [None if change is None else dataclasses.asdict(change), tests]
        judge.stdin.write(f"{json.dumps(job)}\n")
        judge.stdin.flush()
        failed: list[str] = json.loads(judge.stdout.readline())
        return failed

    def close(self) -> None:
        """End the processes."""
        for judge in self._running.values():
            judge.communicate()


def main() -> None:
    """Note what tests run, if that is not known, and judge a sample, two changes at a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--notes", type=Path, default=_NOTES)
    parser.add_argument("folders", type=Path, nargs="*", default=[Path("ipyjaxbench")])
    chosen = parser.parse_args()
    note(chosen.notes)
    found = (path for folder in chosen.folders for path in (ROOT / folder).rglob("*.py"))
    files = sorted(str(path.relative_to(ROOT)) for path in found)
    every = [change for path in files for change in changes_of(ROOT, path)]
    sample = random.Random(chosen.seed).sample(every, chosen.count)
    free: SimpleQueue[Judges] = SimpleQueue()
    all_judges = [Judges(chosen.notes) for _ in range(_AT_ONCE)]
    for each in all_judges:
        free.put(each)

    def judge(change: Change) -> bool:
        judges = free.get()
        try:
            noticed = judges.notice(change)
            run = "" if any(judges.tests(change)) else " (no test runs it in its own process)"
        finally:
            free.put(judges)
        if not noticed:
            print(f"not noticed{run}: {change}", flush=True)
        return noticed

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        noticed = sum(pool.map(judge, sample))
    for each in all_judges:
        each.close()
    print(f"{noticed} of {chosen.count} noticed ({len(every):,} are possible, seed {chosen.seed})")


if __name__ == "__main__":
    main()
