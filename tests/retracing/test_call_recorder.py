"""What became of each call of a compiled function, call by call."""

import contextlib
from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.graphs import Diagnosis, Fix
from ipyjaxbench.retracing import CacheMiss, Change, Outcome, TracedCall
from ipyjaxbench.retracing.call_recorder import CallRecorder
from ipyjaxbench.retracing.trace_log import TraceLog
from ipyjaxbench.usercode import OutputRecorder, Site
from tests.retracing.fake import MS, TRACED, Jitted, TracingFramework, Watch, signature

HERE, THERE = Site(3, "f(n)"), Site(7, "f(n)")


@pytest.fixture
def watch(fake: TracingFramework) -> Watch:
    assert fake.watch is not None
    return fake.watch


@pytest.fixture
def recorder(fake: TracingFramework, watch: Watch) -> CallRecorder:
    return CallRecorder([(fake, watch)], OutputRecorder(), None)


def call(recorder: CallRecorder, function: Any, *sizes: int, site: Site = HERE) -> None:
    for size in sizes:
        recorder.pick(site, function)(size)


def why(calls: tuple[TracedCall, ...]) -> list[str]:
    return ["; ".join(change.words() for change in each.why) for each in calls]


def test_hits_are_one_row(recorder: CallRecorder, watch: Watch, fake: TracingFramework) -> None:
    f = Jitted("f", TRACED)
    f.body = lambda: fake.device.clock.advance(MS)
    call(recorder, f, 1, 1, 1, 1)
    first, cached = recorder.calls()
    assert (first.name, first.framework, first.line, first.text) == ("f", "fake", 3, "f(n)")
    assert (first.state, first.number, first.last, first.times) == ("TRACED", 1, 1, 1)
    assert (first.breaks, first.nested, first.phases) == (0, (), {"trace": 0.5})
    assert (cached.state, cached.number, cached.last, cached.times) == ("CACHED", 2, 4, 3)
    assert (cached.name, cached.framework, cached.line, cached.text) == ("f", "fake", 3, "f(n)")
    # A millisecond for the call, and one until its value is computed.
    assert (first.seconds, cached.seconds) == (pytest.approx(0.002), pytest.approx(0.006))
    assert watch.waited == [1, 1, 1, 1]


def test_programs_whose_guards_cover_what_they_read_are_not_looked_at(
    recorder: CallRecorder, watch: Watch
) -> None:
    def traced_code(*_: object) -> None:
        asked.append("code")

    f, guarded, asked = Jitted("f"), Jitted("guarded"), list[str]()
    watch.traced_code = traced_code  # type: ignore[assignment]
    call(recorder, f, 1, 1)
    assert asked
    asked.clear()
    watch.is_guarded = True
    call(recorder, guarded, 1, 1)
    assert asked == []
    assert [each.state for each in recorder.calls()] == ["CACHED", "CACHED"]


def test_a_row_ends_where_the_place_or_the_state_is_another(recorder: CallRecorder) -> None:
    f, g = Jitted("f", None, None, None, None, TRACED), Jitted("g")
    call(recorder, f, 1, 1)
    call(recorder, f, 1, site=THERE)
    call(recorder, g, 1)
    call(recorder, f, 1, 2, 2)
    shown = [(each.name, each.line, each.state, each.number, each.last, each.times)
             for each in recorder.calls()]  # fmt: skip
    assert shown == [
        ("f", 3, "CACHED", 1, 4, 3),  # the third one of these is apart from the others
        ("f", 7, "CACHED", 3, 3, 1),
        ("g", 3, "CACHED", 1, 1, 1),
        ("f", 3, "TRACED", 5, 5, 1),
        ("f", 3, "CACHED", 6, 6, 1),
    ]


def test_what_is_called_inside_is_part_of_the_call(recorder: CallRecorder) -> None:
    inner, outer = Jitted("inner"), Jitted("outer")
    outer.body = lambda: call(recorder, inner, 1)
    call(recorder, outer, 1)
    call(recorder, inner, 1)
    assert [each.name for each in recorder.calls()] == ["outer", "inner"]
    assert len(inner.calls) == 2
    assert recorder.pick(HERE, len) is recorder.pick(HERE, len) is len
    assert (recorder.other_calls, len(recorder.calls())) == (2, 2)


def test_a_reason_is_what_differs_from_before(recorder: CallRecorder, log: TraceLog) -> None:
    call(recorder, Jitted("f", TRACED, TRACED, Outcome("SLOW-PATH")), 1, 2, 3)
    calls = recorder.calls()
    unseen = "reason unknown: earlier traces were not observed"  # it finds a trace
    reasons = ["first call", "n: f32[1] → f32[2] (shape)", unseen]
    assert why(calls) == reasons
    assert [each.fixes for each in calls] == [("fix the first of f",), ("fix the shape of f",), ()]
    assert [(each.state, each.says) for each in calls] == [
        ("TRACED", ""), ("TRACED", ""), ("SLOW-PATH", ""),
    ]  # fmt: skip
    assert log.signatures("fake", "f")[:2] == (signature(1), signature(2))


OWN = Change("guard", new="it says so")
UNSEEN = "reason unknown: earlier traces were not observed"
DROPPED = "same signature as an earlier call, but caches were cleared"
BREAK = Outcome("BREAK", {"trace": 0.5, "compile": 1.0}, ((1, "g"),), "a reason", 2)


@pytest.mark.parametrize(
    ("outcome", "first", "again"),
    [
        (TRACED, ("TRACED", "first call", ""), ("TRACED", DROPPED, "")),
        (replace(TRACED, why=(OWN,)), ("TRACED", "it says so", ""), ("TRACED", "it says so", "")),
        (replace(TRACED, known=True), ("TRACED", UNSEEN, ""), ("TRACED", DROPPED, "")),
        (replace(TRACED, known=True, fallback_reasons=(OWN,)),
         ("TRACED", "it says so", ""), ("TRACED", "it says so", "")),
        (replace(TRACED, known=False, fallback_reasons=(OWN,)),
         ("TRACED", "first call", ""), ("TRACED", DROPPED, "")),
        (Outcome("RECOMPILED"),
         ("COMPILED", "first call; already traced, as within another function or by %jaxpr", ""),
         ("RECOMPILED", "", "")),
        (Outcome("RECOMPILED", known=True), ("RECOMPILED", UNSEEN, ""), ("RECOMPILED", "", "")),
        (Outcome("RECOMPILED", fallback_reasons=(OWN,)),
         ("COMPILED", "first call; already traced, as within another function or by %jaxpr", ""),
         ("RECOMPILED", "it says so", "")),
        (Outcome("SLOW-PATH"), ("SLOW-PATH", UNSEEN, ""), ("SLOW-PATH", "", "")),
        # There is a reason of our own.
        (BREAK, ("BREAK", "first call", ""), ("BREAK", DROPPED, "")),
        (Outcome("?", framework_reason="no idea"), ("?", "", "no idea"), ("?", "", "no idea")),
        (Outcome("BYPASSED", framework_reason="off"), ("BYPASSED", "", ""), ("BYPASSED", "", "")),
    ],
)  # fmt: skip
def test_the_state_and_the_reason_of_a_first_call_and_of_one_like_it(
    recorder: CallRecorder, outcome: Outcome, first: tuple[str, ...], again: tuple[str, ...]
) -> None:
    call(recorder, Jitted("f", outcome), 1)
    call(recorder, Jitted("g", TRACED, outcome), 1, 1)
    one, _, other = recorder.calls()
    assert [(each.state, *why((each,)), each.says) for each in (one, other)] == [first, again]
    told = one.phases, one.nested, one.breaks
    assert told == (outcome.phases, outcome.nested, outcome.breaks)


def test_a_first_call_of_what_was_seen_alone_is_the_first_one(
    recorder: CallRecorder, fake: TracingFramework
) -> None:
    f = Jitted("f", Outcome("RECOMPILED", known=True))
    fake.watch.kept.seen.append(f)
    call(recorder, f, 1)
    (first,) = recorder.calls()
    assert (first.state, *why((first,))) == (
        "COMPILED", "first call; already traced, as within another function or by %jaxpr",
    )  # fmt: skip


def test_what_raises_is_recorded(
    recorder: CallRecorder, fake: TracingFramework, log: TraceLog
) -> None:
    f = Jitted("f", *(ValueError("no such size"),) * 3)
    fix = Fix("jnp.where(x > 0, x, 0)", same="without jit")
    known = Diagnosis("f(1)", "ValueError", "no such size", 1, "f(1)", "it asks", fixes=(fix,))
    for diagnosis in (None, RuntimeError("broken"), known):
        fake.diagnosis = diagnosis
        with pytest.raises(ValueError, match="no such size"):
            call(recorder, f, 1)
    calls = recorder.calls()
    assert [each.state for each in calls] == ["RAISED"] * 3
    plain = "ValueError: no such size"
    assert [each.says for each in calls] == [plain, plain, f"{plain}: it asks"]
    assert [each.fixes for each in calls] == [(), (), ("jnp.where(x > 0, x, 0)",)]
    assert why(calls) == ["", "", ""]
    assert log.functions() == []


@pytest.mark.parametrize(
    ("outcome", "printed"),
    [
        (TRACED, "tracing\nrunning\n"), (replace(TRACED, traced_until=0.5), "tracing\n"),
        (replace(TRACED, traced_until=0.0), "tracing\n"), (Outcome("BYPASSED"), ""), (None, ""),
    ],
)  # fmt: skip
def test_only_what_is_printed_while_it_is_traced_is_told(
    fake: TracingFramework, watch: Watch, outcome: Outcome | None, printed: str
) -> None:
    def body() -> None:
        print("tracing")
        fake.device.clock.advance(1000 * MS)
        print("running")

    output = OutputRecorder()
    recorder = CallRecorder([(fake, watch)], output, None)
    f, g = Jitted("f", outcome), Jitted("g", TRACED, TRACED)
    f.body = body
    g.body = lambda: print("a message")
    with output:
        call(recorder, f, 1)
        watch.messages = ("message",)  # of the framework's own
        call(recorder, g, 2)
        watch.prints_while_tracing = False
        call(recorder, g, 3)
    assert [each.printed for each in recorder.calls()] == [printed, "\n", ""]


def test_more_traces_than_allowed_are_an_error(fake: TracingFramework, watch: Watch) -> None:
    recorder = CallRecorder([(fake, watch)], OutputRecorder(), 1)
    f = Jitted("f", TRACED, None, Outcome("SLOW-PATH"), Outcome("DISK"))
    call(recorder, f, 1, 1, 1)
    with pytest.raises(TooManyTracesError) as raised:
        call(recorder, f, 2)
    assert str(raised.value) == (
        "`f` was traced 2 times, limit 1. Reason in line 3: n: f32[1] → f32[2] (shape)"
    )
    strict = CallRecorder([(fake, watch)], OutputRecorder(), 0)
    with pytest.raises(TooManyTracesError):
        call(strict, Jitted("g", TRACED), 1)
    assert len(strict.calls()) == 1


def test_a_call_is_not_recorded_in_two_ways(recorder: CallRecorder, log: TraceLog) -> None:
    f = Jitted("f", None)
    f.body = lambda: log.record("fake", CacheMiss("f", signature(1), placed=False))
    call(recorder, f, 1)
    assert [*log.events] == []
    with contextlib.suppress(ValueError):
        call(recorder, Jitted("g", ValueError()), 1)
    f.body()
    assert len(log.events) == 1
