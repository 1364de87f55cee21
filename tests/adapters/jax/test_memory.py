"""The memory that XLA planned for a call."""

import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests.shell import Shell

SIDE = 256
MATRIX = 4 * SIDE**2


@pytest.fixture
def ready(shell: Shell) -> Shell:
    shell.names.update(
        jax=jax, jnp=jnp, x=jnp.ones((SIDE, SIDE)), w=jnp.ones((SIDE, 4 * SIDE)),
        f=jax.jit(lambda a, w: jnp.sin(a @ w) @ w.T),
        g=jax.jit(lambda a, w: jnp.sin(a @ w) @ w.T, donate_argnums=0),
        h=jax.jit(lambda a: a + 1),
    )  # fmt: skip
    return shell


def measured(run: Shell, code: str) -> Any:
    run.run(f"%fwtime -q -n 2 -r 2 --memory -v found {code}")
    (found,) = run.names["found"].memory
    return found


@pytest.mark.parametrize(
    ("code", "between", "results", "arguments"),
    [
        ("y = f(x, w)", 4, 1, 5),
        ("g(x, w)", 4, 0, 5),  # the argument's memory becomes the result's
        ("h(x)", 0, 1, 1),
    ],
)
def test_a_plan_is_what_the_program_needs_by_hand(
    ready: Shell, code: str, between: int, results: int, arguments: int
) -> None:
    found = measured(ready, code)
    assert found.source == "plan"
    assert found.between == between * MATRIX
    assert found.left == results * MATRIX
    assert found.before == arguments * MATRIX


def test_no_plan_is_told_for_code_that_does_more(ready: Shell) -> None:
    assert measured(ready, "h(h(x))").source in ("process", "highest")


#: In a process of its own: in another one memory that tests before it gave back late would hide it.
GROWING = """
import threading
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
from ipyjaxbench.device import resident_curve

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_line_magic("load_ext", "ipyjaxbench")
looks, look = threading.Semaphore(0), resident_curve.resident_memory

def wait_for_looks():
    while looks.acquire(blocking=False):
        pass
    for _ in range(2):  # the first may have begun before
        assert looks.acquire(timeout=600)

resident_curve.resident_memory = lambda: (look(), looks.release())[0]
shell.run_cell("import jax.numpy as jnp, numpy as np; jnp.ones(3)").raise_error()
shell.user_ns["wait_for_looks"] = wait_for_looks
cell = "%%fwdevices -q -v found\\ny = np.ones((4000, 4000))\\nwait_for_looks()\\ndel y"
shell.run_cell(cell).raise_error()
found = shell.user_ns["found"]
(peak,) = found.peaks
shell.run_cell("%%fwdevices -q -v found\\ny = 1").raise_error()
print("found", peak.peak, peak.left, "peak memory" in str(found), len(shell.user_ns["found"].peaks))
"""


def test_a_cell_says_how_the_process_grew_and_a_small_one_does_not() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWING], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    peak, left, is_said, of_small = done.stdout.partition("found ")[2].split()
    assert int(peak) >= 0.95 * 8 * 4000**2
    assert int(left) < int(peak) / 2
    assert (is_said, of_small) == ("True", "0")
