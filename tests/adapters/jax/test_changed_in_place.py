"""Flax changes modules in place: a reason tells what they held when the call began."""

from typing import Any

import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from tests.traced import observed

nnx = pytest.importorskip("flax.nnx")

CODE = """
class Counter(nnx.Module):
    def __init__(self): self.count, self.w = 0, nnx.Param(jnp.ones(3))
    @nnx.jit
    def __call__(self, x):
        self.count += 1
        return x * self.w
@nnx.jit
def step(m, x):
    m.count += 1
    return x * m.w
m = Counter()
"""


@pytest.mark.parametrize(("call", "path"), [("m", "self.count"), ("step", "m.count")])
def test_a_value_that_the_trace_counts_up_is_told_as_it_was_before_the_call(
    call: str, path: str
) -> None:
    names: dict[str, Any] = {"nnx": nnx, "jnp": jnp, "x": jnp.ones(3)}
    exec(CODE, names)
    line = "m(x)\n" if call == "m" else "step(m, x)\n"
    first, *others = observed(line * 3, names).calls
    assert [each.kind for each in first.why] == ["first"]
    told = [(each.path, each.old, each.new) for call in others for each in call.why]
    assert told == [(path, "0", "1"), (path, "1", "2")]


def test_a_signature_is_read_before_a_call_only_while_traces_change_something() -> None:
    step, m = nnx.jit(lambda m, x: m(x)), nnx.Linear(3, 3, rngs=nnx.Rngs(0))
    read = []
    with JaxCallWatch() as watch:
        for rows in (1, 1, 2):
            args = (m, jnp.ones((rows, 3)))
            mark = watch.begin_call(step, args, {})
            step(*args)
            watch.end_call(step, mark)
            read.append(mark.signature is not None)
    assert read == [True, False, False]
