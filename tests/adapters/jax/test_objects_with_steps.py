"""Jitted functions that objects keep, and objects of JAX that are no functions of the user."""

import pytest

from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import last_call
from tests.shell import Shell

cells = test_stale.cells
TRAINER = """
class Trainer:
    def __init__(self, rate):
        self.rate = rate
        @jax.jit
        def step(w, g): return w - self.rate * g
        self.step, self.also = step, step
        self.evaluate = jax.jit(lambda w: w.sum())
t, u = Trainer(0.1), Trainer(0.1)
t.step(x, x), u.step(x, x), t.evaluate(x)
"""


def test_the_step_that_an_object_keeps_is_told_when_its_object_changes(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(TRAINER)
    cells.run("u.rate = 0.3")
    lines = [each.data["text/plain"] for each in cells.shown]
    assert lines == ["stale: u.step (self.rate was 0.1 when step was traced, is 0.3)"]
    cells.run("%trace_cached --watch off")


def test_what_one_call_makes_is_told_to_be_made_anew_by_one(cells: Shell) -> None:
    cells.run(TRAINER.replace("w.sum()", "w.sum() * self.rate"))
    cells.run("t.rate = 0.2")
    assert last_call(cells, "t.step(x, x)").fixes == (
        "Pass `self.rate` to `step` as an argument, or call `Trainer` again for a new `step`",
    )


@pytest.mark.parametrize("call", ["sharded(x)", "list(map(sharded, [x]))"])
def test_what_jax_jits_for_a_mapped_function_is_no_call_of_the_users(
    cells: Shell, call: str
) -> None:
    cells.run(
        "mesh, rows = jax.sharding.Mesh(jax.devices()[:1], 'i'), jax.sharding.PartitionSpec('i')\n"
        "sharded = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=rows, out_specs=rows)"
    )
    cells.run(f"%%trace_cached -qv seen\n{call}")
    assert [each.name for each in cells.names["seen"].calls] == []
