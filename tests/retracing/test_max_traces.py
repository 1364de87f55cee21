"""Blocks and functions that may be traced only so often."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest

from ipyjaxbench import assert_max_traces, trace_cached
from ipyjaxbench.errors import OptionError, SnippetError, TooManyTracesError
from ipyjaxbench.retracing import CacheMiss
from ipyjaxbench.retracing.trace_log import TraceLog
from tests.retracing.fake import Jitted, TracingFramework, signature


def traced(log: TraceLog, name: str, *sizes: int) -> None:
    """Have the framework report traces."""
    for size in sizes:
        log.record("fake", CacheMiss(name, signature(size), placed=False))


def test_what_was_traced_in_a_block_is_known(fake: TracingFramework, log: TraceLog) -> None:
    traced(log, "f", 1)
    with trace_cached() as block:
        assert block.traces.calls == ()
        traced(log, "f", 2)
        traced(log, "g", 1, 2)
    assert [(call.name, call.number) for call in block.traces.calls] == [
        ("f", 1), ("g", 1), ("g", 2),
    ]  # fmt: skip
    assert (block.traces.code, block.traces.frameworks) == ("with trace_cached()", {"fake": "1.0"})
    assert block.traces.calls[0].why[0].words() == "n: f32[1] → f32[2] (shape)"
    assert (str(block), repr(block)) == (str(block.traces), repr(block.traces))
    assert block._repr_mimebundle_()["text/plain"] == str(block.traces)


def test_more_traces_than_allowed_fail_at_the_end_as_with_the_fixture(
    max_traces: Callable[[int], AbstractContextManager[object]],
    fake: TracingFramework,
    log: TraceLog,
) -> None:
    def fail() -> None:
        traced(log, "f", 1)
        raise ZeroDivisionError

    with trace_cached(0) as block:
        pass
    assert (block.traces.calls, block.traces.frameworks) == ((), {})
    with trace_cached(2):
        traced(log, "f", 1, 2)
    with pytest.raises(TooManyTracesError) as raised, trace_cached(1) as block:
        traced(log, "g", 1, 2, 3)
    assert str(raised.value) == (
        "`g` was traced 3 times, limit 1. Reason: n: f32[1] → f32[2] (shape)"
    )
    assert len(block.traces.calls) == 3
    with pytest.raises(ZeroDivisionError), trace_cached(0) as block:
        fail()  # its own error is the one that is raised
    assert block.traces.traces == 1
    with max_traces(1):
        traced(log, "h", 1)
    with pytest.raises(TooManyTracesError), max_traces(1):
        traced(log, "h", 2, 3)


def test_the_fixture_learns_from_what_a_test_compiles_before_the_block(
    fake: TracingFramework, log: TraceLog, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("max_traces")
    assert len(fake.listeners) == 1


NUMBER = "must be a whole number, 0 or more; got"
STALE: Any = "raise"


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        *((partial(trace_cached, n), f"max_traces {NUMBER} {n!r}") for n in (-1, True, 1.0, "1")),
        *((partial(assert_max_traces, print, n), f"n {NUMBER} {n!r}") for n in (-1, True, 1.0)),
        (lambda: trace_cached(1, stale=STALE), 'stale must be "ignore" or "error"; got \'raise\''),
        (lambda: assert_max_traces(print, 1, stale=STALE),
         'stale must be "ignore" or "error"; got \'raise\''),
        (lambda: assert_max_traces(print, 1, stale="error"),
         'stale="error" needs a compiled function, and `print` is not: pass what jax.jit gives'),
        (lambda: assert_max_traces(3, 1),  # type: ignore[arg-type]
         "3 is not callable; use assert_max_traces(f, 1)"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(refused: Callable[[], object], told: str) -> None:
    with pytest.raises(OptionError) as raised:
        refused()
    assert str(raised.value) == told


def test_each_call_of_a_compiled_function_counts(fake: TracingFramework, log: TraceLog) -> None:
    with pytest.raises(SnippetError) as refused:
        assert_max_traces(Jitted("f"), 1)
    assert str(refused.value) == (
        "fake does not report when `f` is traced: pass the function before it is compiled, or use"
        " %%trace_cached --max-traces"
    )
    fake.reports = True
    f = Jitted("f")
    guarded = assert_max_traces(f, 1)
    reports: list[tuple[str, int]] = [("f", 1), ("g", 1), ("g", 2), ("f", 2)]
    f.body = lambda: traced(log, *reports.pop(0)) if reports else None
    assert [guarded(7), guarded(7), guarded(7)] == [7, 7, 7]
    with pytest.raises(TooManyTracesError) as raised:
        guarded(7)
    assert str(raised.value) == (
        "`f` was traced 2 times, limit 1. Reason: n: f32[1] → f32[2] (shape)"
    )
    assert guarded(7) == 7  # nothing is traced in this call
    assert f.calls == [7] * 5


def test_of_a_plain_function_the_runs_that_trace_it_count(fake: TracingFramework) -> None:
    calls: list[int] = []

    def step(n: int) -> int:
        calls.append(n)
        return n

    guarded = assert_max_traces(step, 2)
    assert guarded.__name__ == "step"
    assert guarded(9) == 9  # it runs by itself
    fake.traces = True
    assert [guarded(1), guarded(2)] == [1, 2]
    with pytest.raises(TooManyTracesError) as raised:
        guarded(3)
    assert str(raised.value) == (
        "`step` was traced 3 times, limit 2. Reason: n: f32[2] → f32[3] (shape)"
    )
    assert calls == [9, 1, 2]  # the function does not run once more
    assert assert_max_traces(step, 0) is not guarded
