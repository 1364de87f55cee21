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


class Change(NamedTuple):
    """What is changed, and what is told then."""

    cell: str
    stale: dict[str, str] = {}  # noqa: RUF012  calls, and what is told of each
    todays: tuple[str, ...] = ()  # calls
    names: str = ""  # of what is told by `--watch on`


WAS_2 = "scale was 2.0 when"
OF_UFUNC = (
    "u.reduce(x)", "u.accumulate(x)", "u.outer(x, x)", "u.at(x, 0, 1.0, inplace=False)",
    "u.reduceat(x, jnp.array([0, 2]))",
)  # fmt: skip
OF_OTHERS = ("other(x, x)", "other.reduce(x)", "jnp.add(x, x)")
OF_A = ("a.step(x)", "a.step(x + 1)", "a.loop(x)", "a.several(x, n=2)")
OF_TWO = ("b.step(x)", "b.step(x + 1)", "a.other(x)", "a.other(x + 1)")
CASES = (
    *((UFUNC, (call,),
       Change("scale = 1.0 + 1.0", todays=(call,)),
       Change("scale = 3.0", {call: WAS_2}, names=call.partition("(")[0])) for call in OF_UFUNC),
    (UFUNC, ("u(x, x)", "u.reduce(x)", *OF_OTHERS),
     Change("scale = 1.0 + 1.0", todays=("u(x, x)",)),
     Change("scale = 3.0", {"u(x, x)": "scale was"}, OF_OTHERS, "u u.reduce")),
    (EQUAL, ("f(x, cfg=c)", "c.step(x)", "s.step(x)"),
     Change("c, s = Config('a', 2.0), Same()", todays=("f(x, cfg=c)", "s.step(x)")),
     Change("c = Config('a', 2.0, 'b')", todays=("f(x, cfg=c)",)),
     Change("c, s.rate = Config('a', 3.0), 3.0",
            {"f(x, cfg=c)": "cfg was changed after f", "c.step(x)": "self was changed after step",
             "s.step(x)": "self.rate was 2.0 when step"}),
     Change("c = Config('b', 3.0); f(x, cfg=c)", todays=("f(x, cfg=c)",))),
    (APPLY, ("apply(double, x)", "apply(shift, x)"),
     Change("shift.by = 2.0", {"apply(shift, x)": "by was 1.0 when map"}, ("apply(double, x)",),
            "apply")),
    (APPLY, ("apply(double, x)",),
     Change("scale = 3.0", {"apply(double, x)": "scale was 2.0 when map"}, names="apply")),
    (TWO, (*OF_A, *OF_TWO),
     Change("a.rate = 3.0", dict.fromkeys(OF_A, "rate was 2.0 when"), OF_TWO,
            "a.loop a.several a.step"),
     Change("a.rate, a.shift = 2.0, 3.0", todays=("a.loop(x)",), names="a.other")),
)  # fmt: skip


@pytest.mark.parametrize(("before", "calls", "changes"), [(b, c, each) for b, c, *each in CASES])
def test_what_they_read_is_known(
    cells: Shell, before: str, calls: tuple[str, ...], changes: list[Change]
) -> None:
    cells.run(before)
    cells.run("\n".join(f"y = {call}" for call in calls))
    for change in changes:
        cells.run("%trace_cached --watch on")
        cells.run(change.cell)
        lines = [each.data["text/plain"] for each in cells.shown]
        watched = {line.split()[1] for line in lines if line.startswith("stale: ")}
        cells.run("%trace_cached --watch off")
        assert watched >= {*change.names.split()}, change
        assert bool(watched) == bool(change.names), change
        for call in (*change.stale, *change.todays):
            for magic in ("%fwtime -q -n 1 -r 2 -v found", "%trace_cached -qv seen"):
                cells.run(f"{magic} {call}")
            stale = change.stale.get(call)
            found, seen = cells.names["found"].notes, cells.names["seen"].calls
            assert {each.state for each in seen} <= {"STALE" if stale else "CACHED"}, call
            told = [why.words() for each in seen for why in each.why]
            assert bool(told) == bool(stale), call
            assert all(stale in each for each in told), (call, told)
            notes = [each.text for each in found if each.code == "stale-program"]
            assert [stale in each for each in notes] == [True] * bool(stale), call
