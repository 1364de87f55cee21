"""JAX's first call explained by its events, and a cold call that leaves all caches alone."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src import compilation_cache, config

import ipyjaxbench
from ipyjaxbench.adapters.jax import Jax, compile_events
from ipyjaxbench.adapters.jax.compilation import no_disk_cache
from ipyjaxbench.adapters.jax.compile_events import Event, Events, phases_of, programs_of
from ipyjaxbench.frameworks import Compilation, Program, loaded
from ipyjaxbench.testing import FakeClock
from tests.bench import recorder


@contextmanager
def count_events() -> Iterator[Counter[str]]:
    """Counts what JAX does meanwhile."""
    events: Counter[str] = Counter()

    def hear(event: str, seconds: float, **_: Any) -> None:
        events[event] += 1

    jax.monitoring.register_event_duration_secs_listener(hear)
    try:
        yield events
    finally:
        jax.monitoring.unregister_event_duration_listener(hear)


def named(programs: Any) -> dict[str, str]:
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
    assert "█ compile " in str(result)
    names = {"jnp": jnp, "x": jnp.ones((3, 5, 7))}
    result = ipyjaxbench.measure_code("jnp.sin(x) * 3.5 + x", names, budget=0.05)
    assert named(result.programs) == dict.fromkeys(["sin", "multiply", "add"], "compiled")
    assert result.compilations == 3


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
    assert named(result.fresh.programs) == dict.fromkeys(["<lambda>", "matmul"], "compiled")
    assert list(result.fresh.phases) == ["trace", "lower", "compile"]
    assert sum(s or 0 for s in result.fresh.phases.values()) < (result.fresh.seconds or 0)
    assert len(traces) == 2
    assert "(your caches are untouched)" in " ".join(str(result).split())
    with count_events() as events:
        run()
    assert events == Counter()
    assert len(traces) == 2


@pytest.mark.usefixtures("real_clock")
def test_of_several_cold_calls_each_program_is_timed() -> None:
    """The compiler that picks is played by the function, which multiplies more in some traces."""
    turns = [1, 60, 1, 60]
    following = iter([1, *turns])
    traced: list[int] = []

    def step(x: jax.Array) -> jax.Array:
        traced.append(next(following))
        for _ in range(traced[-1]):
            x = jnp.tanh(x @ x)
        return x

    names = {"f": jax.jit(step), "x": jnp.ones((100, 100))}
    result = ipyjaxbench.measure_code("f(x)", names, budget=0.4, fresh=4, restore=False)
    assert result.fresh is not None
    assert traced == [1, *turns]  # later calls of a program compile nothing
    assert result.fresh.cleared == ()
    later = [each.later for each in result.fresh.recompiled]
    assert len(later) == 4
    told = "recompiled-apart" in [note.code for note in result.notes]
    assert told is result.fresh.programs_differ
    assert min(later[1::2]) > 3 * max(later[::2])
    names["f"](names["x"])
    assert len(traced) == 5


def _options() -> dict[str, Any]:
    decided = ("_cache_checked", "_cache_used", "_cache_initialized", "_cache")
    private = {name: vars(compilation_cache)[name] for name in decided}
    return {**jax.config.values, **private}


@pytest.mark.parametrize("code", ["f(x)", "f(x)\nif cold(): raise ValueError('no')"])
def test_all_options_are_as_before_a_cold_call(code: str) -> None:
    f, x = jax.jit(lambda x: x * 7), jnp.ones(4)
    f(x)
    names = {"f": f, "x": x, "cold": lambda: jax.config.jax_pgle_profiling_runs > 1_000_000}
    before = _options()
    result = ipyjaxbench.measure_code(code, names, number=2, repeat=2, fresh=True)
    assert _options() == before
    assert names["f"] is f
    assert result.fresh is not None
    failed = result.fresh.cleared == ("the cold call raised ValueError: no",)
    assert failed == ("raise" in code)
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


def of_any(*xs: Any, **named: Any) -> Any:
    return (*xs, *named.values())[0]


def test_originals_and_donated_arguments_of_jitted_functions_are_known() -> None:
    compilation = next(f for f in loaded()[0] if isinstance(f, Jax)).capability(Compilation)
    x = jnp.ones(3)
    assert compilation.original(jax.jit(of_any)) is of_any
    assert compilation.original(jax.jit(of_any).lower(x).compile()) is None
    assert compilation.original(of_any) is None
    for options, donates in (
        ({"donate_argnums": 0}, True), ({"donate_argnames": "a"}, True), ({}, False),
    ):  # fmt: skip
        assert compilation.donates(jax.jit(of_any, **options)) is donates
    for options, donates in (({"donate_argnums": 0}, True), ({}, False)):
        assert compilation.donates(jax.jit(of_any, **options).lower(x).compile()) is donates
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
    compilation = next(f for f in loaded()[0] if isinstance(f, Jax)).capability(Compilation)
    with config.enable_pgle(True), compilation.cold_call({}, []) as fresh:
        assert [*fresh.caveats] == ["JAX's in-memory caches stayed in use"]
    with compilation.cold_call({}, []) as fresh:
        assert [*fresh.caveats] == []


COMPILE = "/jax/core/compile/backend_compile_duration"
LOAD = "/jax/compilation_cache/cache_retrieval_time_sec"
TRACE = "/jax/core/compile/jaxpr_trace_duration"
SECOND = 10**9


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(compile_events, "_CLOCK", clock)
    return clock


def test_events_have_an_end_while_the_context_is_open(clock: FakeClock) -> None:
    events = Events()
    clock.advance(7 * SECOND)
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


@pytest.mark.parametrize(
    ("told", "name"), [("jit(step)", "step"), ("step", "step"), ("f(x)", "f(x)"), (None, "?")]
)
def test_a_program_has_the_name_of_its_function(told: str | None, name: str) -> None:
    events = Events()
    events._on_event(COMPILE, 1.0, fun_name=told)
    assert [program.name for program in events.programs()] == [name]


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
    assert events.compilations() == 3
    assert [event.phase for event in events.events] == [
        "cache load", "compile", "cache load", "compile",
    ]  # fmt: skip


def test_of_what_was_shown_that_which_is_compiled_without_a_trace_is_told_once() -> None:
    shown = {"seen", "other", "traced"}
    events = Events(shown)
    events._on_event(TRACE, 1.0, fun_name="traced")
    for name in ("traced", "seen", "new"):
        events._on_event(COMPILE, 1.0, fun_name=name)
    assert events.inspected() == ("seen",)
    assert shown == {"other"}
    assert events.inspected() == ()


def test_the_seconds_of_phases_count_each_moment_once() -> None:
    events = [
        Event("trace", 4.0, 4.0, "f", 1, makes_program=False),
        Event("trace", 1.0, 2.0, "g", 1, makes_program=False),
        Event("compile", 2.0, 7.0, "f", 1, makes_program=True),
    ]
    assert phases_of(events) == {"trace": 4.0, "compile": 2.0}
    assert programs_of(events) == (Program("f", 2.0, "compiled", "jax"),)
