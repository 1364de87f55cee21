"""Workers of Dask: what they are called, and magics on real ones."""

import json
import re
import subprocess
import sys

from ipyjaxbench.cluster.dask_engines import DaskEngines
from tests.cluster.engines import need

_SECONDS = 120
_BADGE = re.compile(r"\S [A-Z]+ ")  # of a verdict, which may stand where a line is full
_LOCK = "OptionError: the call cannot be sent to engines: TypeError: cannot pickle '_thread.lock'"


def test_workers_that_are_chosen_keep_their_numbers() -> None:
    chosen = DaskEngines(None, ["tcp://a:1", "tcp://b:1", "tcp://c:1"]).choose([2, 0])
    assert chosen.labels == ("worker 2", "worker 0")
    assert chosen.choose([0]).numbers == (2,)


def test_magics_work_on_workers() -> None:
    need("distributed")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.cluster.dask_program"],
        capture_output=True, text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert lines, done.stderr[-3000:]
    found = json.loads(lines[0].removeprefix("found "))
    assert " per call, the slowest of 2 workers, each by itself" in _BADGE.sub("", found["timed"])
    assert "worker 1" in found["one"]
    assert "worker 0" not in found["one"]
    assert "in 2 workers on 1 host" in found["located"]
    assert "in all workers" in found["located"]
    assert found["raised"].startswith("UsageError: worker 0 (on ")
    assert found["raised"].endswith("raised NameError: name 'nix' is not defined.")
    assert found["closure"].startswith("<JobMeasurement function(a)")
    assert found["lock"].startswith(_LOCK)
    assert found["ctrl-c"].startswith("KeyboardInterrupt:")
    assert found["looks"] == 200
    assert "the slowest of 2 workers" in _BADGE.sub("", found["after"])
