"""Bodies of loops outside of compiled functions: JAX keeps what it traced of them."""

import pytest

from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import last_call
from tests.shell import Shell

cells = test_stale.cells
BODIES = """
k, m, calls = 2.0, 1.0, []
def body(c, _): return (calls.append(1), c * k)[1], None
def step(c): return c * k
def small(c): return c.sum() < 50
def turn(n, c): return c * k
def yes(c): return c * k
def no(c): return c - m
def join(a, b): return a * b * k
saved = jax.checkpoint(yes)
"""
SCAN = "jax.lax.scan(body, x, None, length=2)[0]"
COND = "jax.lax.cond(x[0] > 0, yes, no, x)"


@pytest.mark.parametrize(
    ("call", "stale"),
    [
        (SCAN, "body"),
        ("jax.lax.while_loop(small, step, x)", "step"),
        ("jax.lax.fori_loop(0, 3, turn, init_val=x)", "turn"),
        (COND, "yes"),
        ("jax.lax.switch(0, [yes, no], x)", "yes"),
        ("jax.lax.reduce(x, 1.0, join, (0,))", "join"),
        ("jax.lax.reduce_window(x, 1.0, join, (1,), (1,), 'VALID')", "join"),
        ("jnp.piecewise(x, [x > 0], [yes, 0.0])", "yes"),
        ("saved(x)", "yes"),
        ("(lambda y: jax.lax.scan(body, y, None, length=2)[0] + 1)(x)", "body"),
    ],
)
def test_one_that_was_traced_with_other_values_is_stale(
    cells: Shell, call: str, stale: str
) -> None:
    cells.run(BODIES)
    cells.run(call)
    cells.run("k = 1.0 + 1.0")
    cells.run(f"%%trace_cached -qv seen\n{call}")
    assert cells.names["seen"].calls == ()
    cells.run("k = 3.0")
    left = len(cells.names["calls"])
    cells.run(f"%%trace_cached -qv seen\nfor _ in range(2):\n    found = {call}")
    calls = cells.names["seen"].calls
    assert {(each.name, each.state) for each in calls} == {(stale, "STALE")}
    assert calls[0].why[0].words().endswith(f"k was changed after {stale} was traced")
    again = f"Run the cell that defines `{stale}` again, or call `jax.clear_caches()`"
    assert calls[0].fixes == (again if "saved" not in call else "Call `jax.clear_caches()`",)
    assert len(cells.names["calls"]) == left  # looking changes nothing of the user's
    cells.run(f"right = found\njax.clear_caches()\n%trace_cached -qv seen {call}")
    assert cells.names["seen"].calls == ()


def test_the_line_of_another_cell_is_told_with_that_cell(cells: Shell) -> None:
    cells.run(BODIES)
    number = cells.shell.execution_count
    cells.run(f"def outer():\n    return {SCAN}", counted=True)
    cells.run("f = jax.jit(lambda x: x)\nouter()\nk = 3.0")
    cells.run(f"%%trace_cached -v seen\nf(x)\nouter()\n{SCAN}")
    places = [(each.name, each.line, each.cell) for each in cells.names["seen"].calls]
    assert places == [("<lambda>", 2, 0), ("body", 2, number), ("body", 4, 0)]
    assert f"2 of cell {number}" in cells.shown[-1].data["text/plain"]


@pytest.mark.parametrize("change", ["jax.clear_caches()", BODIES])
def test_what_is_told_to_be_typed_helps(cells: Shell, change: str) -> None:
    cells.run(BODIES)
    cells.run(SCAN)
    cells.run(f"{change}\nk = 3.0")
    cells.run(f"%%trace_cached -qv seen\nright = bool(({SCAN} == 9).all())")
    assert cells.names["right"]
    assert cells.names["seen"].calls == ()


@pytest.mark.parametrize(("change", "is_stale"), [("k = 3.0", True), ("k = 2.0", False)])
def test_a_program_with_a_body_that_was_traced_outside_is_stale(
    cells: Shell, change: str, *, is_stale: bool
) -> None:
    cells.run(BODIES)
    cells.run(SCAN)
    cells.run(f"{change}\nf = jax.jit(lambda x: {SCAN})")
    for state in ("TRACED", "STALE" if is_stale else "CACHED"):
        seen = last_call(cells, "f(x)")
        told = [each.words() for each in seen.why if each.kind == "stale"]
        assert (seen.state, len(told)) == (state, int(is_stale))
        assert told in ([], ["it holds a part that was traced before, with other values"])
    cells.run("jax.clear_caches()")
    assert [each.kind for each in last_call(cells, "f(x)").why] == ["first"]


def test_what_cannot_be_copied_alone_is_not_judged(cells: Shell) -> None:
    cells.run(BODIES)
    cells.run("part = partial(lambda k, c, _: (c * k * m, None), 2.0)")
    call = "jax.lax.scan(part, x, None, length=2)[0]"
    cells.run(call)
    cells.run("m = 3.0")
    cells.run(f"%%trace_cached -qv seen\n{call}")
    assert cells.names["seen"].calls == ()
