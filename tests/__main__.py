"""Runs all tests, each framework's in a process of its own, and sums up what failed.

Frameworks in one process fight over threads and memory, and importing one initialises another.
"""

import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ADAPTERS = HERE.parent / "ipyjaxbench" / "adapters"
FRAMEWORKS = ("jax", "torch", "tensorflow")
SERVER_PLUGIN = "pytest_jupyter.jupyter_server"
#: Of all tests, on a machine with 2 cores that does nothing else.
MINUTES = 25
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")
_NONE_CHOSEN = 5  # what pytest ends with where arguments choose no test


def main() -> int:
    """Run the groups, two at a time; print what pytest prints, what failed, and a closing line."""
    if not sys.argv[1:]:
        print(f"All tests take about {MINUTES} minutes on 2 cores.", flush=True)
    start = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        endings = [*pool.map(run, groups())]
    counts = Counter[str]()
    for counted, _ in endings:
        counts.update(counted)
    failed = [line for _, lines in endings for line in lines]
    print(*failed, f"In {(time.monotonic() - start) / 60:.0f} minutes:", sep="\n")
    failures = counts["failed"] + counts["error"]
    print(f"{counts['passed']} passed, {failures} failed, {counts['skipped']} skipped")
    return int(failures > 0)


def groups() -> list[list[str]]:
    """What each process runs, the longest first."""
    of_one = [sorted(HERE.glob(f"adapters/{name}/test_*.py")) for name in FRAMEWORKS]
    of_several = sorted({*HERE.glob("adapters/**/test_*.py")}.difference(*of_one))
    hostile = HERE / "jupyter" / "test_hostile_objects.py"  # of magics, without frameworks
    own = [[*tests, ADAPTERS / name] for name, tests in zip(FRAMEWORKS, of_one, strict=True)]
    own += [of_several, [hostile]]
    others = [f"--ignore={path}" for paths in own for path in paths]
    server = [f"-p{SERVER_PLUGIN}", str(HERE / "server")]  # it looks at a server after each test
    groups = [["tests", "ipyjaxbench", *others], *([str(path) for path in paths] for paths in own)]
    return [*groups, server]


def run(group: list[str]) -> tuple[Counter[str], list[str]]:
    """Run tests in a process of their own.

    Args:
        group: paths and options for pytest.

    Returns:
        How many passed, failed, were skipped and broke; and pytest's lines on those that failed.
    """
    command = [sys.executable, "-m", "pytest", *group, *sys.argv[1:]]
    done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)  # fmt: skip
    print(done.stdout, flush=True)
    lines = done.stdout.rstrip().splitlines() or [""]
    # What a library prints while Python ends may stand below pytest's closing line.
    closing = next((line for line in reversed(lines) if line.startswith("=")), lines[-1])
    counts = Counter({word: int(n) for n, word in _COUNT.findall(closing)})
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    fine = (0, _NONE_CHOSEN) if sys.argv[1:] else (0,)
    if done.returncode not in fine and not counts["failed"] + counts["error"]:
        counts["error"] += 1
        failed.append(f"ERROR pytest ended with {done.returncode}: {closing}")
    return counts, failed


if __name__ == "__main__":
    sys.exit(main())
