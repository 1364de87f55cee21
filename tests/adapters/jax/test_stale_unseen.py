"""Programs whose trace nobody saw: they are held against those that the code gives today."""

import pytest

from ipyjaxbench.adapters.jax.retracing import programs
from ipyjaxbench.retracing import TRACE_LOG
from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import (
    LOSS,
    MODEL,
    NESTED,
    NUMPY,
    PRINTED,
    SCALE,
    jitted,
    last_call,
)
from tests.shell import Shell

cells = test_stale.cells
TWO = jitted("scale, rate = 2.0, 3.0", "x * scale + rate")
RANDOM = jitted("import random\nscale = 2.0", "x * scale * random.random()")
DRAWN = jitted("rng, scale = np.random.default_rng(0), 2.0", "x * scale * rng.random()")
CALLBACK = jitted(
    "scale = 2.0", "x * scale + jax.pure_callback(lambda: np.float32(1), jnp.float32(1))"
)
CHANGED = "scale was changed after f was traced"
NOT_SEEN = "whether f runs today's {}: its trace was not seen. Run the cell that defines f again"


@pytest.mark.parametrize(("before", "call", "steps"), [
    (SCALE, "f(x)", (
        ("scale = 1.0 + 1.0", ""), ("scale = 3.0", CHANGED), ("f(jnp.ones(4))", CHANGED),
    )),
    (f"{SCALE}\nf(x[:2])", "f(x[:2])", (("scale = 3.0", CHANGED),)),
    (SCALE, "f(jnp.ones(4))", (("scale = 3.0; f(jnp.ones(4))", ""),)),
    (CALLBACK, "f(x)", (("scale = 2.0", ""), ("scale = 3.0", CHANGED))),
    (PRINTED, "f(x)", (("note = 'second'", ""),)),
    (TWO, "f(x)", (("rate = 4.0", "scale or rate was changed after f was traced"),)),
    (LOSS, "f(x)", (
        ("def loss(x):\n    # the same\n    return (x ** 2).sum()", ""),
        ("def loss(x):\n    return (x ** 3).sum()", "loss was changed"),
    )),
    (MODEL, "m(x)", (
        ("m.calls = 7", ""), ("m.w = m.w * 2", "self was changed after __call__ was traced"),
    )),
])  # fmt: skip
def test_what_is_stale_is_told_though_nobody_knows_what_it_read(
    cells: Shell, before: str, call: str, steps: tuple[tuple[str, str], ...]
) -> None:
    cells.run(before)
    for change, told in steps:
        TRACE_LOG.clear()
        cells.run(change)
        seen = last_call(cells, call)
        assert (seen.state, seen.unknown) == ("STALE" if told else "CACHED", ""), change
        assert told in "".join(each.words() for each in seen.why)
    if before == TWO:
        assert seen.fixes[0].startswith("Pass `scale`, `rate` to `f` as an argument")


def test_a_change_within_a_cell_is_seen(cells: Shell) -> None:
    cells.run(SCALE)
    TRACE_LOG.clear()
    cells.run("%%trace_cached -qv seen\nfor scale in (2.0, 3.0, 4.0, 2.0): f(x)")
    states = [each.state for each in cells.names["seen"].calls for _ in range(each.times)]
    assert states == ["CACHED", "STALE", "STALE", "CACHED"]


@pytest.mark.parametrize("before", ["pass", f"{NESTED}\ninner(x)"])  # another one like it
def test_a_function_that_was_traced_within_another_one_is_stale_when_it_is_compiled(
    cells: Shell, before: str
) -> None:
    cells.run(before)
    cells.run(NESTED)
    cells.run("scale = 3.0")
    first = last_call(cells, "inner(x)")
    assert first.state == "COMPILED"
    assert "scale was changed after inner was traced" in [each.words() for each in first.why]
    assert last_call(cells, "inner(x)").state == "STALE"
    cells.run("scale = 2.0")
    assert last_call(cells, "inner(x)").state == "CACHED"


INNER = "scale = 2.0\n@jax.jit\ndef inner(x):\n    return x * scale\n"
OUTER = "@jax.jit\ndef outer(x):\n    return inner(x) + 1"


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize(
    ("change", "is_stale"),
    [("scale = 3.0", True), ("scale = 2.0", False), ("scale = 3.0; jax.clear_caches()", False)],
)
def test_what_is_traced_with_a_stale_program_in_it_is_stale(
    cells: Shell, change: str, *, forgotten: bool, is_stale: bool
) -> None:
    cells.run(f"{INNER}inner(x)")
    if forgotten:
        TRACE_LOG.clear()
    cells.run(f"{change}\n{OUTER}")
    for state in ("TRACED", "STALE" if is_stale else "CACHED"):
        seen = last_call(cells, "outer(x)")
        told = [each.words() for each in seen.why if each.kind == "stale"]
        assert (seen.state, len(told)) == (state, int(is_stale))
        assert all("inner in it was stale by then: scale was" in each for each in told)


@pytest.mark.parametrize(
    ("part", "call"),
    [
        ("def body(c, _): return c * scale, None", "jax.lax.scan(body, x, None, length=2)[0]"),
        ("body = jax.checkpoint(lambda x: x * scale)", "body(x)"),
        ("def body(n, c): return c * scale", "jax.lax.fori_loop(0, 3, body, x)"),
    ],
)
def test_what_jax_keeps_of_a_part_and_finds_again_in_another_function_is_stale(
    cells: Shell, part: str, call: str
) -> None:
    cells.run(jitted(f"scale = 2.0\n{part}", call))
    for change, is_stale in (("scale = 2.0", False), ("scale = 3.0", True)):
        cells.run(f"{change}\n@jax.jit\ndef g(x):\n    return {call} + 1")
        for state in ("TRACED", "STALE" if is_stale else "CACHED"):
            seen = last_call(cells, "g(x)")
            told = [each.words() for each in seen.why if each.kind == "stale"]
            assert (seen.state, len(told)) == (state, int(is_stale))
            assert all("a part that was traced before: scale was 2.0" in each for each in told)
    cells.run(part)
    cells.run(f"@jax.jit\ndef g(x):\n    return {call} + 1\ng(x)")
    assert last_call(cells, "g(x)").state == "CACHED"


@pytest.mark.parametrize("seen", [False, True])
def test_what_is_traced_anew_within_another_one_is_todays(cells: Shell, *, seen: bool) -> None:
    cells.run(NESTED)
    if seen:
        cells.run("jax.clear_caches()\ninner(x)")
    cells.run("scale = 3.0")
    told = [each.kind for each in last_call(cells, "inner(x)").why]
    assert "stale" in told
    cells.run("jax.clear_caches()\nf(x)")
    for _ in range(2):
        assert "stale" not in [each.kind for each in last_call(cells, "inner(x)").why]
    cells.run("scale = 4.0")
    assert last_call(cells, "inner(x)").state == "STALE"


@pytest.mark.parametrize("before", [RANDOM, DRAWN, NUMPY, SCALE])
def test_where_programs_do_not_tell_it_is_unknown_and_said_once(
    cells: Shell, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code gives another program each time, an array can change in place, or it is large."""
    if before == SCALE:
        monkeypatch.setattr(programs, "_MOST_EQUATIONS", 0)
    cells.run(before)
    TRACE_LOG.clear()
    cells.run("%%trace_cached -v seen\nf(x)\nprint()\nf(x)")
    told = NOT_SEEN.format({NUMPY: "w", DRAWN: "scale, rng"}.get(before, "scale"))
    assert [call.unknown for call in cells.names["seen"].calls] == [told, told]
    assert " ".join(cells.shown[-1].data["text/plain"].split()).count(told) == 1
    cells.run(before)
    assert not last_call(cells, "f(x)").unknown


GRAD = f"{SCALE}\njax.clear_caches()\njax.grad(lambda x: f(x).sum())(x)"


@pytest.mark.parametrize("before", [SCALE, GRAD, MODEL])
def test_it_is_told_where_arguments_are_not_known(cells: Shell, before: str) -> None:
    cells.run(before)
    TRACE_LOG.clear()
    call = "m(x + 0)" if before == MODEL else "f(x + 0)"
    for change, told in (("pass", 0), ("scale = 3.0; m and vars(m).update(w=m.w * 2)", 1)):
        cells.run(f"m = globals().get('m')\n{change}")
        cells.run(f"%fwtime -q -n 1 -r 3 -v found {call}")
        codes = [note.code for note in cells.names["found"].notes]
        assert codes.count("stale-program") == told
    cells.run(f"jax.clear_caches()\n{call}")
    cells.run(f"%fwtime -q -n 1 -r 3 -v found {call}")
    assert "stale-program" not in [note.code for note in cells.names["found"].notes]


def test_one_program_that_is_todays_is_enough_for_no_note(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    TRACE_LOG.clear()
    cells.run("f(jnp.ones(4))")
    cells.run("%fwtime -q -n 1 -r 3 -v found f(jnp.ones(4) + 0)")
    assert "stale-program" not in [note.code for note in cells.names["found"].notes]


UFUNC = "scale = 2.0\ndef f(a, b):\n    return a + scale * b\nf = jnp.frompyfunc(f, 2, 1)\nf(x, x)"
METHOD = (
    "scale = 2.0\nclass T:\n    @partial(jax.jit, static_argnums=0)\n"
    "    def f(self, a): return a * scale\nt = T()\nt.f(x)"
)


@pytest.mark.parametrize(("before", "name"), [(GRAD, "f"), (UFUNC, "f"), (METHOD, "t.f")])
def test_the_cell_that_changes_a_name_is_told(cells: Shell, before: str, name: str) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(before)
    TRACE_LOG.clear()
    cells.run("scale = 3.0")
    assert cells.shown[-1].data["text/plain"] == f"stale: {name} ({CHANGED})"
    cells.run("%trace_cached --watch off")


def test_the_code_of_now_is_shown_of_it(cells: Shell) -> None:
    cells.run(SCALE)
    TRACE_LOG.clear()
    cells.run("scale = 3.0\n%jaxpr -qv shown f(x)")
    shown = cells.names["shown"]
    assert CHANGED in "".join(each.text for each in shown.notes if each.code == "cached-is-stale")
    assert "mul a 3.0" in shown.program
    cells.run("%jaxpr -qv shown f(jnp.ones(4))")
    assert "cached-is-stale" not in [each.code for each in cells.names["shown"].notes]


def test_to_find_that_out_changes_nothing_of_the_users(cells: Shell) -> None:
    cells.run(jitted("calls, scale = [], 2.0", "(calls.append(1), x * scale)[1]"))
    TRACE_LOG.clear()
    cells.run("scale = 3.0")
    assert last_call(cells, "f(x)").state == "STALE"
    cells.run("y = f(x)")
    assert (cells.names["calls"], cells.names["y"].tolist()) == ([1], [2.0, 2.0, 2.0])
