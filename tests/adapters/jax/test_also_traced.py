"""What is traced and not called is told as that, and nothing untrue of the calls after it."""

import jax
import pytest

from ipyjaxbench.retracing import TRACE_LOG
from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import last_call
from tests.shell import Shell

cells = test_stale.cells
pytestmark = pytest.mark.skipif(
    jax.__version_info__ < (0, 10), reason="this version does not log all traces"
)
FUNCTIONS = """
def f(x): return jnp.sin(x) * 2
def body(c, _): return f(c), None
g, y = jax.jit(f), jnp.ones(4)
"""
INSPECTED = "first call; already traced, as within another function or by %jaxpr"
FOUND = INSPECTED.replace("call;", "call with this signature;")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("jax.make_jaxpr(f)(x)", "f"),
        ("jax.make_jaxpr(g)(x)", "f"),
        ("jax.checkpoint(f)(x)", "f"),
        ("g.lower(x)", "f"),
        ("g.trace(x)", "f"),
        ("g.eval_shape(x)", "f"),
        ("jax.eval_shape(g, x)", "f"),
        ("jax.lax.scan(body, x, None, length=2)", "body"),
    ],
)
def test_what_was_traced_is_named_once_and_is_no_call(cells: Shell, code: str, name: str) -> None:
    cells.run(FUNCTIONS)
    for traced in ((name,), ()):
        cells.run(f"%%trace_cached -v seen\n{code}")
        seen = cells.names["seen"]
        assert (seen.calls, seen.also_traced) == ((), traced)
        rest = cells.shown[-1].data["text/plain"].split("no compiled function was called")[1]
        assert (f"{name}, and not called" in rest, "TRACED" in rest) == (bool(traced),) * 2
    if name == "f" and "g" in code:
        first = last_call(cells, "g(x)")
        assert (first.state, [each.words() for each in first.why]) == ("COMPILED", [INSPECTED])


@pytest.mark.parametrize("code", ["g.lower(y)", "g.trace(y)", "jax.make_jaxpr(g)(y)"])
def test_a_call_after_it_is_not_held_against_others(cells: Shell, code: str) -> None:
    cells.run(FUNCTIONS)
    for before in ("jax.checkpoint(g)(x)", code):
        cells.run(f"%%trace_cached -q\n{before}")
    first = last_call(cells, "g(y)")
    assert (first.state, [each.words() for each in first.why]) == ("COMPILED", [FOUND])
    cells.run(f"%%trace_cached -q\n{code.replace('y', 'jnp.ones(5)')}")
    first = last_call(cells, "g(jnp.ones(5))")
    assert (first.state, [each.words() for each in first.why]) == ("COMPILED", [FOUND])


def test_what_is_compiled_ahead_of_time_is_compiled(cells: Shell) -> None:
    TRACE_LOG.clear()
    cells.run(FUNCTIONS)
    cells.run("%%trace_cached -v seen\nc = g.lower(x).compile()")
    seen = cells.names["seen"]
    (call,) = seen.calls
    assert (call.name, call.state, seen.also_traced) == ("f", "COMPILED", ("f",))
    assert [each.words() for each in call.why] == ["compiled ahead of time by .compile()"]
    text = cells.shown[-1].data["text/plain"]
    assert "was compiling" in text
    assert text.splitlines()[1].endswith("COMPILED")
    assert last_call(cells, "g.lower(x).compile()").state == "CACHED"
    assert ("jax", "f") not in TRACE_LOG.functions()


def test_a_stale_trace_that_is_lowered_is_named(cells: Shell) -> None:
    cells.run("k = 2.0\n@jax.jit\ndef f(x): return x * k\nf(x)")
    cells.run("k = 3.0")
    cells.run("%%trace_cached -qv seen\nc = f.lower(x).compile()")
    stale = cells.names["seen"].calls[0]
    told = ["k was 2.0 when f was traced, is 3.0"]
    assert (stale.state, [each.words() for each in stale.why]) == ("STALE", told)


@pytest.mark.parametrize(
    ("code", "states"), [("f(x)", ["RAISED"]), ("jax.make_jaxpr(f)(x)", []), ("f.lower(x)", [])]
)
def test_what_an_error_ends_or_looks_into_is_not_told(
    cells: Shell, code: str, states: list[str]
) -> None:
    cells.run("@jax.jit\ndef f(x): return x if x.sum() > 0 else -x")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        cells.run(f"%%trace_cached -qv seen\n{code}")
    seen = cells.names["seen"]
    assert ([each.state for each in seen.calls], seen.also_traced) == (states, ())


@pytest.mark.parametrize(
    "before",
    ["%trace_cached -q --predict g(x)", "failed = True\ntry: g(x)\nexcept ValueError: pass"],
)
def test_nothing_is_called_cached_where_jax_logs_no_trace(cells: Shell, before: str) -> None:
    cells.run("failed = False\n@jax.jit\ndef g(x):\n    if failed: raise ValueError\n    return x")
    cells.run(before)
    cells.run("failed = False")
    cells.run("%%trace_cached -qv seen\njax.make_jaxpr(g)(x)")
    assert cells.names["seen"].calls == ()
