"""What became of calls, as it is shown."""

from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.frameworks import Program
from ipyjaxbench.reports import Calls, Details, Facts, Footer
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


def tables(traces: Traces) -> list[Calls]:
    """The tables of reasons and of calls, that of calls folded or not."""
    blocks = traces.report().blocks
    unfolded = [each for b in blocks for each in (b.blocks if isinstance(b, Details) else (b,))]
    return [block for block in unfolded if isinstance(block, Calls)]


def lines(traces: Traces) -> list[tuple[str, ...]]:
    (calls,) = [table for table in tables(traces) if table.head[0] == "line"]
    return list(calls.rows)


def facts(traces: Traces) -> list[tuple[str, str]]:
    (block,) = [block for block in traces.report().blocks if isinstance(block, Facts)]
    return list(block.rows)


def test_the_headline_is_how_much_was_compiling_and_for_how_many_reasons() -> None:
    assert head(of(TRACED, CACHED)) == (
        "67 % of 2.25 s was tracing and compiling", "reason: first call", "TRACED",
    )  # fmt: skip
    shape = Change("shape", "x", "f32[3]", "f32[4]")
    again = replace(TRACED, state="RECOMPILED", why=(shape,))
    assert head(of(TRACED, again, again, CACHED)) == (
        "72 % of 6.25 s was tracing and compiling", "for 2 reasons", "TRACED",
    )  # fmt: skip
    traced = replace(TRACED, phases={"trace": 1.0})
    assert head(of(traced))[0] == "50 % of 2.00 s was tracing"


def test_where_the_phases_are_not_known_calls_are_counted() -> None:
    broken = replace(TRACED, state="BREAK", breaks=2, phases={})
    assert head(of(TRACED, broken, CACHED)) == (
        "2 calls compiled", "of 3 · reason: first call", "TRACED",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("states", "figure", "verdict"),
    [
        (["CACHED"], "only cache hits", "CACHED"),
        (["CACHED", "SLOW-PATH"], "only cache hits", "CACHED"),
        (["CACHED", "?"], "may have been compiled", "?"),
        (["BYPASSED", "?"], "compilation is turned off", "BYPASSED"),
        (["EAGER-FALLBACK", "BYPASSED"], "could not be compiled", "EAGER-FALLBACK"),
        (["EAGER-FALLBACK", "RAISED"], "raised an exception", "RAISED"),
    ],
)
def test_where_nothing_was_traced_the_gravest_state_is_told(
    states: list[str], figure: str, verdict: str
) -> None:
    calls = [replace(CACHED, state=state) for state in states]
    count = "1 call" if len(calls) == 1 else "2 calls"
    assert head(of(*calls)) == (figure, f"in {count}", verdict)


def test_calls_are_counted_by_what_became_of_them() -> None:
    again = replace(TRACED, state="RECOMPILED")
    broken, compiled = replace(TRACED, state="BREAK"), replace(TRACED, state="COMPILED")
    counted = of(TRACED, broken, again, again, compiled, CACHED)
    assert (counted.traces, counted.recompilations, counted.first_compilations) == (2, 2, 1)
    assert (counted.compilations, counted.count) == (5, 6)


def test_a_strip_stands_above_the_reasons_and_the_calls_are_folded() -> None:
    shape = replace(TRACED, why=(Change("shape", "x", "f32[3]", "f32[4]"),))
    blocks = of(TRACED, shape, CACHED).report().blocks
    assert [type(block).__name__ for block in blocks] == [
        "Headline", "Stack", "Calls", "Facts", "Details", "Footer",
    ]  # fmt: skip
    assert isinstance(blocks[4], Details)
    assert blocks[4].summary == "3 calls"
    assert blocks[5] == Footer(("jax 0.10",))
    assert "▒▒▒▒▒▒" in str(of(TRACED, CACHED))
    plain = of(CACHED).report().blocks
    assert [type(block).__name__ for block in plain] == ["Headline", "Facts", "Calls", "Footer"]


def test_a_single_reason_that_is_long_has_a_table_too() -> None:
    shapes = [
        replace(TRACED, why=(Change("shape", "x", f"f32[{n}]", f"f32[{n + 1}]"),)) for n in (3, 4)
    ]
    reasons, _ = tables(of(*shapes))
    assert head(of(*shapes))[1] == "for 1 reason"
    assert reasons.head == ("calls", "time", "reason")
    assert reasons.rows == (("2", "4.00 s", "x: 3 shapes (f32[3], f32[4], f32[5])"),)


def test_the_cheapest_of_many_reasons_stand_together() -> None:
    calls = [
        replace(TRACED, name=f"f{n}", seconds=9.0 - n, why=(Change("guard", new=f"reason {n}"),))
        for n in range(8)
    ]
    reasons, _ = tables(of(*calls))
    assert reasons.head == ("calls", "time", "function", "reason")
    assert reasons.rows[0] == ("1", "9.00 s", "f0", "reason 0")
    assert reasons.rows[5:] == (("3", "9.00 s", "", "3 other reasons"),)


def test_where_no_compiled_function_is_called() -> None:
    figure = "no compiled function was called"
    assert head(of(seen=2)) == (figure, "2 other calls", "")
    assert head(of()) == (figure, "the code makes no calls", "")


@pytest.mark.parametrize(
    ("states", "figure", "verdict"),
    [
        (["WOULD-TRACE"], "would be traced", "TRACES"),
        (["WOULD-HIT", "WOULD-HIT"], "would hit the cache", "CACHED"),
        (["WOULD-HIT", "?"], "1 of 2 calls cannot be predicted", "?"),
        (["WOULD-HIT", "WOULD-TRACE", "?"], "1 of 3 calls would be traced", "TRACES"),
    ],
)
def test_calls_that_were_not_made(states: list[str], figure: str, verdict: str) -> None:
    calls = (replace(CACHED, state=state, seconds=0.0) for state in states)
    traces = of(*calls)
    assert head(traces) == (figure, "nothing was run", verdict)
    assert tables(traces)[0].head == ("line", "call", "state", "why")
    assert lines(traces)[0] == ("3", "f #2", states[0], "")


def test_the_lines_of_a_call() -> None:
    assert lines(of(TRACED)) == [("3", "f #1", "TRACED", "2.00 s", "first call")]
    bypassed = replace(TRACED, state="EAGER-FALLBACK")
    assert lines(of(bypassed))[1:] == [("", "", "", "", "trace 500 ms + compile 1.0 s")]
    elsewhere = replace(CACHED, line=0, number=1_000)
    assert lines(of(elsewhere)) == [("?", "f #1,000", "CACHED", "250 ms", "")]
    nested = replace(TRACED, phases={}, nested=((1, "g"), (2, "h")), state="BREAK", breaks=3)
    assert lines(of(nested)) == [
        ("3", "f #1", "BREAK", "2.00 s", "first call · 3 graph breaks"),
        ("", "  └ g", "TRACED", "", ""),
        ("", "    └ h", "TRACED", "", ""),
    ]


def test_calls_that_are_one_line() -> None:
    row = replace(CACHED, times=4, last=5, seconds=1.0)
    assert lines(of(row)) == [("3", "f #2-5", "CACHED", "1.00 s", "250 ms each")]
    apart = replace(row, last=9, why=(FIRST,))
    assert lines(of(apart)) == [
        ("3", "f #2, 4 calls", "CACHED", "1.00 s", "first call · 250 ms each")
    ]


def test_calls_that_ran_eagerly_are_told_among_others() -> None:
    full = Change("guard", "limit", new="recompile limit (8) reached")
    eager = replace(CACHED, state="EAGER-FALLBACK", why=(full, FIRST))
    assert facts(of(TRACED, eager, eager)) == [
        ("not compiled", "2 calls ran eagerly: recompile limit (8) reached")
    ]
    assert facts(of(replace(eager, why=()))) == [("not compiled", "1 call ran eagerly")]


def test_what_the_framework_says() -> None:
    unknown = replace(CACHED, state="?", says="no idea")
    assert lines(of(unknown))[0][-1] == "jax: no idea"
    assert lines(of(replace(unknown, why=(FIRST,))))[0][-1] == "first call (jax: no idea)"
    assert lines(of(replace(unknown, seconds=0.0)))[0][-1] == "no idea"


def test_an_error_is_said_once() -> None:
    raised = replace(CACHED, state="RAISED", says="ValueError: no: that is how it is")
    assert lines(of(raised))[0][-1] == "ValueError: no: that is how it is"
    assert lines(of(raised, error="ValueError: no"))[0][-1] == "that is how it is"
    assert lines(of(raised, error=raised.says))[0][-1] == "see above"


def test_what_tracing_prints() -> None:
    four = replace(TRACED, phases={}, printed="a\nb\nc\nd\n")
    assert [line[-1] for line in lines(of(four))][1:] == ["a", "b", "c", "d"]
    more = replace(four, printed="a\nb\nc\nd\ne\nf")
    assert [line[2:] for line in lines(of(more))][-1] == ("printed", "", "... 2 more lines")
    assert facts(of(more)) == [
        ("printed", "print() runs only while a function is traced, not on a cache hit")
    ]
    assert facts(of(TRACED)) == []


def test_many_calls_are_those_at_both_ends() -> None:
    calls = [replace(CACHED, number=n, last=n) for n in range(1, 100)]
    calls[50] = replace(calls[50], state="TRACED")
    shown = lines(of(*calls))
    assert len(shown) == 16 + 1 + 4
    assert shown[16] == ("", "", "...", "", "79 more calls, 1 of them not cached")
    assert (shown[15][1], shown[17][1]) == ("f #16", "f #96")
    assert len(lines(of(*calls[:20]))) == 20
    assert len(lines(of(*calls[:21]))) == 21


def test_facts_below() -> None:
    programs = tuple(Program(f"p{n}", 0.5, "compiled", "jax") for n in (1, 1, 2, 3, 4, 5, 6))
    fixes = tuple(f"fix {n}" for n in range(6))
    shown = of(replace(TRACED, fixes=fixes), internal=programs, error="ValueError: no")
    assert facts(shown) == [
        ("raised", "ValueError: no"),
        ("fix", "fix 0"), ("fix", "fix 1"), ("fix", "fix 2"), ("fix", "fix 3"),
        (
            "also compiled",
            "7 programs outside these calls, another 3.5 s: p1, p2, p3, p4, p5 and 1 more",
        ),
    ]  # fmt: skip
    assert facts(replace(shown, show_internal=True))[-1][1].endswith("p4, p5, p6")
    untimed = replace(shown, internal=(Program("p", None, "traced", "jax"),))
    assert facts(untimed)[-1][1] == "1 program outside these calls: p"


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
