"""Calls that other code makes, as `map` does, and that raise an error while they are traced."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
import tensorflow as tf
import torch
import torch._dynamo  # changes the environment when it is loaded

from tests.shell import Shell


def fails(x: Any) -> Any:
    raise ValueError("no")


CALLS = {
    "jax": (jax.jit(fails), jnp.ones(3)),
    "tensorflow": (tf.function(fails), tf.ones(3)),
    "torch": (torch.compile(fails, backend="eager"), torch.ones(3)),
}


@pytest.mark.parametrize("framework", CALLS)
def test_the_verdict_says_that_a_call_raised(shell: Shell, framework: str) -> None:
    function, x = CALLS[framework]
    shell.run("pass")  # after a cell in which the framework is there, its traces are seen
    shell.names |= {"f": function, "x": x}
    with pytest.raises(Exception, match="no"):
        shell.run("%%trace_cached -v seen\nlist(map(f, [x]))")
    seen = shell.names["seen"]
    # Not all versions and frameworks report a trace that came to no end.
    assert {each.state for each in seen.calls} <= {"RAISED"}
    assert "raised an exception" in shell.shown[-1].data["text/plain"]
    assert "TRACED" not in shell.shown[-1].data["text/plain"]
