"""What was traced in a process, and why."""

from typing import Any

import pytest

from ipyjaxbench.frameworks import private_work
from ipyjaxbench.retracing import trace_log
from ipyjaxbench.retracing.cache_key import CacheMiss, Change, Leaf, Signature
from ipyjaxbench.retracing.first_calls import DROPPED
from ipyjaxbench.retracing.trace_log import TraceLog
from ipyjaxbench.retracing.traces import number_calls


def of(*shape: int, **key: Any) -> Signature:
    return Signature({"x": Leaf("array", "float32", shape)}, ("x",), **key)


def reason(log: TraceLog, new: Signature, name: str = "f", *, placed: bool = False) -> str:
    return "; ".join(each.words() for each in log.reasons("jax", name, new, placed=placed))


def test_the_first_call_of_a_function_and_of_another_of_its_name() -> None:
    log = TraceLog()
    assert reason(log, of(3)) == "first call"
    log.add("jax", "f", of(3, code=1))
    log.add("jax", "<lambda>", of(3, code=1))
    assert reason(log, of(3, code=2)) == "first call after redefinition"
    assert reason(log, of(3, code=2), "<lambda>") == "first call"
    assert reason(log, of(3, code=1), "g") == "first call"
    what = "first call; already traced, as within another function or by %jaxpr"
    assert reason(log, of(3), "g", placed=True) == what


def test_a_trace_that_was_there_was_dropped_and_the_same_function_is_compared_first() -> None:
    log = TraceLog()
    log.add("jax", "f", of(3, function=1))
    assert log.reasons("jax", "f", of(3, function=1), placed=False) == [DROPPED]
    assert log.reasons("jax", "f", of(3, function=1), placed=True) == []
    log.add("jax", "f", of(5, 5, function=2))
    assert reason(log, of(3, function=2)) == "x: f32[5,5] → f32[3] (rank)"
    assert reason(log, of(3, function=3)) == "new function object (same code)"
    own = Change("guard", new="jax says: differs")
    # First of all, where signatures do not differ, and where there is a program that was not seen.
    for name, fallback_reasons in (("g", ()), ("g", (own,)), ("unseen", (own,))):
        log.record("jax", CacheMiss(name, of(3), placed=False, fallback_reasons=fallback_reasons))
    assert [event.why[0].words() for event in log.events] == ["first call", own.new, own.new]


def test_a_part_that_is_compiled_later_is_told_unless_the_whole_is() -> None:
    log = TraceLog()
    part = CacheMiss("f backward", of(), placed=True, phases={"compile": 2.0})
    log.record("torch", CacheMiss("f", of(3), placed=False, phases={"trace": 0.5}))
    whole = log.event_count
    log.record_part("torch", part, of=whole)
    (call,) = number_calls(log.events_since(0))
    assert (call.name, call.seconds, call.phases) == ("f", 2.5, {"trace": 0.5, "compile": 2.0})
    (call,) = number_calls(log.events_since(whole))
    assert (call.name, call.state, call.seconds) == ("f backward", "COMPILED", 2.0)
    assert log.events_since(log.event_count, whole - 1) == log.events_since(whole, whole - 1) == []
    with log.paused():
        log.record_part("torch", part, of=whole)
    assert len(log.events) == 2


def test_of_private_work_nothing_is_kept() -> None:
    log = TraceLog()
    log.record("jax", CacheMiss("f", of(3, function=1), placed=False))
    with private_work():
        log.record("jax", CacheMiss("f", of(4, function=1), placed=False, cleared=True))
        log.record_part("jax", CacheMiss("f backward", of(), placed=True), of=1)
    assert (log.event_count, log.signatures("jax", "f")) == (1, (of(3, function=1),))
    assert log.reasons("jax", "f", of(3, function=1), placed=True) == []  # it was not dropped


def test_what_was_dropped_is_no_cause_until_it_is_traced_again() -> None:
    log = TraceLog()
    for size in (2, 3):
        log.add("jax", "f", of(size, function=1))
    log.drop("jax", "f", 1)
    assert reason(log, of(4, function=1)) == "first call since caches were cleared"
    log.add("jax", "f", of(5, 5, function=1))
    assert log.reasons("jax", "f", of(2, function=1), placed=False) == [DROPPED]
    assert reason(log, of(4, function=1)) == "x: f32[5,5] → f32[4] (rank)"
    log.add("jax", "f", of(2, function=1))
    assert reason(log, of(4, function=1)) == "x: f32[2] → f32[4] (shape)"
    assert reason(log, of(4, function=2)) == "new function object (same code)"


def test_what_is_recorded() -> None:
    log = TraceLog()
    phases = {"trace": 0.5}
    log.record("jax", CacheMiss("f", of(3), placed=False, line=7, text="f(x)", phases=phases))
    log.record("jax", CacheMiss("f", of(3), placed=True))  # a part of what was reported
    with log.paused():
        log.record("jax", CacheMiss("f", of(9), placed=False))
    log.record("torch", CacheMiss("f", of(4), placed=True))
    log.record("jax", CacheMiss("f", of(4), placed=False))
    phases["compile"] = 1.5
    first, other, last = number_calls(log.events_since(0))
    assert (first.name, first.framework, first.line, first.text) == ("f", "jax", 7, "f(x)")
    assert (first.state, first.number, first.times, first.seconds) == ("TRACED", 1, 1, 2.0)
    assert (other.framework, other.state, other.number) == ("torch", "COMPILED", 1)
    assert (last.number, last.why[0].words()) == (2, "x: f32[3] → f32[4] (shape)")
    assert (log.event_count, len(log.events)) == (4, 3)
    assert [each.framework for each in log.events_since(1)] == ["torch", "jax"]
    assert log.events_since(4) == []
    assert log.functions() == [("jax", "f"), ("torch", "f")]
    assert log.signatures("jax", "f") == (of(3), of(4))
    log.clear()
    assert log.signatures("jax", "f") == ()


def test_old_events_and_signatures_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_log, "_MAX_EVENTS", 10)
    monkeypatch.setattr(trace_log, "_MAX_SIGNATURES", 4)
    log = TraceLog()
    for size in range(12):
        log.record("jax", CacheMiss("f", of(size), placed=False))
    assert (len(log.events), log.event_count) == (10, 12)
    assert (len(log.events_since(0)), len(log.events_since(11))) == (10, 1)
    assert log.signatures("jax", "f") == tuple(of(size) for size in range(8, 12))
