"""Does a test suite with ``fwbench`` find a slowdown, and never one that is not there?"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.accuracy.load import busy
from tests.accuracy.section import Column, Row, Section

_TIMES, _LIMIT = 1.2, "5%"
_TEST = """
import os, time
times = float(os.environ["TIMES"])
{code}
def test_it(fwbench):
    fwbench(work)
"""
#: Code that takes as many times as long; each is measured by a test of its own.
_CODES = {
    "a loop of Python, 1 ms": "def work():\n    for i in range(int(30_000 * times)): i + i",
    "a wait, 2 ms": "def work(): time.sleep(0.002 * times)",
    "NumPy, 0.3 ms": (
        "import numpy as np\nx = np.ones(int(150_000 * times))\ndef work(): return np.sqrt(x)"
    ),
}
_PROGRAMS = (0, 2)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each code and number of other programs."""
    for name, code in _CODES.items():
        for programs in _PROGRAMS:
            with tempfile.TemporaryDirectory() as place, busy(programs):
                test = Path(place, "test_it.py")
                test.write_text(_TEST.format(code=code))
                found = [_round(test) for _ in range(rounds)]
            yield {
                "group": group,
                "name": f"{name}, {programs} other programs",
                "programs": programs,
                "rounds": rounds,
                "alarms": sum(same for same, _ in found),
                "found": sum(slowed for _, slowed in found),
            }


def _round(test: Path) -> tuple[bool, bool]:
    """Whether the same code fails against its first run, and whether slower code does."""
    file = str(test.with_suffix(".json"))
    assert not _fails(test, 1.0, "--fwbench-json", file)
    gate = ("--fwbench-compare", file, "--fwbench-fail-slower", _LIMIT)
    return _fails(test, 1.0, *gate), _fails(test, _TIMES, *gate)


def _fails(test: Path, times: float, *options: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(test)]
    environment = {**os.environ, "TIMES": str(times), "IPYJAXBENCH_HISTORY": "0"}
    done = subprocess.run(
        command, cwd=test.parent, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout[-500:] + done.stderr[-500:])
    return done.returncode == 1


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for programs in _PROGRAMS:
        some = [row for row in rows if row["programs"] == programs]
        total = sum(row["rounds"] for row in some)
        alarms, found = (sum(row[key] for row in some) for key in ("alarms", "found"))
        beside = f"Beside {programs} other programs"
        yield f"{beside}, the same code was called slower in {alarms} of {total} runs (0 wanted)."
        yield f"{beside}, code that takes {_TIMES:g} times as long was found in {found} of {total}."


BENCHMARKS = Section(
    name="benchmarks",
    title="Does fwbench find what became slower, and nothing else?",
    method="A test with `fwbench` runs three times, each in a process of its own: first, again, and"
    f" {_TIMES:g} times as slow; the second and the third are held against the first one by"
    f" `--fwbench-fail-slower {_LIMIT}`. Alone, and beside two programs that compute all the time.",
    columns=(
        Column("runs", 6, "how often all three ran", "{rounds}"),
        Column("alarms", 8, "how often the same code failed", "{alarms}"),
        Column("found", 7, "how often the slower code failed", "{found}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)
