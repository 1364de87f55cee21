"""What a cell imports itself is watched like what was there before, in the first cell of all."""

import json
import subprocess
import sys
from typing import Any

import pytest

#: Each case runs in a process of its own, which has what all of them need.
SESSIONS = """
import json, os, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_cell("%load_ext ipyjaxbench").raise_error()
for name, (cells, question) in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        for cell in cells:
            shell.run_cell(cell).raise_error()
        found = shell.user_ns["found"]
        print("\\nfound", json.dumps([name, eval(question, {"found": found})]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
CALLS = "[call.state for call in found.calls for _ in range(call.times)]"
COMPILED = """%%trace_cached -q -v found
import torch
@torch.compile(backend="eager")
def f(x): return x * 2
def g(x): return f(x)
for n in (3, 3): g(torch.ones(n))
"""
CASES = {
    "seen from then on": (
        ["%%trace_cached -q\nimport jax\nf = jax.jit(lambda x: x + scale)\nscale = 2.0\nf(1.0)",
         "scale = 3.0", "%trace_cached -q -v found f(1.0)"],
        CALLS, ["STALE", "STALE"],  # of its two runs
    ),
    "compiled in functions that the cell defines": (
        [COMPILED],
        CALLS, ["TRACED", "CACHED"],
    ),
    "copied": (
        ["import numpy as np\nhost = np.ones((512, 512), 'float32')",
         "%%fwdevices -q -v found\nimport jax\nf = jax.jit(lambda x: x + 1)\ny = f(host)"],
        "[[each.nbytes, each.line] for each in found.transfers]", [[1 << 20, 4]],
    ),
    "compiled in each call": (
        ["%%fwtime -q -n 1 -r 3 -v found\nimport jax\nf = jax.jit(lambda x: x + 1)\nf(1.0)"],
        "found.verdict", "RECOMPILES",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What is told in each case; the output where nothing is."""
    asked = {name: (cells, question) for name, (cells, question, _) in CASES.items()}
    command = [sys.executable, "-c", SESSIONS, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    output = done.stdout[-1000:] + done.stderr[-2000:]
    return dict.fromkeys(CASES, output) | dict(json.loads(line[6:]) for line in lines)


@pytest.mark.parametrize("case", CASES)
def test_the_first_cell_is_seen(case: str, told: dict[str, Any]) -> None:
    assert told[case] == CASES[case][-1]
