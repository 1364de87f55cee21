"""JAX's first call explained by its events, and a cold call that leaves all caches alone."""

import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src import compilation_cache, config

import ipyjaxbench
from ipyjaxbench.adapters.jax import compile_events, profiler
from ipyjaxbench.adapters.jax.compile_events import Event, Events
from ipyjaxbench.adapters.jax.own_work import no_disk_cache
from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.timing import Measurement, TimeOptions, measure_snippet
from ipyjaxbench.usercode import Snippet, Source
from tests.bench import recorder
from tests.loads import named
from tests.shell import Shell


def origins(programs: Any) -> dict[str, str]:
    return {program.name: program.origin for program in programs}


def test_programs_are_named_with_their_time_also_those_without_jit() -> None:
    def step(x: Any) -> Any:
        return jnp.tanh(x @ x).sum()

    result = ipyjaxbench.measure_code(
        "f(x)", {"f": jax.jit(step), "x": jnp.ones((9, 9))}, budget=0.05
    )
    (program,) = result.programs
    assert (program.name, program.origin, program.framework) == ("step", "compiled", "jax")
    assert program.seconds == pytest.approx(result.phases["compile"], rel=0.01)
    names = {"jnp": jnp, "x": jnp.ones((3, 5, 7))}
    result = ipyjaxbench.measure_code("jnp.sin(x) * 3.5 + x", names, budget=0.05)
    assert origins(result.programs) == dict.fromkeys(["sin", "multiply", "add"], "compiled")
    assert result.compilations == 3


def test_phases_by_elapsed_time_are_no_parts_of_cpu_time() -> None:
    names = {"f": jax.jit(lambda x: x * 2 + 1.5), "x": jnp.ones(3)}
    options = TimeOptions(number=1, clock="cpu")
    result = measure_snippet(Snippet(Source.plain("f(x)"), names), options)
    told = "including trace, lower, compile (time unknown)"
    assert told in " ".join(str(result).split())


@pytest.mark.usefixtures("real_clock")
def test_a_cold_call_compiles_all_anew_and_leaves_the_users_programs() -> None:
    note, traces = recorder()
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    f = jax.jit(lambda x: (note(1), inner(x) + 1)[1])
    x = jnp.ones((6, 6))
    names = {"f": f, "x": x}

    def run() -> None:
        jax.block_until_ready((f(x), x @ x, inner(x), jnp.zeros(5) + x[0, 0]))

    run()
    result = ipyjaxbench.measure_code("(f(x), x @ x)", names, budget=0.05, fresh=True)
    assert result.compilations == 0
    assert result.fresh is not None
    assert result.fresh.cleared == ()
    assert origins(result.fresh.programs) == dict.fromkeys(["<lambda>", "matmul"], "compiled")
    assert list(result.fresh.phases) == ["trace", "lower", "compile"]
    assert sum(s or 0 for s in result.fresh.phases.values()) < (result.fresh.seconds or 0)
    assert len(traces) == 2
    with Events() as watch:
        run()
    assert watch.events == []
    assert len(traces) == 2


def _options() -> dict[str, Any]:
    decided = ("_cache_checked", "_cache_used", "_cache_initialized", "_cache")
    private = {name: vars(compilation_cache)[name] for name in decided}
    return {**jax.config.values, **private}


def test_all_options_are_as_before_a_cold_call_that_failed() -> None:
    f, x = jax.jit(lambda x: x * 7), jnp.ones(4)
    f(x)
    names = {"f": f, "x": x, "cold": lambda: jax.config.jax_pgle_profiling_runs > 1_000_000}
    before = _options()
    code = "f(x)\nif cold(): raise ValueError('no')"
    result = ipyjaxbench.measure_code(code, names, number=2, repeat=2, fresh=True)
    assert _options() == before
    assert names["f"] is f
    assert result.fresh is not None
    assert result.fresh.cleared == ("the cold call raised ValueError: no",)
    assert len(result.batches) == 2


def test_what_cannot_be_made_fresh_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    f, x = jax.jit(lambda x: x * 9), jnp.ones(4)
    f(x)
    for function, why in (
        (f.lower(x).compile(), "functions compiled ahead of time were not recompiled"),
        (f, "JAX's in-memory caches stayed in use"),
    ):
        if function is f:  # as in a version with other keys
            monkeypatch.delattr("jax._src.config.pgle_profiling_runs")
        names = {"f": function, "x": x}
        result = ipyjaxbench.measure_code("f(x)", names, budget=0.02, fresh=True)
        assert result.fresh is not None
        assert result.fresh.seconds is None
        assert result.fresh.cleared == (why, "nothing was recompiled")


def of_any(a: Any) -> Any:
    return a


def test_originals_and_donated_arguments_of_jitted_functions_are_known() -> None:
    compilation, x = named("jax").capability(Compilation), jnp.ones(3)
    assert compilation.original(jax.jit(of_any)) is of_any
    assert compilation.original(jax.jit(of_any).lower(x).compile()) is None
    assert compilation.original(of_any) is None
    for options in ({"donate_argnums": 0}, {"donate_argnames": "a"}, {}):
        for jitted in (jax.jit(of_any, **options), jax.jit(of_any, **options).lower(x).compile()):
            assert compilation.donates(jitted) is bool(options)
    assert compilation.donates(jax.grad(of_any)) is False


def test_a_version_without_the_decision_to_use_the_disk_cache_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enabled = jax.config.jax_enable_compilation_cache
    with no_disk_cache() as is_unused:
        assert is_unused
        assert jax.config.jax_enable_compilation_cache is False  # XLA's own are off too
    assert jax.config.jax_enable_compilation_cache == enabled
    monkeypatch.delattr(compilation_cache, "_cache_initialized_mutex")
    with no_disk_cache() as is_unused:
        assert is_unused  # there is none
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", "/nowhere")
    try:
        with no_disk_cache() as is_unused:
            assert not is_unused
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_where_profiles_guide_the_compiler_caches_stay_in_use() -> None:
    compilation = named("jax").capability(Compilation)
    with config.enable_pgle(True), compilation.cold_call({}, []) as fresh:
        assert [*fresh.caveats] == ["JAX's in-memory caches stayed in use"]


COMPILE = "/jax/core/compile/backend_compile_duration"
LOAD = "/jax/compilation_cache/cache_retrieval_time_sec"
TRACE = "/jax/core/compile/jaxpr_trace_duration"


def test_events_have_an_end_while_the_context_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_events, "_CLOCK", clock := FakeClock())
    events = Events()
    clock.advance(7 * 10**9)
    events._on_event(TRACE, 2.0, fun_name="step")
    events._on_event("/jax/something/else", 1.0, fun_name="step")
    (event,) = events.events
    assert event.end == pytest.approx(7.0)
    assert event._replace(end=0.0) == Event(
        "trace", 2.0, 0.0, "step", threading.get_ident(), makes_program=False
    )
    with Events() as events:
        jax.monitoring.record_event_duration_secs(TRACE, 1.0, fun_name="inside")
    jax.monitoring.record_event_duration_secs(TRACE, 1.0, fun_name="outside")
    assert [event.name for event in events.events] == ["inside"]


def test_a_program_has_the_name_of_its_function() -> None:
    events = Events()
    for told in ("jit(step)", "step", "f(x)", None):
        events._on_event(COMPILE, 1.0, fun_name=told)
    assert [program.name for program in events.programs()] == ["step", "step", "f(x)", "?"]


def test_a_compilation_after_a_load_in_the_same_thread_is_that_load() -> None:
    events = Events()
    events._on_event(LOAD, 1.0)
    other = threading.Thread(target=events._on_event, args=(COMPILE, 2.0))
    other.start()
    other.join()
    events._on_event(COMPILE, 3.0)
    events._on_event(COMPILE, 4.0)
    assert [(program.seconds, program.origin) for program in events.programs()] == [
        (2.0, "compiled"), (3.0, "disk cache"), (4.0, "compiled"),
    ]  # fmt: skip
    assert [each.phase for each in events.events] == ["cache load", "compile"] * 2


def test_of_what_was_shown_that_which_is_compiled_without_a_trace_is_told_once() -> None:
    shown = {"seen", "other", "traced"}
    events = Events(shown)
    events._on_event(TRACE, 1.0, fun_name="traced")
    for name in ("traced", "seen", "new"):
        events._on_event(COMPILE, 1.0, fun_name=name)
    assert events.inspected() == ("seen",)
    assert shown == {"other"}
    assert events.inspected() == ()


# What XLA spends time on in a cold call

_CELL = """%load_ext ipyjaxbench
import jax, jax.numpy as jnp
@jax.jit
def unrolled(x):
    for i in range(30):
        x = jnp.sin(x * i)
    return x.sum()

x = jnp.ones((16, 16))
"""


def measured(shell: Shell, typed: str) -> Measurement:
    shell.run(_CELL)
    shell.run(f"%fwtime -n 1 -r 2 -v found {typed}")
    found = shell.names["found"]
    assert isinstance(found, Measurement)
    return found


def test_passes_add_up_to_the_time_of_compiling_and_lines_are_the_users(shell: Shell) -> None:
    found = measured(shell, "--passes unrolled(x)")
    assert found.fresh is not None
    (passes,) = found.fresh.passes
    compiling = found.fresh.phases["compile"]
    assert compiling is not None
    assert 0.8 <= passes.seconds / compiling <= 1.2  # within 10 % where nothing else runs
    assert any("Compile" in each.name for each in passes.passes)
    top = passes.lines[0]
    assert top.text == "x = jnp.sin(x * i)"
    assert top.operations / passes.operations > 0.9


def test_a_profiler_in_use_is_one_line_and_the_call_is_made(shell: Shell, tmp_path: object) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        found = measured(shell, "--passes unrolled(x)")
    finally:
        jax.profiler.stop_trace()
    assert found.fresh is not None
    assert found.fresh.seconds is not None
    (passes,) = found.fresh.passes
    assert passes.reason == "another profiler is already running"


def test_without_the_option_or_marks_no_passes_are_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler, "_COMPILING", ("gone",))
    found = measured(shell, "--passes unrolled(x)")
    assert found.fresh is not None
    assert found.fresh.passes[0].reason == "this version does not mark what XLA compiles"
    monkeypatch.setattr(jax.profiler, "start_trace", lambda *_, **__: 1 / 0)
    found = measured(shell, "--fresh unrolled(x)")
    assert found.fresh is not None
    assert found.fresh.passes == ()


def test_a_program_is_held_against_the_one_that_was_kept(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    shell.run("import jax, jax.numpy as jnp\nx = jnp.ones((32, 32))")
    shell.run("step = jax.jit(lambda v: jnp.sin(v @ v).sum())")
    shell.run("%fwtime -q -n 2 -r 2 --name before step(x)")
    shell.run("step = jax.jit(lambda other: jnp.sin(other @ other).sum())")
    shell.run("same = %fwtime -q -n 2 -r 2 --against before step(x)")
    shell.run("step = jax.jit(lambda v: jnp.tanh(jnp.sin(v @ v)).sum())")
    shell.run("r = %fwtime -q -n 2 -r 2 --against before step(x)")
    (program,) = shell.names["same"].against.programs
    assert (program.name, program.changes, program.diff) == ("step", (), "")
    assert program.instructions > 5
    (program,) = shell.names["r"].against.programs
    assert {c.label: (c.before, c.now) for c in program.changes}["tanh"] == (0, 1)
