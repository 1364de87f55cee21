"""Runs all tests, each framework's in a process of its own, and sums up.

Frameworks in one process fight over threads and memory, and importing one initialises another.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ADAPTERS = HERE.parent / "ipyjaxbench" / "frameworks"
FRAMEWORKS = ("jax", "torch", "tensorflow")


def main() -> int:
    """Run the groups; print what pytest prints, and one closing line."""
    tests = {name: sorted(HERE.glob(f"frameworks/test_{name}*.py")) for name in FRAMEWORKS}
    own = [[*tests[name], ADAPTERS / name] for name in FRAMEWORKS]
    groups = [["tests", "ipyjaxbench", *(f"--ignore={path}" for paths in own for path in paths)]]
    groups += [[str(path) for path in paths] for paths in own]
    totals = {"passed": 0, "failed": 0, "skipped": 0, "error": 0}
    failed = False
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
        for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", last):
            totals[word] += int(number)
        failed |= process.returncode != 0
    failures = totals["failed"] + totals["error"] + (failed and not totals["failed"])
    print(f"{totals['passed']} passed, {failures} failed, {totals['skipped']} skipped")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
