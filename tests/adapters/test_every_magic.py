"""Every magic, typed once for every framework: what `python -m tests --quick` always runs."""

import jax
import numpy as np
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench.testing import FakeClock
from tests.scripted import PER_CALL
from tests.shell import Shell

#: By framework: a function, compiled where there is a compiler, and what makes its argument.
SESSIONS = {
    "jax": (jax.jit(lambda x: x * 2), lambda: jax.numpy.ones(8)),
    "torch": (torch.compile(lambda x: x * 2, backend="eager"), lambda: torch.ones(8)),
    "tensorflow": (tf.function(lambda x: x * 2), lambda: tf.ones(8)),
    "numpy": (lambda x: x * 2, lambda: np.ones(8)),
}


@pytest.mark.parametrize("framework", SESSIONS)
def test_every_magic_answers(framework: str, shell: Shell, scripted_clock: FakeClock) -> None:
    step, argument = SESSIONS[framework]
    shell.names.update(step=step, x=argument(), clock=scripted_clock)

    shell.run("%%trace_cached -v traces\nstep(x)\nstep(x)")
    states = [call.state for call in shell.names["traces"].calls]
    assert states == ([] if framework == "numpy" else ["TRACED", "CACHED"])

    shell.run("%fwtime -v timed step(x)")
    timed = shell.names["timed"]
    assert timed.median == PER_CALL * 1e-9
    assert framework in str(timed)
    assert "step(x)" in shell.shown[-1].data["text/plain"]

    shell.run("%%fwcompare -v compared\nonce: step(x)\ntwice: step(x); clock.advance(10_000_000)")
    once, twice = shell.names["compared"].sides
    assert twice.measured.median == pytest.approx(2 * once.measured.median)

    shell.run("%jaxpr -v graph step(x)")
    assert "mul" in shell.shown[-1].data["text/plain"].lower()

    shell.run("%fwdevices -v where x")
    assert [row["size_bytes"] for row in shell.names["where"].rows()] == [
        64 if framework == "numpy" else 32
    ]

    shell.run("%fwhistory")
    assert "step(x)" in shell.shown[-1].data["text/plain"]
