"""What became of calls, as it is shown."""

from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.frameworks import Program
from ipyjaxbench.reports import Calls, Facts
from ipyjaxbench.retracing import Change, TracedCall, Traces
from ipyjaxbench.retracing.traces import too_many_traces

FIRST = Change("first", new="first call")
CACHED = TracedCall("f", "jax", 3, "f(x)", 2, 1, "CACHED", 0.25, last=2)
TRACED = TracedCall(
    "f", "jax", 3, "f(x)", 1, 1, "TRACED", 2.0, {"compile": 1.0, "trace": 0.5}, (FIRST,), last=1
)


def of(*calls: TracedCall, **facts: Any) -> Traces:
    return Traces("f(x)", {"jax": "0.10"}, calls, **facts)


def head(traces: Traces) -> tuple[str, str, str]:
    block: Any = traces.report().blocks[0]
    return block.figure, block.detail, block.verdict


def lines(traces: Traces) -> list[tuple[str, ...]]:
    (calls,) = [block for block in traces.report().blocks if isinstance(block, Calls)]
    return list(calls.rows)


def facts(traces: Traces) -> dict[str, str]:
    (block,) = [block for block in traces.report().blocks if isinstance(block, Facts)]
    return dict(block.rows)


def test_what_calls_come_to() -> None:
    again = replace(TRACED, state="RECOMPILED", phases={})
    compiled = replace(again, state="COMPILED")
    broken = replace(TRACED, state="BREAK", breaks=2)
    all_of_them = of(TRACED, broken, again, again, compiled, CACHED)
    assert head(all_of_them) == (
        "2 traces, 1 first compilation, 2 recompilations",
        "in 6 calls · 3.00 s of 10.2 s is compilation",
        "TRACED",
    )
    assert all_of_them.compilations == 5
    assert head(of(CACHED)) == ("no trace", "in 1 call", "CACHED")
    assert head(of(CACHED, replace(CACHED, state="BYPASSED")))[2] == "BYPASSED"
    raised = replace(CACHED, state="RAISED")
    assert head(of(replace(CACHED, state="?"), raised))[2] == "RAISED"


def test_where_no_compiled_function_is_called() -> None:
    assert head(of(seen=2)) == ("no call of a compiled function", "in 2 other calls", "NOTHING")
    assert head(of()) == ("no call of a compiled function", "the code calls nothing", "NOTHING")


@pytest.mark.parametrize(
    ("states", "figure", "verdict"),
    [
        (["WOULD-TRACE"], "would be traced", "TRACES"),
        (["WOULD-HIT", "WOULD-HIT"], "would find its trace", "CACHED"),
        (["WOULD-HIT", "?"], "1 of 2 calls not known", "?"),
        (["WOULD-HIT", "WOULD-TRACE", "?"], "1 of 3 calls would be traced", "TRACES"),
    ],
)
def test_calls_that_were_not_made(states: list[str], figure: str, verdict: str) -> None:
    calls = (replace(CACHED, state=state, seconds=0.0) for state in states)
    assert head(of(*calls)) == (figure, "nothing was run", verdict)


def test_the_lines_of_a_call() -> None:
    assert lines(of(TRACED)) == [
        ("3", "f #1", "TRACED", "2.00 s", "first call"),
        ("", "", "", "", "trace 500 ms + compile 1.0 s"),
    ]
    elsewhere = replace(CACHED, line=0, number=1_000)
    assert lines(of(elsewhere)) == [("?", "f #1,000", "CACHED", "250 ms", "")]
    nested = replace(TRACED, phases={}, nested=((1, "g"), (2, "h")), state="BREAK", breaks=3)
    assert [line[:3] for line in lines(of(nested))] == [
        ("3", "f #1", "BREAK 3"),
        ("", "  └ g", "TRACED"),
        ("", "    └ h", "TRACED"),
    ]


def test_calls_that_are_one_line() -> None:
    row = replace(CACHED, times=4, last=5, seconds=1.0)
    assert lines(of(row)) == [("3", "f #2-5", "CACHED", "1.00 s", "250 ms each")]
    apart = replace(row, last=9, why=(FIRST,))
    assert lines(of(apart)) == [
        ("3", "f #2, 4 calls", "CACHED", "1.00 s", "first call · 250 ms each")
    ]


def test_what_the_framework_says() -> None:
    unknown = replace(CACHED, state="?", says="no idea")
    assert lines(of(unknown))[0][-1] == "? (jax says: no idea)"
    assert lines(of(replace(unknown, why=(FIRST,))))[0][-1] == "first call (jax says: no idea)"


def test_what_tracing_prints() -> None:
    four = replace(TRACED, phases={}, printed="a\nb\nc\nd\n")
    assert [line[-1] for line in lines(of(four))][1:] == ["a", "b", "c", "d"]
    more = replace(four, printed="a\nb\nc\nd\ne\nf")
    assert [line[2:] for line in lines(of(more))][-1] == ("prints", "", "... 2 more lines")
    assert "prints" in facts(of(more))
    assert "prints" not in facts(of(TRACED))


def test_many_calls_are_those_at_both_ends() -> None:
    calls = [replace(CACHED, number=n, last=n) for n in range(1, 100)]
    calls[50] = replace(calls[50], state="TRACED")
    shown = lines(of(*calls))
    assert len(shown) == 28 + 1 + 8
    assert shown[28] == ("", "", "...", "", "63 more calls, 1 of them not cached")
    assert (shown[27][1], shown[29][1]) == ("f #28", "f #92")
    assert len(lines(of(*calls[:36]))) == 36
    assert len(lines(of(*calls[:37]))) == 37


def test_facts_below() -> None:
    programs = tuple(Program(f"p{n}", 0.5, "compiled", "jax") for n in (1, 1, 2, 3, 4, 5, 6))
    fixes = tuple(f"fix {n}" for n in range(6))
    shown = of(replace(TRACED, fixes=fixes), internal=programs, error="ValueError: no")
    assert facts(shown) == {
        "raised": "ValueError: no",
        "write": "fix 3",
        "beside": "7 programs outside of these calls, 3.5 s: p1, p2, p3, p4, p5 and 1 more",
        "with": "jax 0.10",
    }
    assert facts(replace(shown, show_internal=True))["beside"].endswith("p4, p5, p6")
    untimed = replace(shown, internal=(Program("p", None, "traced", "jax"),))
    assert facts(untimed)["beside"] == "1 program outside of these calls: p"


def test_a_state_that_does_not_exist_is_refused() -> None:
    assert of(TRACED).check() is None
    assert of(TRACED, replace(TRACED, state="SEEN")).check() == "a call has an unknown state"


def test_the_error_of_too_many_traces() -> None:
    error = too_many_traces([TRACED, TRACED], 1)
    assert isinstance(error, TooManyTracesError)
    assert str(error) == "`f` was traced 2 times, limit 1. Reason in line 3: first call"
    nameless = replace(TRACED, line=0, why=())
    assert str(too_many_traces([nameless], 0)) == "`f` was traced 1 time, limit 0. Reason: unknown"
    again = replace(TRACED, name="g", state="RECOMPILED")
    assert str(too_many_traces([TRACED, again, TRACED], 1)) == (
        "`f`, `g` were traced or compiled 3 times, limit 1. Reason for `g` in line 3: first call"
    )


def test_a_result_is_shown_in_one_line() -> None:
    assert repr(of(TRACED, CACHED)) == "<Traces: 1 trace in 2 calls>"
    assert (of(TRACED, CACHED).seconds, of(TRACED, CACHED).compiling) == (2.25, 1.5)
