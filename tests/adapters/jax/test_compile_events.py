"""What is made of the events in which JAX reports that it traces and compiles."""

import threading

import jax
import pytest

from ipyjaxbench.adapters.jax import compile_events
from ipyjaxbench.adapters.jax.compile_events import Event, Events, phases_of, programs_of
from ipyjaxbench.frameworks import Program
from ipyjaxbench.testing import FakeClock

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
