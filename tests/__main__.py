"""Runs all tests, each framework's in a process of its own, and sums up what became of them.

    python -m tests [--once] [--quick] [files, folders and options of pytest]

Frameworks in one process fight over threads and memory, and importing one initialises another;
files and folders that are named run in one. A test that fails runs again, alone, up to twice;
``--once`` leaves that out. ``--quick`` takes three minutes: every magic once, then the tests that
are nearest to what was changed since the last commit on main.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.groups import groups, quick_groups
from tests.outcomes import Outcomes, read_outcomes

ROOT = Path(__file__).parent.parent
#: Of all tests, on a machine with 2 cores that does nothing else.
MINUTES = 10
#: Processes: one more than cores, since tests wait for engines, kernels and terminals.
_AT_ONCE = 3
_FINE = (0, 1, 5)  # pytest ended as it should, tests failed, arguments chose none
_RERUNS = 2
_MOST_RERUN = 20  # where more fail than this, something is broken, and shows at once
_SLOWEST = 3
_MOST_REASONS = 5


def main(arguments: list[str]) -> int:
    """Run the groups, print what pytest prints, and a summary."""
    chosen = [each for each in arguments if each not in ("--once", "--quick")]
    if not arguments:
        print(f"All tests take about {MINUTES} minutes on 2 cores.", flush=True)
    start = time.monotonic()
    if any(Path(each.partition("::")[0]).exists() for each in chosen):
        wanted = [chosen]
    else:
        found = quick_groups() if "--quick" in arguments else groups()
        wanted = [[*group, *chosen] for group in found]
    total, flaky = check(wanted, reruns="--once" not in arguments)
    print(*summary(total, flaky, time.monotonic() - start), sep="\n", flush=True)
    return int(bool(total.failed or total.broken) or not total.passed + total.skipped.total())


def check(
    groups: list[list[str]], *, reruns: bool, folder: Path = ROOT
) -> tuple[Outcomes, dict[str, str]]:
    """Run groups, a few at a time, then what failed, alone.

    Returns:
        What became of all tests, and those that passed only when run again, with what they raised.
    """
    total, flaky = Outcomes(), dict[str, str]()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        endings = [*pool.map(lambda group: run(group, folder), groups)]
    for group, found in zip(groups, endings, strict=True):
        total.add(found)
        if reruns and not found.broken and len(found.failed) <= _MOST_RERUN:
            again = [test for test in found.failed if passes(test, group, folder)]
            flaky |= {test: total.failed.pop(test) for test in again}
    total.passed += len(flaky)
    return total, flaky


def run(arguments: list[str], folder: Path) -> Outcomes:
    """Run pytest in a process of its own, print what it prints, and return what became of tests.

    A process that dies, and one that ends otherwise than it should, is broken.
    """
    with TemporaryDirectory() as own:
        path = Path(own) / "outcomes"
        command = [sys.executable, "-m", "pytest", "-ptests.outcomes", f"--outcomes={path}"]
        done = subprocess.run([*command, *arguments], cwd=folder, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)  # fmt: skip
        found = read_outcomes(path)
    print(done.stdout, flush=True)
    died = found.running or done.returncode not in _FINE
    if died or (done.returncode == 1 and not found.failed):
        where = found.running[-1] if found.running else "outside of the tests"
        found.broken.append(f"a process ended with {done.returncode}, {where}")
    return found


def environment() -> dict[str, str]:
    """This process's, in which bytecode is kept: else each process and kernel compiles it anew."""
    return {n: value for n, value in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}


def passes(test: str, group: list[str], folder: Path) -> bool:
    """Whether a test passes when it runs again, alone."""
    options = [each for each in group if each.startswith("-p")]
    endings = (run([*options, test], folder) for _ in range(_RERUNS))
    return any(found.passed and not found.broken for found in endings)


def summary(total: Outcomes, flaky: dict[str, str], seconds: float) -> list[str]:
    """What failed, was slowest, was skipped and passed only when run again, in lines."""
    slowest = [f"{s:.0f} s {test}" for test, s in total.seconds.most_common(_SLOWEST)]
    skipped = [f"skipped {n}: {reason}" for reason, n in total.skipped.most_common(_MOST_REASONS)]
    if others := len(total.skipped) - len(skipped):
        rest = total.skipped.total() - sum(n for _, n in total.skipped.most_common(_MOST_REASONS))
        skipped.append(f"skipped {rest} for {others} other reasons; -rs shows them")
    if files := [*total.left_out]:
        skipped.append(
            f"left out {total.left_out.total()} tests of {len(files)} files that the"
            f" changes can reach, for lack of time: {files[0]} and what is farther away"
        )
    failed = [f"FAILED {test}: {message}" for test, message in total.failed.items()]
    failed += [f"BROKEN {ending}" for ending in total.broken]
    lines = [*failed, f"In {seconds / 60:.0f} minutes, slowest: {', '.join(slowest)}", *skipped]
    counts = (total.passed, len(total.failed) + len(total.broken), total.skipped.total())
    lines.append("{} passed, {} failed, {} skipped".format(*counts))
    if flaky:
        tests = "1 test" if len(flaky) == 1 else f"{len(flaky)} tests"
        lines.append(f"{tests} passed only when run again:")
        lines += [f"  {test}: {message}" for test, message in flaky.items()]
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
