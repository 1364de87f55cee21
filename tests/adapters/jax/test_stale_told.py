"""What is told of stale programs, and that a look at them leaves all as it was."""

import gc
import io
import re
import sys
import weakref
from pathlib import Path

import pytest

import ipyjaxbench
from ipyjaxbench.jupyter.errors import TraceFailedError
from tests.adapters.jax import test_stale
from tests.adapters.jax.test_stale import NESTED, PRINTED, SCALE, jitted, last_call
from tests.adapters.side_effects import SIDE_EFFECTS, SideEffect
from tests.shell import Shell
from tests.traced import logged_by_looks

cells = test_stale.cells


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


def test_what_is_stale_needs_no_unfolding(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("@jax.jit\ndef g(x): return x + 1\ng(x)\nscale = 3.0")
    cells.run("%%trace_cached\nf(x)\ng(jnp.ones(4))")
    page = cells.shown[-1].data["text/html"]
    assert "scale was 2.0 when f was traced, is 3.0" in page.partition("<details")[0]


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


@pytest.mark.parametrize("shapes", [1, 8])
def test_a_jitted_method_is_told_where_the_timed_one_calls_it(cells: Shell, shapes: int) -> None:
    cells.run(METHODS)
    cells.run(f"for n in range(1, {shapes}): t.fit(jnp.ones(n + 3))")
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
    cells.run("%trace_cached --watch on")  # as if nothing had been told
    assert len(cells.shown) == 1
    cells.run("%trace_cached --watch off")


def test_a_function_is_told_once_whatever_names_it_has(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(f"{SCALE}\ng, one, some = f, partial(f), [f]")
    cells.run("f")  # an output, which the session keeps
    cells.run("scale = 3.0")
    lines = [each.data["text/plain"] for each in cells.shown]
    assert lines == ["stale: f (scale was 2.0 when f was traced, is 3.0)"]
    cells.run("another = f")
    assert cells.shown == []
    cells.run("%trace_cached --watch off")


MAKE = "(lambda n, given=[f]: {'f': given.pop()}); kept(1)"


@pytest.mark.parametrize(
    ("kept", "path"),
    [("[*range(300), *[jax.jit(abs)] * 300, f]", "kept[600]"),
     ("{'a': {'b': [({'c': [[f]]},)]}}", "kept['a']['b'][0][0]['c'][0][0]"),
     (f"__import__('functools').lru_cache(None){MAKE}", "kept(…)['f']"),
     (f"__import__('functools').lru_cache(8){MAKE}", "kept(…)['f']")],
)  # fmt: skip
def test_a_function_is_told_wherever_it_is_kept(cells: Shell, kept: str, path: str) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(f"{SCALE}\nkept = {kept}\ndel f")
    cells.run("scale = 3.0")
    lines = [each.data["text/plain"] for each in cells.shown]
    cells.run("%trace_cached --watch off")
    assert lines == [f"stale: {path} (scale was 2.0 when f was traced, is 3.0)"]


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
    cells.run("def outer(x): return f(x).sum()\nclass Model:\n  def __call__(self, x): return f(x)")
    calls = ("f(x)", "f(x) + 1", "outer(x)", "Model()(x)", "[f][0](x)")
    for value, call in enumerate(calls, 3):
        cells.run(f"scale = {value}.0")
        cells.run(f"%jaxpr -qv shown {call}")
        shown = cells.names["shown"]
        (note,) = [each for each in shown.notes if each.code == "cached-is-stale"]
        assert note.text == (
            "This is the code of now. Calls of f run another program, which was compiled earlier:"
            f" scale was 2.0 when f was traced, is {value}.0."
        )
        assert (f"{value}.0" in shown.program, "2.0" in shown.program) == (True, False)
        assert f"{value}.0" in shown.text("stablehlo")
    assert last_call(cells, "f(x)").state == "STALE"  # it is not taken for a trace of the call
    cells.run("scale = 2.0")
    for call in calls:
        cells.run(f"%jaxpr -qv shown {call}")
        assert cells.names["shown"].notes == ()


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ("x * scale", "scale was 2.0 when f was traced, and is gone. Define scale again"),
        ("x * f2(2)", "f2 was there when f was traced, and is gone. Define f2 again"),
    ],
)
def test_code_that_does_not_trace_any_more_is_said_to_run_still(
    cells: Shell, read: str, told: str
) -> None:
    cells.run(jitted("scale = 2.0\ndef f2(x): return x", read))
    cells.run(f"del {told.split()[0]}")
    with pytest.raises(TraceFailedError) as raised:
        cells.run("%jaxpr f(x)")
    found = raised.value.diagnosis
    assert "Calls of f run a program that was compiled earlier: " in found.because
    assert told in f"{found.because} {found.advice}"


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


@pytest.mark.parametrize("look", ["%jaxpr -q f(x)", "f.lower(x)", "y = jax.jit(lambda v: f(v))(x)"])
def test_a_prediction_of_what_was_only_traced_says_that_it_would_be_compiled(
    cells: Shell, look: str
) -> None:
    cells.run("f = jax.jit(lambda v: v * 3)")
    cells.run(look)
    cells.run("%trace_cached -qv told --predict f(x); f(x)")
    assert [each.state for each in cells.names["told"].calls] == ["WOULD-COMPILE", "WOULD-HIT"]
    cells.run("%trace_cached -qv seen f(x)")
    assert [each.state for each in cells.names["seen"].calls] == ["COMPILED", "CACHED"]
    cells.run("%trace_cached -qv told --predict f(x)")
    assert [each.state for each in cells.names["told"].calls] == ["WOULD-HIT"]


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


OF_EQUINOX = """import equinox as eqx
class Base(eqx.Module):
    @eqx.filter_jit
    def step(self, x): return self.scaled(x)
    def scaled(self, x): return x
"""


def test_of_a_method_of_a_module_all_caches_are_where_its_own_cannot_be(
    cells: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fw_of_equinox.py").write_text(OF_EQUINOX)
    monkeypatch.syspath_prepend(tmp_path)
    cells.run("import fw_of_equinox as m\nscale = 2.0")
    cells.run("class Scaled(m.Base):\n    def scaled(self, x): return x * scale")
    cells.run("s = Scaled()\ns.step(x)")
    assert last_call(cells, "s.step(x)").state == "CACHED"
    cells.run("scale = 3.0")
    assert last_call(cells, "s.step(x)").fixes == (
        "Pass `scale` to `step` as an argument, or call `jax.clear_caches()`",
    )
    cells.run("jax.clear_caches()\nright = bool((s.step(x) == 3.0).all())")
    assert cells.names["right"]
    del sys.modules["fw_of_equinox"]


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


REFUSING = """
kept = []
def check(value=None):
    global scale
    scale, held, factor = 2.0, {{"a": 2.0}}, 2.0
    @jax.jit
    def f(x): return x * {read}
    @jax.jit
    def other(x): return x - 1
    kept[:] = [f]
    def run(): return kept[0](x)
    f(x), other(x)
    {change}
    with ipyjaxbench.trace_cached(2, stale="error"):
        {call}
"""


@pytest.mark.parametrize(
    ("read", "change", "calls"),
    [
        ("held['a']", "held['a'] = {}", ("list(map(f, [x]))", "kept[0](x)")),
        ("factor", "factor = {}", ("partial(f, x)()",)),
        ("scale", "scale = {}", ("f(x)", "run()")),
    ],
)
def test_a_block_refuses_each_stale_call_in_it(
    cells: Shell, read: str, change: str, calls: tuple[str, ...]
) -> None:
    cells.names["ipyjaxbench"] = ipyjaxbench
    for call in calls:
        cells.run(REFUSING.format(read=read, change=change.format("value"), call=call))
        cells.run("check(2.0)")
        with pytest.raises(ipyjaxbench.StaleProgramError, match="`f` runs a stale program: "):
            cells.run("check(3.0)")


def test_a_block_refuses_no_stale_program_that_does_not_run_in_it(cells: Shell) -> None:
    cells.names["ipyjaxbench"] = ipyjaxbench
    for call in ("pass", "other(x)", "f(jnp.ones(4))", "f.clear_cache(); f(x)"):
        cells.run(REFUSING.format(read="scale", change="scale = 3.0", call=call))
        cells.run("check()")


def test_a_block_refuses_a_program_that_goes_stale_in_it(cells: Shell) -> None:
    cells.names["ipyjaxbench"] = ipyjaxbench
    cells.run(
        REFUSING.format(read="scale", change="pass", call="f(x); scale = 3.0; f(x); scale = 2.0")
    )
    with pytest.raises(
        ipyjaxbench.StaleProgramError, match=r"scale was 2\.0 when f was traced, is 3\.0"
    ):
        cells.run("check()")


def test_looking_keeps_nothing_that_a_cell_drops(cells: Shell) -> None:
    cells.run("class Note: pass\nnote = Note()")
    cells.run(PRINTED.replace("note = 'first'", ""))
    kept = weakref.ref(cells.names["note"])
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("del note")
    gc.collect()
    assert kept() is None


def names_in(effect: SideEffect) -> set[str]:
    return {*re.findall(r"\w+(?= =|:)|(?<=def )\w+|(?<=class )\w+|path", effect.before)}


def together(effects: tuple[SideEffect, ...]) -> list[list[SideEffect]]:
    """Effects that one function can have: each has names of its own; a large one is alone."""
    large = [each for each in effects if re.search(r"\d{4}|\d_\d", each.before)]
    groups: list[list[SideEffect]] = []
    for effect in effects:
        if effect in large:
            continue
        for group in groups:
            if not any(names_in(effect) & names_in(each) for each in group):
                group.append(effect)
                break
        else:
            groups.append([effect])
    return [*groups, *([each] for each in large)]


@pytest.mark.parametrize("effects", together(SIDE_EFFECTS), ids=lambda it: it[0].before[-20:])
def test_looking_does_nothing_again(
    cells: Shell, effects: list[SideEffect], tmp_path: Path
) -> None:
    cells.names["path"] = str(tmp_path / "file")
    for effect in effects:
        cells.run(effect.before)
    cells.run(jitted("scale = 2.0", f"(x * scale, {', '.join(it.does for it in effects)})[0]"))
    cells.run("scale = 3.0")
    call = last_call(cells, "f(x)")
    assert cells.text == ""
    assert call.state == "STALE"
    assert [change.path for change in call.why] == ["scale"]
    cells.run(f"left = [{', '.join(it.left for it in effects)}]")
    for each in (*cells.names.values(),):
        if isinstance(each, io.IOBase):
            each.close()
    assert cells.names["left"] == [it.value for it in effects]


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
    assert why.words().startswith("reason unknown: JAX names a trace that looking")
