"""A look at a program leaves functions with rules of their own, and other callables, unchanged."""

import pytest

from tests.adapters.jax import test_stale
from tests.shell import Shell

cells = test_stale.cells
CLOSED = """
def make():
    calls = []
    @jax.custom_vjp
    def c(x):
        calls.append("fun"); return x * k
    def forward(x):
        calls.append("fwd"); return x * k, None
    def backward(_, g):
        calls.append("bwd"); return (g * k,)
    c.defvjp(forward, backward)
    return c, calls
c, calls = make()
"""
COUNTED = """
@{}
def c(x):
    c.calls = getattr(c, "calls", 0) + 1
    return x * k
{}
"""
LATE = """
c = jax.custom_jvp(lambda x: x * k)
class Lazy:
    def __call__(self, x):
        if c.jvp is None: c.defjvp(lambda p, t: (p[0] * k, t[0] * k))
        return c(x)
"""
OF_JVP = "@c.defjvp\ndef rule(p, t): return c(p[0]), t[0] * k"
OF_VJP = "c.defvjp(lambda x: (c(x), None), lambda _, g: (g * k,))"
PARTIAL = """
def scaled(a, x):
    c.calls = getattr(c, "calls", 0) + 1
    return x * a * k
c = partial(scaled, 2.0)
"""


@pytest.mark.parametrize(
    ("before", "call", "state"),
    [
        (CLOSED, "c(y)", "calls"),
        (COUNTED.format("jax.custom_vjp", OF_VJP), "c(y)", "getattr(c, 'calls', 0)"),
        (COUNTED.format("jax.custom_jvp", OF_JVP), "c(y)", "getattr(c, 'calls', 0)"),
        (COUNTED.format("jax.jit", ""), "c(y)", "getattr(c, 'calls', 0)"),
        (PARTIAL, "c(y)", "getattr(c, 'calls', 0)"),
        (LATE, "Lazy()(y)", "c.jvp"),
    ],
)
def test_what_they_keep_is_put_back(cells: Shell, before: str, call: str, state: str) -> None:
    cells.run(f"k = 2.0\n{before}")
    cells.run(f"f = jax.jit(lambda x: jax.grad(lambda y: {call}.sum())(x))")
    cells.run(f"import copy\nfirst = copy.copy({state})")
    for look in ("%jaxpr -q f(x)", f"%jaxpr -q jax.grad(lambda y: {call}.sum())(x)"):
        cells.run(look)
        assert cells.run(f"{state} == first")
    cells.run("jax.clear_caches(); f(x)")
    cells.run(f"first, k = copy.copy({state}), 3.0")
    cells.run("%%trace_cached -qv seen\nf(x)")
    assert cells.names["seen"].calls[-1].state == "STALE"
    assert cells.run(f"{state} == first")
