"""What is told of stale programs, and that a look at them leaves all as it was."""

import gc
import sys
import weakref
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from tests.adapters.jax.test_stale import NESTED, PRINTED, SCALE, jitted, last_call
from tests.adapters.side_effects import SIDE_EFFECTS, SideEffect
from tests.shell import Shell
from tests.traced import logged_by_looks


@pytest.fixture
def cells(shell: Shell) -> Shell:
    """A session in which JAX is used, with the extension loaded."""
    shell.run("pass")  # after a cell in which JAX is there, its traces are seen
    shell.names |= {"jax": jax, "jnp": jnp, "np": np, "x": jnp.ones(3), "partial": partial}
    return shell


def test_reports_and_timings_lead_with_it_and_say_what_to_type(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    cells.run("%%trace_cached\nf(x)")
    text = cells.shown[-1].data["text/plain"]
    assert "STALE" in text
    assert "scale was 2.0 when f was traced, is 3.0" in text
    assert "Pass `scale` to `f` as an argument" in text
    cells.run("%fwtime -q -n 1 -r 3 -v found f(x)")
    (note,) = [note for note in cells.names["found"].notes if note.code == "stale-program"]
    assert note.text == ("f runs a stale program: scale was 2.0 when f was traced, is 3.0.")


METHODS = """
from functools import partial
scale = 2.0
class Trainer:
    @partial(jax.jit, static_argnums=0)
    def step(self, x): return x * scale
    @partial(jax.jit, static_argnums=0)
    def evaluate(self, x): return x + scale
    def fit(self, x): return self.step(x)
class Special(Trainer):
    pass
t = Special()
t.fit(x), t.evaluate(x)
"""


def test_a_jitted_method_is_told_where_the_timed_one_calls_it(cells: Shell) -> None:
    cells.run(METHODS)
    cells.run("scale = 3.0")
    cells.run("%fwtime -q -n 1 -r 3 -v found t.fit(x)")
    told = [note.text for note in cells.names["found"].notes if note.code == "stale-program"]
    assert told == ["step runs a stale program: scale was 2.0 when step was traced, is 3.0."]


def test_the_cell_that_changes_a_name_is_told_once(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(SCALE)
    cells.run("scale = 3.0")
    assert cells.shown[-1].data["text/plain"] == (
        "stale: f (scale was 2.0 when f was traced, is 3.0)"
    )
    cells.run("f(x)")
    assert cells.shown == []
    cells.run("scale = 2.0")
    assert cells.shown == []
    cells.run("scale = 3.0")
    assert len(cells.shown) == 1
    cells.run("%trace_cached --watch off")


@pytest.mark.parametrize("before", [SCALE, NESTED])
def test_what_our_own_looks_trace_is_no_trace_of_the_session(cells: Shell, before: str) -> None:
    cells.run(before)
    cells.run("scale = 5.0")
    assert logged_by_looks(cells, "f(x)") == []
    cells.run("%trace_cached --watch on")
    assert cells.shown[-1].data["text/plain"] == (
        "stale: f (scale was 2.0 when f was traced, is 5.0)"
    )
    cells.run("%fwtime -q -n 1 -r 2 --fresh f(x)")
    assert cells.shown == []
    cells.run("scale = 6.0")
    assert cells.shown[-1].data["text/plain"] == (
        "stale: f (scale was 2.0 when f was traced, is 6.0)"
    )
    cells.run("%trace_cached --watch off")


def test_the_first_call_of_a_timing_is_the_sessions(cells: Shell) -> None:
    cells.run(SCALE.rpartition("f(x)")[0])
    cells.run("%fwtime -q -n 1 -r 2 --fresh f(x)")
    cells.run("scale = 3.0\n%trace_cached -qv seen f(x)")
    (call,) = cells.names["seen"].calls
    assert [each.words() for each in call.why] == ["scale was 2.0 when f was traced, is 3.0"]


def test_where_what_is_read_changes_in_very_many_calls_not_all_are_known(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("%%trace_cached -qv seen\nfor scale in map(float, range(3, 99)): f(x)")
    (call,) = cells.names["seen"].calls
    assert (call.state, call.times) == ("STALE", 96)
    assert call.unknown == (
        "what f reads changes in very many calls:"
        " some of them were taken for what the call before was"
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


@pytest.mark.parametrize(
    ("before", "change", "says"),
    [
        (SCALE, "scale = 3.0", "may be stale: scale was 2.0 when f was traced, is 3.0"),
        (SCALE, "scale = 3.0\n%trace_cached -q f(x)",
         "stale program: scale was 2.0 when f was traced, is 3.0"),
        (SCALE, "scale = 2.0", ""),
        (PRINTED, "note = 'second'",
         "may be stale: note was 'first' when f was traced, is 'second'"),
        (PRINTED, "note = 'second'\n%trace_cached -q f(x)", ""),
    ],
)  # fmt: skip
def test_a_prediction_says_what_changed_and_traces_nothing(
    cells: Shell, before: str, change: str, says: str
) -> None:
    cells.run(before)
    cells.run(change)
    cells.run("%trace_cached --predict -v seen f(x)")
    (call,) = cells.names["seen"].calls
    assert (call.state, call.says) == ("WOULD-HIT", says)
    assert "second" not in cells.text  # which it prints where it is traced
    text = " ".join(cells.shown[-1].data["text/plain"].split())
    assert says in text
    assert ("Pass `scale` to `f`" in text) == ("scale" in says)
    verdict = {"": "CACHED", "may": "?", "stale": "STALE"}[says.partition(" ")[0]]
    assert cells.shown[-1].data["text/plain"].splitlines()[1].endswith(verdict)


def test_a_prediction_after_caches_were_cleared_blames_that(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("jax.clear_caches()\ny = jnp.ones(4)")
    cells.run("%trace_cached --predict -v seen f(y)")
    (call,) = cells.names["seen"].calls
    assert call.state == "WOULD-TRACE"
    assert [change.words() for change in call.why] == ["first call since caches were cleared"]


def test_a_comparison_leads_with_it_and_names_the_arm(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    cells.run("%%fwcompare -n 1 -r 3 -v both\nnew: x * scale\nold: f(x)")
    first, *others = (each for each in cells.names["both"].all_notes() if each.mark == "!")
    assert first.text == "old: f runs a stale program: scale was 2.0 when f was traced, is 3.0."
    assert [note.code for note in others] == ["other-result"]
    text = cells.shown[-1].data["text/plain"]
    assert text.index(f"!  {first.text}") < text.index("!  The result of old differs")


def test_of_a_function_of_a_module_the_cache_is_to_be_cleared(
    cells: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To reload the module would set its values back."""
    (tmp_path / "fw_scaled.py").write_text(SCALED)
    monkeypatch.syspath_prepend(tmp_path)
    cells.run("import fw_scaled as m\nm.f(x)")
    cells.run("m.scale = 3.0")
    assert last_call(cells, "m.f(x)").fixes == (
        "Pass `scale` to `f` as an argument, or call `clear_cache()` on the jitted `f`",
    )
    cells.run("m.f.clear_cache()\nright = bool((m.f(x) == 3.0).all())")
    assert cells.names["right"]
    assert last_call(cells, "m.f(x)").state == "CACHED"
    del sys.modules["fw_scaled"]


SCALED = "import jax\nscale = 2.0\n@jax.jit\ndef f(x):\n    return x * scale\n"
GUARDED = "guarded = ipyjaxbench.assert_max_traces(f, 1, stale='error')"
BLOCK = "with ipyjaxbench.trace_cached(1, stale='error'): {}"
SAYS = (
    "`f` runs a stale program: scale was 2.0 when f was traced, is 3.0. Pass `scale` to `f` as an"
    " argument, or run the cell that defines `f` again"
)


@pytest.mark.parametrize(
    "call",
    [f"{GUARDED}; guarded(x)", f"def run(): return f(x)\n{BLOCK.format('run()')}"],
)
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
    cells.run(PRINTED.replace("note = 'first'", ""))
    kept = weakref.ref(cells.names["note"])
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("del note")
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("effect", SIDE_EFFECTS, ids=lambda it: f"{it.before[-20:]} {it.does}")
def test_looking_does_nothing_again(cells: Shell, effect: SideEffect, tmp_path: Path) -> None:
    cells.names["path"] = str(tmp_path / "file")
    cells.run(effect.before)
    cells.run(jitted("scale = 2.0", f"(x * scale, {effect.does})[0]"))
    cells.run("scale = 3.0")
    call = last_call(cells, "f(x)")
    assert cells.text == ""
    assert call.state == "STALE"
    assert [change.path for change in call.why] == ["scale"]
    cells.run(f"left = {effect.left}")
    cells.run(
        "import io\nfor it in [*globals().values()]: isinstance(it, io.IOBase) and it.close()"
    )
    assert cells.names["left"] == effect.value


def test_a_look_aside_is_no_reason_for_a_later_trace(cells: Shell) -> None:
    state = "from typing import NamedTuple\nclass State(NamedTuple):\n    w: jax.Array\n"
    cells.run(state)
    cells.run("scale = 2.0\n@jax.jit\ndef f(s):\n    return s.w * scale\nf(State(x))")
    cells.run("scale = 3.0")
    assert last_call(cells, "f(State(x))").state == "STALE"
    cells.run(state)
    call = last_call(cells, "f(State(x))")
    assert call.state == "TRACED"
    (why,) = call.why
    assert why.words().startswith("reason unknown (JAX names a trace that looking")


class Advised(NamedTuple):
    """Cells that are run, a change, what is told to be typed, and cells that do so.

    After these the call is traced, and gives the value of today.
    """

    before: str
    change: str
    told: str
    typed: tuple[str, ...]
    call: str = "f(x)"
    value: str = "3.0"


STATIC = "@partial(jax.jit, static_argnums=0)"
SHIFT = "def shift(x): return x + 2"
CLASS = f"class M:\n    {STATIC}\n    def step(self, x): return shift(x)"
APART = "def g(x): return shift(x)\n# ---\nf = jax.jit(g)"
PARTIAL = "def g(opts, x): return shift(x) + opts['a']\n# ---\nopts = {'a': 0.0}\n# ---\n"
OPTIMIZER = """
import optax
opt = optax.sgd(-1.0)
# ---
@jax.jit
def f(x): return opt.update(x, opt.init(x))[0]
"""
KEY = jitted("key = jax.random.key(0)", "x * 0 + jax.random.randint(key, (), 0, 99)")
MODE = "mode = 'two'\n# ---\n{}\ndef f(x, n=0):\n    return x + (2 if mode == 'one' else 0)"
SIZED = "def f(x{}): return jnp.zeros(n).sum() + x + n"
MAKE = "def make():\n    @jax.jit\n    def inner(x): return shift(x)\n    return inner\n# ---\n"
AGAIN = "Run the cell that defines"
ADVISED = (
    Advised(CLASS + "\n# ---\nm = M()", SHIFT,
            f"{AGAIN} `M` again, then make its object anew, for today's `shift`",
            (CLASS, "m = M()"), "m.step(x)"),
    Advised(CLASS + "\n# ---\nm = M()\nf = jax.jit(m.step.__wrapped__.__get__(m))", SHIFT,
            f"{AGAIN} `M` again, then make its object anew and `jax.jit` its method again, for"
            " today's `shift`", (CLASS, "m = M()", "f = jax.jit(m.step.__wrapped__.__get__(m))")),
    Advised(APART, SHIFT,
            f"{AGAIN} `g` again, then call `jax.jit` on it again, for today's `shift`",
            ("def g(x): return shift(x)", "f = jax.jit(g)")),
    Advised(f"{PARTIAL}f = jax.jit(partial(g, opts))", SHIFT,
            "Call `jax.jit` on a new partial of `g`, for today's `shift`",
            ("f = jax.jit(partial(g, opts))",)),
    Advised(f"{PARTIAL}f = jax.jit(partial(g, opts))", "opts['a'] = 2.0",
            "Pass `opts['a']` to `g` as an argument, or call `jax.jit` on a new partial of `g`",
            ("f = jax.jit(partial(g, opts))",)),
    Advised(f"@jax.jit\n{PARTIAL}f = partial(g, opts)", SHIFT,
            f"{AGAIN} `g` again, then make the partial of it anew, for today's `shift`",
            ("@jax.jit\ndef g(opts, x): return shift(x) + opts['a']", "f = partial(g, opts)")),
    Advised(f"{MAKE}f = make()", SHIFT,
            "Call `make` again for a new `inner`, for today's `shift`", ("f = make()",)),
    Advised(f"n = 3\n# ---\n@jax.jit\n{SIZED.format('')}", "n = 2",
            "Pass `n` to `f` as an argument (`static_argnames` if a shape, an axis, a"
            " loop or an `if` depends on it), or"
            f" r{AGAIN[1:]} `f` again",
            (f"@partial(jax.jit, static_argnames='n')\n{SIZED.format(', n')}",), "f(x, n)"),
    Advised("@jax.jit\ndef f(x): return x", "f.__wrapped__.__code__ = (lambda x: x + 2).__code__",
            f"{AGAIN} `f` again", ("@jax.jit\ndef f(x): return x + 2",)),
    Advised(OPTIMIZER, "opt = optax.sgd(-3.0)", f"{AGAIN} `f` again, for today's `opt`",
            ("@jax.jit\ndef f(x): return opt.update(x, opt.init(x))[0]",)),
    Advised(KEY, "key = jax.random.key(1)",
            f"Pass `key` to `f` as an argument, or r{AGAIN[1:]} `f` again",
            ("@jax.jit\ndef f(x, key): return x * 0 + jax.random.randint(key, (), 0, 99)",),
            "f(x, key)", "jax.random.randint(key, (), 0, 99)"),
    *(Advised(MODE.format(f"@partial(jax.jit, {static}={n})"), "mode = 'one'",
              f"Pass `mode` to `f` as a static argument (`{static}`), or r{AGAIN[1:]} `f` again",
              (MODE.format(f"@partial(jax.jit, {static}={new})").replace("n=0", "n, mode")
               .partition("# ---\n")[2],),
              "f(x, 0, mode)")
      for static, n, new in (("static_argnums", 1, (1, 2)),
                             ("static_argnames", "'n'", "('n', 'mode')"))),
)  # fmt: skip


@pytest.mark.parametrize("case", ADVISED, ids=lambda case: case.told[:70])
def test_what_is_told_to_be_typed_helps(cells: Shell, case: Advised) -> None:
    cells.run("def shift(x): return x")
    for cell in case.before.split("# ---\n"):
        cells.run(cell)
    stale_call = case.call if case.call.startswith("m") else "f(x)"
    cells.run(stale_call)
    cells.run(case.change)
    seen = last_call(cells, stale_call)
    assert (seen.state, seen.fixes) == ("STALE", (case.told,))
    for cell in case.typed:
        cells.run(cell)
    cells.run(f"%%trace_cached -qv seen\nfound = {case.call}\n{case.call}")
    assert [each.state for each in cells.names["seen"].calls] == ["TRACED", "CACHED"]
    cells.run(f"right = bool((found == {case.value}).all())")
    assert cells.names["right"]
