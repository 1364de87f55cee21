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


METHOD = """
class Model:
    {}
{}
m, other = Model(), Model()
m.k = other.k = 2.0
m.run(x), other.run(x)
"""
OWN = METHOD.format(
    "@partial(jax.jit, static_argnums=0)\n    def run(self, x): return x * self.k * k", "k = 2.0"
)
OF_CLASS = "@staticmethod\n    @jax.jit\n    def run(x): return x * k"
BODY = "k = 2.0\ndef body(c, _): return c * k, None\n"
CLOSED = """
k = 2.0
def make():
    @jax.jit
    def inner(x): return x * k
    def call(x, step=inner): return step(x)
    return call
"""


@pytest.mark.parametrize(
    ("before", "change", "stale"),
    [
        (TRAINER, "u.rate = 0.3", ["u.step (self.rate was 0.1 when step was traced, is 0.3)"]),
        (OWN, "other.k = 9.0", ["other.run (self.k"]),
        (OWN, "k = 9.0", ["m.run (k", "other.run (k"]),
        (OWN.replace("Model:\n", "Base:\n    off = 2.0\nclass Model(Base):\n")
            .replace("* k", "* self.off"), "Base.off = 9.0",
         ["m.run (self.off", "other.run (self.off"]),
        (METHOD.format(OF_CLASS, "k = 2.0"), "k = 9.0", ["m.run (k"]),
        (METHOD.format(OF_CLASS.replace("static", "class").replace("(x)", "(cls, x)")
            .replace("@jax.jit", "@partial(jax.jit, static_argnums=0)"), "k = 2.0"), "k = 9.0",
         ["m.run (k"]),
        ("k = 2.0\nfs = {'a': [jax.jit(lambda x: x * k)]}\nfs['a'][0](x)", "k = 9.0",
         ["fs['a'][0] (k"]),
        (f"{CLOSED}f = make()\nf(x)", "k = 9.0", ["step in f (k"]),
        (f"{CLOSED}f = partial(make(), step=make().__defaults__[0])\nf(x)", "k = 9.0",
         ["step in f (k"]),
        ("k = 2.0\ninner = jax.jit(lambda x: x * k)\ninner(x)\nk = 9.0",
         "f = jax.jit(lambda x: inner(x) + 1)\nf(x)",
         ["f (<lambda> in it was stale by then: k was 2.0"]),
        (f"{BODY}inner = jax.jit(lambda x: jax.lax.scan(body, x, None, 2))\ninner(x)\nk = 9.0",
         "f = jax.jit(lambda x: jax.lax.scan(body, x + 1, None, 2))\nf(x)",
         ["f (it holds a part that was traced before: k was 2.0"]),
        (f"{OWN}run = m.run\ndel m, other", "k = 9.0", ["run (k"]),
    ],
)  # fmt: skip
def test_the_cell_by_which_a_function_is_stale_is_told_wherever_that_is_kept(
    cells: Shell, before: str, change: str, stale: list[str]
) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(before)
    cells.run(change)
    shown = [each.data["text/plain"] for each in cells.shown]
    lines = [each for each in shown if not each.startswith("traced: ")]
    cells.run("%trace_cached --watch off")
    assert len(lines) == len(stale), lines
    assert all(map(str.startswith, lines, [f"stale: {each}" for each in stale])), lines


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


def test_of_very_many_the_first_are_named_and_the_others_counted(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run("k = 2.0\nfs = [jax.jit(lambda x: x * k) for _ in range(8)]\n[f(x) for f in fs]")
    cells.run("k = 3.0")
    lines = [each.data["text/plain"] for each in cells.shown]
    cells.run("%trace_cached --watch off")
    assert [each.partition(" (")[0] for each in lines] == [
        *(f"stale: fs[{n}]" for n in range(5)),
        "stale: 3 other functions",
    ]
