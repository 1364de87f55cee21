"""What is compiled with an object: methods, and library code that functions are given to."""

from typing import NamedTuple

import pytest

from tests.adapters.jax import test_stale
from tests.shell import Shell

cells = test_stale.cells
UFUNC = """
scale = 2.0
def add(a, b): return a + scale * b
u, other = jnp.frompyfunc(add, 2, 1), jnp.frompyfunc(lambda a, b: a - b, 2, 1)
"""
APPLY = """
scale = 2.0
def double(x): return x * scale
class Shift:
    by = 1.0
    def __call__(self, x): return x + self.by
shift = Shift()
apply = jax.jit(jax.lax.map, static_argnums=0)
"""


TWO = """
class Two:
    rate, shift = 2.0, 1.0
    @partial(jax.jit, static_argnums=0)
    def step(self, x): return x * self.rate
    @partial(jax.jit, static_argnums=0)
    def other(self, x): return x + self.shift
    @partial(jax.jit, static_argnums=0)
    def loop(self, x): return jax.lax.scan(lambda c, _: (c * self.rate, None), x, None, 3)[0]
    @partial(jax.jit, static_argnames=("self", "n"))
    def several(self, x, n): return sum([x * self.rate for _ in range(n)])
a, b = Two(), Two()
a.step(x), b.step(x), a.other(x)
"""


EQUAL = """
import dataclasses
@dataclasses.dataclass(frozen=True)
class Config:
    name: str
    rate: float = dataclasses.field(compare=False)
    note: str = dataclasses.field(default="", compare=False)
    @partial(jax.jit, static_argnums=0)
    def step(self, x): return x * self.rate
class Same:
    rate = 2.0
    def __eq__(self, other): return isinstance(other, Same)
    def __hash__(self): return 1
    @partial(jax.jit, static_argnums=0)
    def step(self, x): return x * self.rate
c, s = Config("a", 2.0), Same()
@partial(jax.jit, static_argnames="cfg")
def f(x, cfg): return x * cfg.rate
"""


class Given(NamedTuple):
    """What is defined, a call, what is changed, and what is told of the call then, if anything."""

    before: str
    call: str
    change: str
    stale: str = ""
    name: str = ""  # of what is told by `--watch on`


CASES = (
    *(
        Given(UFUNC, call, "scale = 3.0", "scale was 2.0 when", call.partition("(")[0])
        for call in (
            "u.reduce(x)", "u.accumulate(x)", "u.outer(x, x)", "u.at(x, 0, 1.0, inplace=False)",
            "u.reduceat(x, jnp.array([0, 2]))",
        )
    ),
    Given(UFUNC, "u(x, x)", "scale = 3.0", "scale was", "u"),
    Given(UFUNC, "u(x, x)", "scale = 1.0 + 1.0"),
    Given(UFUNC, "u.reduce(x)", "scale = 1.0 + 1.0"),
    Given(UFUNC, "other(x, x)", "u(x, x); scale = 3.0"),
    Given(UFUNC, "other.reduce(x)", "u.reduce(x); scale = 3.0"),
    Given(UFUNC, "jnp.add(x, x)", "scale = 3.0"),
    Given(EQUAL, "f(x, cfg=c)", "c = Config('a', 3.0)", "cfg was changed after f"),
    Given(EQUAL, "c.step(x)", "c = Config('a', 3.0)", "self was changed after step"),
    Given(EQUAL, "s.step(x)", "s = Same(); s.rate = 3.0", "self.rate was 2.0 when step"),
    Given(EQUAL, "s.step(x)", "s = Same()"),
    Given(EQUAL, "f(x, cfg=c)", "c = Config('a', 2.0)"),
    Given(EQUAL, "f(x, cfg=c)", "c = Config('a', 2.0, 'b')"),
    Given(EQUAL, "f(x, cfg=c)", "c = Config('b', 3.0); f(x, cfg=c)"),
    Given(APPLY, "apply(double, x)", "scale = 3.0", "scale was 2.0 when map", "apply"),
    Given(APPLY, "apply(shift, x)", "shift.by = 2.0", "by was 1.0 when map", "apply"),
    Given(TWO, "a.step(x)", "a.rate = 3.0", "rate was 2.0 when step", "a.step"),
    Given(TWO, "a.step(x + 1)", "a.rate = 3.0", "rate was 2.0 when step", "a.step"),
    Given(TWO, "a.loop(x)", "a.rate = 3.0", "rate was 2.0 when loop", "a.loop"),
    Given(TWO, "a.loop(x)", "a.shift = 3.0"),
    Given(TWO, "a.several(x, n=2)", "a.rate = 3.0", "rate was 2.0 when several", "a.several"),
    Given(TWO, "b.step(x)", "a.rate = 3.0"),
    Given(TWO, "b.step(x + 1)", "a.step(x); a.rate = 3.0"),
    Given(TWO, "a.other(x)", "a.step(x); a.rate = 3.0"),
    Given(TWO, "a.other(x + 1)", "a.step(x); a.rate = 3.0"),
    Given(APPLY, "apply(double, x)", "shift.by = 2.0"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.call}, {case.change}")
def test_what_they_read_is_known(cells: Shell, case: Given) -> None:
    cells.run(case.before)
    cells.run(f"y = {case.call}")
    cells.run("%trace_cached --watch on")
    cells.run(case.change)
    watched = [str(each.data) for each in cells.shown if "stale: " in str(each.data)]
    cells.run("%trace_cached --watch off")
    assert any(f"stale: {case.name} (" in each for each in watched) == bool(case.name)
    for magic in ("%fwtime -q -n 1 -r 2 -v found", "%trace_cached -qv seen"):
        cells.run(f"{magic} {case.call}")
    calls = cells.names["seen"].calls
    assert {each.state for each in calls} <= {"STALE" if case.stale else "CACHED"}
    told = [change.words() for each in calls for change in each.why]
    assert bool(told) == bool(case.stale)
    assert all(case.stale in each for each in told), told
    notes = [each.text for each in cells.names["found"].notes if each.code == "stale-program"]
    assert [case.stale in each for each in notes] == [True] * bool(case.stale)
