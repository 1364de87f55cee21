"""Functions of one name are kept apart, and told apart by what defines them."""

import pytest

from ipyjaxbench.retracing import TRACE_LOG
from tests.adapters.jax import test_stale
from tests.shell import Shell

cells = test_stale.cells
TWO = """
def make_a():
    @jax.jit
    def step(x): return x * k
    return step
def make_b():
    @jax.jit
    def step(x): return x {}
    return step
k, a, b = 2.0, make_a(), make_b()
"""
METHOD = """
class Trainer:
    @partial(jax.jit, static_argnums=0)
    def step(self, x): return x * k
@jax.jit
def step(x): return x + 1
k, a, b = 2.0, Trainer().step, step
"""
ALONE = (
    "k = 2.0\ndef make():\n    @jax.jit\n    def step(x): return x * k\n    return step\na = make()"
)


@pytest.mark.parametrize(
    ("before", "names"),
    [
        (TWO.format("+ 1"), ["make_a.step", "make_b.step"]),
        (TWO.format("* k"), ["make_a.step", "make_b.step"]),
        (METHOD, ["Trainer.step", "step"]),
    ],
)
def test_two_functions_of_one_name_have_their_own_numbers_and_reasons(
    cells: Shell, before: str, names: list[str]
) -> None:
    TRACE_LOG.clear()
    cells.run(before)
    cells.run("%%trace_cached -qv seen\na(x), b(x), a(jnp.ones(4)), b(x)")
    calls = cells.names["seen"].calls
    first, shape = "first call", "x: f32[3] → f32[4] (shape)"
    assert not any(each.nested for each in calls)
    assert [(each.name, each.number, *(c.words() for c in each.why)) for each in calls] == [
        (names[0], 1, first), (names[1], 1, first), (names[0], 2, shape), (names[1], 2),
    ]  # fmt: skip
    cells.run("%trace_cached --watch on")
    cells.run("y = jnp.ones(5); a(y), b(y)")
    line = cells.shown[-1].data["text/plain"]
    cells.run("%trace_cached --watch off")
    assert all(f"{name} (" in line for name in names)
    cells.run("k = 3.0")
    cells.run("%%trace_cached -qv seen\na(x), b(x)")
    stale = cells.names["seen"].calls[0]
    assert (stale.name, stale.state) == (names[0], "STALE")
    assert stale.fixes[0].startswith(f"Pass `k` to `{names[0]}` as ")


def test_signatures_of_both_are_listed_by_their_full_names(cells: Shell) -> None:
    TRACE_LOG.clear()
    cells.run(TWO.format("+ 1"))
    cells.run("a(x), b(x), a(jnp.ones(4))")
    cells.run("%trace_cached --signatures -v known step")
    names = [each.name for each in cells.names["known"].traced]
    assert names == ["make_a.step", "make_a.step", "make_b.step"]


def test_one_function_has_the_name_that_it_is_called_by(cells: Shell) -> None:
    cells.run(ALONE)
    cells.run("%%trace_cached -qv seen\na(x), a(jnp.ones(4))")
    assert [each.name for each in cells.names["seen"].calls] == ["step", "step"]
