"""What became of each test: a pytest plugin writes it to a file, from which it is read.

``pytest -p tests.outcomes --outcomes FILE`` writes a line of JSON when a test begins and for each
of its phases, so that the file also names the test in which a process died. With ``--within
SECONDS`` tests that would begin later are left out; those of the first file always run. A test
that takes longer than ``--longest SECONDS`` hangs: the process ends, and shows what each thread
runs.
"""

import faulthandler
import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_LONGEST = 900.0  # the slowest test takes a minute
_STDERR = os.dup(2)  # before pytest captures it


@dataclass
class Outcomes:
    """What became of the tests of one or more processes.

    Attributes:
        passed: how many passed.
        failed: the ids of those that failed, with what was raised first.
        broken: how processes ended that died, or could not run all of their tests.
        skipped: how many were skipped for which reason.
        seconds: how long each took with its fixtures.
        running: the ids of those that began and did not end.
        left_out: how many of each file were left out for lack of time.
    """

    passed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    running: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Outcomes") -> None:
        """Add those of another process."""
        self.passed += other.passed
        self.failed |= other.failed
        self.broken += other.broken
        self.skipped += other.skipped
        self.seconds += other.seconds
        self.running += other.running
        self.left_out += other.left_out


def read_outcomes(path: Path) -> Outcomes:
    """Read what the plugin wrote; nothing where it wrote no file."""
    found = Outcomes()
    ended: set[str] = set()
    for line in path.read_text().splitlines() if path.exists() else ():
        test, phase, outcome, message, seconds = json.loads(line)
        found.seconds[test] += seconds
        if phase == "begin":
            found.running.append(test)
        elif phase == "end":
            found.running.remove(test)
            found.passed += test not in ended
        elif phase == "left out":
            found.left_out[test.partition("::")[0]] += 1
        elif outcome != "passed":  # a fixture that fails after a test fails it, too
            ended.add(test)
            if outcome == "skipped":
                found.skipped[message] += 1
            else:
                found.failed.setdefault(test, message)
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, required=True, help="the file that is written")
    parser.addoption("--within", type=float, help="seconds after which no test begins")
    parser.addoption("--longest", type=float, default=_LONGEST, help="seconds of a test")


def pytest_configure(config: pytest.Config) -> None:
    options = (config.getoption(name) for name in ("outcomes", "within", "longest"))
    config.pluginmanager.register(_Writer(*options))


class _Writer:
    def __init__(self, path: Path, within: float | None, longest: float) -> None:
        self._file = path.open("a", buffering=1)  # each line is there when the process dies
        self._end = None if within is None else time.monotonic() + within
        self._first: Path | None = None
        self._longest = longest

    def pytest_unconfigure(self) -> None:
        self._file.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        self._first = self._first or item.path
        if self._end is None or item.path == self._first or time.monotonic() < self._end:
            return None
        self._write(item.nodeid, "left out")
        return True  # as if it had run

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(nodeid, "begin")
        faulthandler.dump_traceback_later(self._longest, exit=True, file=_STDERR)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._write(report.nodeid, report.when, report.outcome, _message(report), report.duration)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._write(nodeid, "end")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self._write(report.nodeid, "collect", report.outcome, _message(report))

    def _write(
        self, test: str, phase: str, outcome: str = "", message: str = "", seconds: float = 0.0
    ) -> None:
        self._file.write(f"{json.dumps([test, phase, outcome, message, seconds])}\n")


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What was raised, or why it was skipped, in a line."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = [line.strip() for line in (crash.message if crash else report.longreprtext).split("\n")]
    marked = [line.removeprefix("E ").strip() for line in lines if line.startswith("E ")]
    return next(filter(None, [*marked, *lines]), "")
