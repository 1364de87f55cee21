"""The first reports of a process leave the random numbers that follow as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

CELLS = (
    "%%fwcompare --sweep n=1,2 -b 0.2\nadd: n + n\ndouble: 2 * xt", "%fwtime -n 2 -r 3 xf + xf",
    "%fwtime --profile -n 2 -r 3 f(xj)", "%fxgraph --dynamo torch.sin(xt)", "%tfgraph tf.sin(xf)",
    "%trace_cached --watch on\nf(xj)",
)  # fmt: skip
SEED = """
random.seed(0); np.random.seed(0); torch.manual_seed(0); tf.random.set_seed(0)
tf.random.set_global_generator(tf.random.Generator.from_seed(0))
"""
NUMBERS = (
    "[random.random(), np.random.rand(), torch.rand(1).item(), float(tf.random.uniform([])),"
    " float(tf.random.get_global_generator().normal([]))]"
)
SESSION = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

seed, numbers, *cells = sys.argv[1:]
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.display_formatter.active_types = shell.display_formatter.format_types
for cell in ("%load_ext ipyjaxbench", "import random, numpy as np, torch, tensorflow as tf, jax",
             "xt, xf, xj = torch.ones(3), tf.ones(3), jax.numpy.ones(3)",
             "f = jax.jit(lambda x: x + 1)"):
    shell.run_cell(cell).raise_error()
for cell in cells:
    shell.run_cell(seed).raise_error()
    with contextlib.redirect_stdout(io.StringIO()):
        error = shell.run_cell(cell).error_in_exec
    print(json.dumps([eval(numbers, shell.user_ns), type(error).__name__]))
"""


def test_the_first_reports_of_a_process_draw_no_random_number(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SESSION, SEED, NUMBERS, "1 + 1", *CELLS],
        capture_output=True, text=True, check=False,
        env={**os.environ, "IPYTHONDIR": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (numbers, _), *found = map(json.loads, done.stdout.splitlines())
    told = dict(zip(CELLS, found, strict=True))
    assert told == {cell: [numbers, "NoneType"] for cell in CELLS}
