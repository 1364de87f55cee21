"""Programs that were traced with other values than the names have now."""

import gc
import weakref
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from tests.shell import Shell

SCALE = """
scale = 2.0
@jax.jit
def f(x):
    return x * scale
f(x)
"""
LOSS = """
def loss(x):
    return (x ** 2).sum()
@jax.jit
def step(x):
    return jax.grad(loss)(x)
step(x)
"""
MODEL = """
from functools import partial
class Model:
    def __init__(self, w):
        self.w, self.calls = w, 0
    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x @ self.w
m = Model(jnp.ones((3, 3)))
m(x)
"""
CONFIG = """
config = {"rate": 0.1, "name": "sgd", "sizes": [3, 4]}
@jax.jit
def f(x):
    return x * config["rate"]
f(x)
"""
ITEMS = """
rates = {"a:b": 0.1}
@jax.jit
def f(x):
    for name, rate in rates.items():
        x = x * rate
    return x
f(x)
"""
CLOSED = """
def make():
    rate = 0.1
    def set_rate(value):
        nonlocal rate
        rate = value
    @jax.jit
    def f(x):
        return x * rate
    return f, set_rate
f, set_rate = make()
f(x)
"""
MODULE = """
import types, sys
settings = types.SimpleNamespace(rate=0.1, verbose=False)
@jax.jit
def f(x):
    if settings.verbose:
        print("traced")
    return x * settings.rate
f(x)
"""
ARRAY = """
w = jnp.arange(3.0)
@jax.jit
def f(x):
    return x * w
f(x)
"""
TRANSPOSED = """
w = jnp.ones((3, 2))
class Scaler:
    rate = 2.0
    @partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * self.rate
scaler = Scaler()
@jax.jit
def f(x):
    return scaler.apply(w.T @ x)
f(x)
"""
NUMPY = """
w = np.arange(3.0, dtype=np.float32)
@jax.jit
def f(x):
    return x * w
f(x)
"""
NESTED = """
scale = 2.0
@jax.jit
def inner(x):
    return x * scale
@jax.jit
def f(x):
    return inner(x) + 1
f(x)
"""
LAYERS = """
layers = [jnp.ones((3, 3)), jnp.ones((3, 3))]
@jax.jit
def f(x):
    for w in layers:
        x = x @ w
    return x
f(x)
"""
PRINTED = """
note = "first"
@jax.jit
def f(x):
    print(note)
    return x + 1
f(x)
"""
ACTIVATION = """
act = jnp.tanh
@jax.jit
def f(x):
    return act(x)
f(x)
"""
DEFAULT = """
def g(x, power=2):
    return x ** power
@jax.jit
def f(x):
    return g(x)
f(x)
"""
METHOD = """
class Scaler:
    rate = 2.0
    def apply(self, x):
        return x * self.rate
scaler = Scaler()
@jax.jit
def f(x):
    return scaler.apply(x)
f(x)
"""


class Case(NamedTuple):
    """Cells, a change, a call, and what is stale then; nothing where it is a hit like others."""

    before: str
    change: str
    stale: tuple[str, ...] = ()
    call: str = "f(x)"


CASES = (
    Case(SCALE, "scale = 3.0", ("scale was 2.0 when f was traced, is 3.0",)),
    Case(SCALE, "scale = 3.0; scale = 2.0"),
    Case(SCALE, "scale = 1.0 + 1.0"),
    Case(SCALE, "other = 3.0"),
    Case(SCALE, "scale = 3.0; f(jnp.ones(4))", ("scale was 2.0",)),
    Case(SCALE, "scale = 3.0; jax.clear_caches(); f(x)"),
    Case(SCALE, "scale = jnp.float32(2)", ("scale was 2.0 when f was traced, is f32[]",)),
    Case(SCALE, "del scale", ("scale was 2.0 when f was traced, and is gone",)),
    Case(LOSS, "def loss(x):\n    return (x ** 3).sum()",
         ("loss was redefined; step still runs the earlier one",), "step(x)"),
    Case(LOSS, "def loss(x):\n    return (x ** 2).sum()", (), "step(x)"),
    Case(LOSS, "def loss(x):\n    # the same\n    return (x ** 2).sum()", (), "step(x)"),
    Case(LOSS, "def unrelated(x):\n    return x", (), "step(x)"),
    Case(MODEL, "m.w = m.w * 2", ("self.w is another f32[3,3]",), "m(x)"),
    Case(MODEL, "m.w = m.w * 1", (), "m(x)"),
    Case(MODEL, "m.calls += 1", (), "m(x)"),
    Case(MODEL, "m = Model(jnp.zeros((3, 3))); m(x)", (), "m(x)"),
    Case(CONFIG, "config['rate'] = 0.2", ("config['rate'] was 0.1 when f was traced, is 0.2",)),
    Case(CONFIG, "config['name'] = 'adam'"),
    Case(CONFIG, "config['sizes'].append(5)"),
    Case(CONFIG, "config = dict(config)"),
    Case(CONFIG, "config = {'rate': 0.3}", ("config['rate'] was 0.1 when f was traced, is 0.3",)),
    Case(ITEMS, "rates['a:b'] = 0.2", ("rates['a:b'] was 0.1 when f was traced, is 0.2",)),
    Case(CLOSED, "set_rate(0.5)", ("rate was 0.1 when f was traced, is 0.5",)),
    Case(CLOSED, "set_rate(0.1)"),
    Case(MODULE, "settings.rate = 0.2", ("settings.rate was 0.1 when f was traced, is 0.2",)),
    Case(MODULE, "settings.verbose = True"),
    Case(ARRAY, "w = w + 1", ("w is another f32[3]",)),
    Case(ARRAY, "w = jnp.arange(3.0)"),
    Case(ARRAY, "w = jnp.ones((3,), 'int32')", ("w was f32[3] when f was traced, is i32[3]",)),
    Case(TRANSPOSED, "w = w * 2", ("w is another f32[3,2]",)),
    Case(TRANSPOSED, "w = w * 1"),
    Case(TRANSPOSED, "scaler.rate = 3.0", ("scaler.rate was 2.0",)),
    Case(NUMPY, "w[0] = 7", ("w is another f32[3]",)),
    Case(NUMPY, "w[0] = 7; w[0] = 0"),
    Case(NUMPY, "w = w.copy()"),
    Case(NESTED, "scale = 3.0", ("scale was 2.0 when f was traced, is 3.0",)),
    Case(NESTED, "scale = 2.0"),
    Case(LAYERS, "layers[1] = layers[1] * 2", ("layers[1] is another f32[3,3]",)),
    Case(LAYERS, "layers.append(jnp.ones((3, 3)))", ("layers was list of 2",)),
    Case(LAYERS, "layers = [*layers]"),
    Case(PRINTED, "note = 'second'"),
    Case(ACTIVATION, "act = jnp.sin", ("act was tanh when f was traced, is sin",)),
    Case(ACTIVATION, "act = jnp.tanh"),
    Case(DEFAULT, "def g(x, power=3):\n    return x ** power", ("power was 2",)),
    Case(METHOD, "scaler.rate = 3.0", ("scaler.rate was 2.0",)),
    Case(METHOD, "scaler = Scaler()"),
)  # fmt: skip


@pytest.fixture
def cells(shell: Shell) -> Shell:
    """A session in which JAX is used, with the extension loaded."""
    shell.run("pass")  # after a cell in which JAX is there, its traces are seen
    shell.names |= {"jax": jax, "jnp": jnp, "np": np, "x": jnp.ones(3), "partial": partial}
    return shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.change}")
def test_what_is_stale_is_named_and_nothing_else(cells: Shell, case: Case) -> None:
    cells.run(case.before)
    cells.run(case.change)
    call = last_call(cells, case.call)
    assert call.state == ("STALE" if case.stale else "CACHED")
    told = [change.words() for change in call.why]
    assert all(any(words in each for each in told) for words in case.stale), told


def test_a_report_leads_with_it_and_says_what_to_type(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    cells.run("%%trace_cached\nf(x)")
    text = cells.shown[-1].data["text/plain"]
    assert "STALE" in text
    assert "scale was 2.0 when f was traced, is 3.0" in text
    assert "Pass `scale` to `f` as an argument" in text


def test_a_timing_says_so(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    cells.run("%fwtime -q -n 1 -r 3 -v found f(x)")
    (note,) = [note for note in cells.names["found"].notes if note.code == "stale-program"]
    assert note.text == ("f runs a stale program: scale was 2.0 when f was traced, is 3.0.")


def test_the_cell_that_changes_a_name_is_told_once(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(SCALE)
    cells.run("scale = 3.0")
    assert cells.shown[-1].data["text/plain"] == (
        "stale: f (scale was 2.0 when f was traced, is 3.0)"
    )
    cells.run("f(x)")
    assert cells.shown == []
    cells.run("%trace_cached --watch off")


@pytest.mark.parametrize(
    ("before", "cell", "states"),
    [
        (SCALE, "f(x)\nscale = 5.0\nf(x)", "CACHED STALE"),
        (SCALE, "for scale in (2.0, 3.0, 4.0, 2.0): f(x)", "CACHED STALE STALE CACHED"),
        (SCALE, "f(x)\nf(jnp.ones(4))\nscale = 5.0\nfor n in (3, 4, 3): f(jnp.ones(n))",
         "CACHED TRACED STALE STALE STALE"),
        (SCALE, "scale = 5.0\nfor n in (4, 3, 4): f(jnp.ones(n))", "TRACED STALE CACHED"),
        (CONFIG, "for r in (0.1, 0.2, 0.1): config['rate'] = r; f(x)", "CACHED STALE CACHED"),
        (CLOSED, "for r in (0.1, 0.2, 0.1): set_rate(r); f(x)", "CACHED STALE CACHED"),
        (MODULE, "for r in (0.1, 0.2, 0.1): settings.rate = r; f(x)", "CACHED STALE CACHED"),
        (NUMPY, "for n in (0, 7, 0): w[0] = n; f(x)", "CACHED STALE CACHED"),
        (METHOD, "for r in (2.0, 3.0, 2.0): scaler.rate = r; f(x)", "CACHED STALE CACHED"),
        (METHOD, "for r in (2.0, 3.0, 2.0): Scaler.rate = r; f(x)", "CACHED STALE CACHED"),
        (MODEL, "for n in (1, 2, 1): m.w = jnp.full((3, 3), n * 1.0); m(x)", "CACHED STALE CACHED"),
        (LAYERS, "for w in layers * 2: layers.append(w); f(x); layers.pop(); f(x)",
         "STALE CACHED " * 4),
        (PRINTED, "for n in range(60): note = str(n); f(x)", "CACHED " * 60),
    ],
    ids=lambda value: value.splitlines()[0][:40] if "f(x)" in value or "m(x)" in value else "",
)  # fmt: skip
def test_a_change_within_a_cell_is_seen(cells: Shell, before: str, cell: str, states: str) -> None:
    cells.run(before)
    cells.run(f"%%trace_cached -qv seen\n{cell}")
    calls = cells.names["seen"].calls
    assert [each.state for each in calls for _ in range(each.times)] == states.split()


def test_a_function_is_named_with_the_cells_of_both(cells: Shell) -> None:
    numbers = []
    for cell in (LOSS, "def loss(x):\n    return (x ** 3).sum()"):
        numbers.append(cells.shell.execution_count)
        cells.run(cell, counted=True)
    (change,) = last_call(cells, "step(x)").why
    assert (
        change.words()
        == "loss was redefined in cell {1}; step still runs the one of cell {0}".format(*numbers)
    )


@pytest.mark.parametrize("before", [SCALE, NESTED])
def test_a_program_is_todays_and_says_that_another_one_is_cached(cells: Shell, before: str) -> None:
    cells.run(before)
    for value in (3.0, 4.0):
        cells.run(f"scale = {value}")
        cells.run("%jaxpr -qv shown f(x)")
        shown = cells.names["shown"]
        (note,) = [each for each in shown.notes if each.code == "cached-is-stale"]
        assert note.text == (
            "This is the code of now. Calls of f run another program, which was compiled earlier:"
            f" scale was 2.0 when f was traced, is {value}."
        )
        assert (f"{value}" in shown.program, "2.0" in shown.program) == (True, False)
        assert str(value) in shown.text("stablehlo")
        assert last_call(cells, "f(x)").state == "STALE"  # it is not taken for a trace of the call
    cells.run("scale = 2.0")
    cells.run("%jaxpr -qv shown f(x)")
    assert cells.names["shown"].notes == ()


def test_a_comparison_leads_with_it_and_names_the_arm(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    cells.run("%%fwcompare -n 1 -r 3 -v both\nnew: x * scale\nold: f(x)")
    first, *others = (each for each in cells.names["both"].all_notes() if each.mark == "!")
    assert first.text == "old: f runs a stale program: scale was 2.0 when f was traced, is 3.0."
    assert [note.code for note in others] == ["other-result"]
    text = cells.shown[-1].data["text/plain"]
    assert text.index(f"!  {first.text}") < text.index("!  The result of old differs")


GUARDED = "guarded = ipyjaxbench.assert_max_traces(f, 1, stale='error')"
BLOCK = "with ipyjaxbench.trace_cached(1, stale='error'): {}"
SAYS = (
    "`f` runs a stale program: scale was 2.0 when f was traced, is 3.0. Pass `scale` to `f` as an"
    " argument, or run the cell that defines `f` again"
)


@pytest.mark.parametrize(
    "call",
    [f"{GUARDED}; guarded(x)", BLOCK.format("f(x)"),
     f"def run(): return f(x)\n{BLOCK.format('run()')}"],
)  # fmt: skip
def test_programs_and_tests_can_refuse_it(cells: Shell, call: str) -> None:
    cells.names["ipyjaxbench"] = ipyjaxbench
    cells.run(SCALE)
    cells.run(call)
    cells.run("scale = 3.0")
    with pytest.raises(ipyjaxbench.StaleProgramError) as raised:
        cells.run(call)
    assert str(raised.value) == SAYS
    cells.run(call.replace("'error'", "'ignore'"))
    cells.run("scale = 2.0")
    cells.run(call)


def test_looking_keeps_nothing_that_a_cell_drops(cells: Shell) -> None:
    cells.run("class Note: pass\nnote = Note()")
    cells.run(PRINTED.replace('note = "first"', ""))
    kept = weakref.ref(cells.names["note"])
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("del note")
    gc.collect()
    assert kept() is None


def test_looking_traces_and_keeps_nothing_of_the_users(cells: Shell) -> None:
    cells.run("calls = []")
    cells.run(SCALE.replace("    return", "    calls.append(1)\n    return"))
    cells.run("scale = 3.0")
    before = len(cells.names["calls"])
    assert last_call(cells, "f(x)").state == "STALE"
    assert len(cells.names["calls"]) == before
    assert last_call(cells, "f(x)").state == "STALE"  # and the cached program is still there
