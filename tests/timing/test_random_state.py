"""The first report of a process leaves the random numbers that follow as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CELLS = (
    "%%fwcompare --sweep n=1,2 -b 0.2\nadd: n + n\ndouble: 2 * xt",
    "%fwtime -n 2 -r 3 xf + xf",
    "%fwtime --profile -n 2 -r 3 f(xj)",
    "%fxgraph --dynamo torch.sin(xt)",
    "%tfgraph tf.sin(xf)",
    "%trace_cached --watch on\nf(xj)",
)
SET_UP = """
import random
random.seed(0)
import numpy as np, torch, tensorflow as tf, jax, jax.numpy as jnp
xn, xt, xf, xj = np.ones(3), torch.ones(3), tf.ones(3), jnp.ones(3)
f = jax.jit(lambda x: x + 1)
np.random.seed(0); torch.manual_seed(0); tf.random.set_seed(0)
tf.random.set_global_generator(tf.random.Generator.from_seed(0))
"""
NUMBERS = (
    "[random.random(), np.random.rand(), torch.rand(1).item(), float(tf.random.uniform([])),"
    " float(tf.random.get_global_generator().normal([]))]"
)
#: Each cell is run in a process of its own, that has imported what is to be imported already.
SESSION = """
import gc, json, os, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

imports, set_up, numbers, *cells = sys.argv[1:]
exec(imports)
gc.freeze()  # else each process copies all of it, to look for garbage there

def told_after(cell):
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.display_formatter.active_types = shell.display_formatter.format_types
    shell.run_cell("%load_ext ipyjaxbench").raise_error()
    shell.run_cell(set_up).raise_error()
    error = shell.run_cell(cell).error_in_exec
    return eval(numbers, shell.user_ns), type(error).__name__

def in_a_process_of_its_own(cell):
    read, write = os.pipe()
    if not (child := os.fork()):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.write(write, json.dumps(told_after(cell)).encode())
        os._exit(0)
    os.close(write)
    return child, os.fdopen(read)

running = []
for cell in [*cells, *[None] * os.cpu_count()]:  # one for each CPU at a time
    if len(running) == os.cpu_count() or cell is None and running:
        child, pipe = running.pop(0)
        print(pipe.read() or "null", flush=True)
        os.waitpid(child, 0)
    if cell is not None:
        running.append(in_a_process_of_its_own(cell))
"""


def run_cells(folder: Path, imports: str, set_up: str, numbers: str, *cells: str) -> dict[str, Any]:
    """The numbers that are drawn behind each cell, and the kind of error that it raised."""
    done = subprocess.run(
        [sys.executable, "-c", SESSION, imports, set_up, numbers, *cells],
        capture_output=True, text=True, check=False,
        env={**os.environ, "IPYTHONDIR": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = map(json.loads, done.stdout.splitlines())
    return dict(zip(cells, lines, strict=True))


def test_the_first_report_of_a_process_draws_no_random_number(tmp_path: Path) -> None:
    imports = "import torch, tensorflow"  # JAX and NumPy with it
    found = run_cells(tmp_path, imports, SET_UP, NUMBERS, "1 + 1", *CELLS)
    numbers, _ = found.pop("1 + 1")
    assert found == {cell: [numbers, "NoneType"] for cell in CELLS}
