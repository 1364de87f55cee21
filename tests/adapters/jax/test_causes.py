"""Only what changed the key is a cause: with that alone put back, a call is a hit."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests.shell import Shell

SETUP = """
from typing import NamedTuple
class State(NamedTuple):
    step: object
    size: object
    aux: dict
@jax.jit
def update(s):
    return State(s.step + 1, s.size * 0.9, {"gap": (x ** 2).sum()})
@jax.jit
def acc(total, i):
    return total + i
@jax.tree_util.register_pytree_node_class
class Cfg:
    def __init__(self, v, s):
        self.v, self.s = v, s
    def tree_flatten(self):
        return (self.v,), self.s
    @classmethod
    def tree_unflatten(cls, s, leaves):
        return cls(*leaves, s)
@jax.jit
def run(cfg):
    return cfg.v * cfg.s
"""


@pytest.fixture
def cells(shell: Shell) -> Shell:
    shell.names |= {"jax": jax, "jnp": jnp, "x": jnp.ones(2)}
    shell.run(SETUP)
    return shell


def causes(cells: Shell, cell: str) -> list[tuple[str, str]]:
    """The state of each call, and why."""
    cells.run(f"%%trace_cached -qv seen\n{cell}")
    calls: Any = cells.names["seen"].calls
    return [(call.state, "; ".join(change.words() for change in call.why)) for call in calls]


def test_the_value_of_a_number_is_no_cause(cells: Shell) -> None:
    told = causes(cells, "total = 0\nfor i in range(5):\n    total = acc(total, i)")
    assert told[1] == ("SLOW-PATH", "total: int → i32[] weak (type)")


def test_a_number_and_the_array_that_a_trace_takes_it_for_are_one(cells: Shell) -> None:
    cell = "s = State(0, 0.5, {'gap': 0.0})\nfor _ in range(3):\n    s = update(s)"
    told = causes(cells, cell)
    assert told[1] == ("TRACED", "s.aux['gap']: float → f32[] (type)")


def test_a_leaf_of_the_users_own_tree_is_no_static_value(cells: Shell) -> None:
    cell = "run(Cfg(jnp.ones(2), 2))\nrun(Cfg(jnp.zeros(2), 2))\nrun(Cfg(jnp.zeros(2), 3))"
    told = causes(cells, cell)
    assert [state for state, _ in told] == ["TRACED", "CACHED", "TRACED"]
    assert told[2][1] == "cfg.s: 2 → 3 (static value)"
