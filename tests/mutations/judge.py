"""Runs tests with one line of the package changed, each time in a fork of this process.

``python -m tests.mutations.judge GROUP`` imports what the tests of a group need, reads a line of
JSON for each change (`Change`, or null for none; ids of tests) and writes one: the ids of those
that failed.
"""

import importlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path

from tests.groups import FRAMEWORKS, plugins_of
from tests.mutations.changes import Change
from tests.mutations.source_hook import ROOT, edit_sources
from tests.outcomes import read_outcomes

_SECONDS = 120  # some changes make a loop endless
#: Pytest's own hook at imports would come before ours.
_OPTIONS = ("-x", "-q", "--assert=plain", "-pno:randomly", "-pno:cacheprovider", "-ptests.outcomes")


def failing(change: Change | None, tests: list[str], options: list[str]) -> list[str]:
    """Return the tests that fail with a change; the first of those that fail at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "outcomes")
        child = os.fork()
        if child == 0:
            os.setsid()  # what it starts ends with it
            _run(change, [*_OPTIONS, f"--outcomes={path}", *options, *tests])
        status = _wait(child)
        found = read_outcomes(path)
    ended_badly = os.waitstatus_to_exitcode(status) not in (0, 1, 5)
    return [*found.failed, *found.running] or tests[:1] * ended_badly


def _run(change: Change | None, arguments: list[str]) -> None:
    """Run pytest in this process, and end it."""
    code = 3  # an error that is no test's
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        if change is not None:
            edit_sources(lambda path, text: change.applied(text) if path == change.path else text)
        import pytest

        code = pytest.main(arguments)
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    """Wait for a process and end what it started, itself too where it takes too long."""
    end = time.monotonic() + _SECONDS
    pid, status = 0, 0
    while not pid and time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status if pid else os.waitpid(child, 0)[1]


def main(group: str) -> None:
    """Judge what is read, until there is no more."""
    warnings.simplefilter("ignore", RuntimeWarning)  # JAX warns of forks
    wanted = FRAMEWORKS if group == "several" else (group,)
    for name in ("numpy", "IPython", "pytest", "hypothesis", *set(wanted).intersection(FRAMEWORKS)):
        importlib.import_module(name)
    os.chdir(ROOT)
    for line in sys.stdin:
        change, tests = json.loads(line)
        failed = failing(change and Change(**change), tests, plugins_of(group))
        sys.stdout.write(f"{json.dumps(failed)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
