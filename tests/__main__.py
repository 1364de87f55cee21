"""Runs all tests, each framework's in a process of its own, and sums up what failed.

Frameworks in one process fight over threads and memory, and importing one initialises another.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ADAPTERS = HERE.parent / "ipyjaxbench" / "adapters"
FRAMEWORKS = ("jax", "torch", "tensorflow")
#: Of all tests, on a machine with 2 cores that does nothing else.
MINUTES = 20
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")
_NONE_CHOSEN = 5  # what pytest ends with where arguments choose no test


def main() -> int:
    """Run the groups; print what pytest prints, what failed, and one closing line."""
    if not sys.argv[1:]:
        print(
            f"All tests take about {MINUTES} minutes on 2 cores, longer on a busy machine.",
            flush=True,
        )
    start = time.monotonic()
    of_one = [sorted(HERE.glob(f"adapters/{name}/test_*.py")) for name in FRAMEWORKS]
    of_all = sorted({*HERE.glob("adapters/**/test_*.py")}.difference(*of_one))
    hostile = HERE / "jupyter" / "test_hostile_objects.py"  # of magics, without frameworks
    own = [[*tests, ADAPTERS / name] for name, tests in zip(FRAMEWORKS, of_one, strict=True)]
    own += [of_all, [hostile]]
    groups = [["tests", "ipyjaxbench", *(f"--ignore={path}" for paths in own for path in paths)]]
    groups += [[str(path) for path in paths] for paths in own]
    totals = {"passed": 0, "failed": 0, "skipped": 0, "error": 0}
    listed = []
    for group in groups:
        command = [sys.executable, "-m", "pytest", *group, *sys.argv[1:]]
        with subprocess.Popen(
            command, cwd=HERE.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            last = ""
            for line in process.stdout:
                print(line, end="", flush=True)
                last = line if line.strip() else last
                if line.startswith(("FAILED ", "ERROR ")):  # of pytest's summary
                    listed.append(line.rstrip())
        counts = {word: int(n) for n, word in _COUNT.findall(last)}
        totals = {word: n + counts.get(word, 0) for word, n in totals.items()}
        fine = (0, _NONE_CHOSEN) if sys.argv[1:] else (0,)
        if process.returncode not in fine and not counts.get("failed", counts.get("error")):
            totals["error"] += 1
            listed.append(f"ERROR pytest ended with {process.returncode}: {last.rstrip()}")
    failures = totals["failed"] + totals["error"]
    print(*listed, f"In {(time.monotonic() - start) / 60:.0f} minutes:", sep="\n")
    print(f"{totals['passed']} passed, {failures} failed, {totals['skipped']} skipped")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
