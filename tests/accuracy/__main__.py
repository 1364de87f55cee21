"""Runs each framework's expressions in a process of its own and prints one table."""

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys

from tests.accuracy.cases import GROUPS

_NEEDS = {"python": "sys", "numpy": "numpy", "jax": "jax", "torch": "torch",
          "tensorflow": "tensorflow"}  # fmt: skip
_TINY = 10e-6


def _bar(row: dict) -> tuple[float, float]:
    if row["first"]:
        return 0.75, 1.3
    return (0.8, 1.25) if row["truth"] < _TINY else (0.9, 1.1)


def _line(group: str, row: dict) -> str:
    low, high = _bar(row)
    ok = "ok" if low <= row["ours"] <= high else "OUT"
    theirs = row["timeit"]
    shown = "-" if theirs is None else "fails" if math.isnan(theirs) else f"{theirs:.2f}"
    spread = f"{row['low']:.2f}-{row['high']:.2f}"
    name = f"{group}: {row['name']}"
    return (
        f"{name:38.38} {row['truth'] * 1e6:11.3f} {row['ours']:6.2f} {spread:>11} {shown:>8}  {ok}"
    )


def _group(name: str, rounds: int) -> None:
    from tests.accuracy.looks import compare

    for case in GROUPS[name]:
        print(json.dumps(compare(case, rounds)), flush=True)


def _seconds_to_import() -> str:
    code = (
        "import time, sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "s = InteractiveShell.instance()\n"
        "t = time.perf_counter(); import ipyjaxbench; a = time.perf_counter()\n"
        "s.run_line_magic('load_ext', 'ipyjaxbench'); b = time.perf_counter()\n"
        "heavy = [m for m in ('numpy','rich','jinja2','msgspec','jax','torch','tensorflow')"
        " if m in sys.modules]\n"
        "print(a - t, b - a, ','.join(heavy) or 'none')"
    )
    runs = []
    for _ in range(7):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return "import: not measured, there is no IPython here"
        runs.append(done.stdout.split())
    first, second = (statistics.median(float(run[i]) * 1e3 for run in runs) for i in (0, 1))
    return (
        f"import ipyjaxbench {first:.1f} ms, %load_ext {second:.1f} ms more,"
        f" heavy modules loaded by that: {runs[0][2]}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--group", choices=GROUPS)
    parser.add_argument("--only", nargs="*", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.group:
        _group(options.group, options.rounds)
        return
    print(f"{'expression':38} {'truth, µs':>11} {'ours':>6} {'range':>11} {'%timeit':>8}")
    for group in options.only:
        if importlib.util.find_spec(_NEEDS[group]) is None:
            print(f"{group}: not installed here, skipped")
            continue
        command = [sys.executable, "-m", "tests.accuracy", "--group", group]
        command += ["--rounds", str(options.rounds)]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment,
                              stderr=subprocess.DEVNULL) as process:  # fmt: skip
            for line in process.stdout:
                print(_line(group, json.loads(line)), flush=True)
        if process.returncode:
            print(f"{group}: ended with exit status {process.returncode}")
    print("ours, %timeit: figure divided by the truth, 1.00 is right; range: over the rounds")
    print(_seconds_to_import())


main()
