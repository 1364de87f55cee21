"""The memory that XLA planned for a call."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.device import resident_curve
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
        ("f(x, w)", 4, 1, 5),
        ("f(x, w).block_until_ready()", 4, 1, 5),
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


@pytest.mark.parametrize("code", ["f(x, w) + 1", "h(h(x))", "[f(x, w), h(x)]"])
def test_no_plan_is_told_for_code_that_does_more(ready: Shell, code: str) -> None:
    assert measured(ready, code).source in ("process", "highest")


def test_a_cell_says_how_the_process_grew_and_a_small_one_does_not(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look = threading.Semaphore(0), resident_curve.resident_memory

    def look_and_count() -> int | None:
        nbytes = look()
        looks.release()
        return nbytes

    def wait_for_looks() -> None:
        while looks.acquire(blocking=False):
            pass
        for _ in range(2):  # the first may have begun before
            assert looks.acquire(timeout=600)

    monkeypatch.setattr(resident_curve, "resident_memory", look_and_count)
    shell.names.update(jnp=jnp, np=np, wait_for_looks=wait_for_looks)
    shell.run("%%fwdevices -q -v found\ny = np.ones((4000, 4000))\nwait_for_looks()\ndel y")
    (found,) = shell.names["found"].peaks
    assert found.peak >= 0.95 * 8 * 4000**2
    assert found.left < found.peak / 2
    assert "peak memory" in str(shell.names["found"])
    shell.run("%%fwdevices -q -v found\ny = 1")
    assert shell.names["found"].peaks == ()
