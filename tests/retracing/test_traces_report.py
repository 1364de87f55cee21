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


STALE = (Change("stale", "s", new="was 1.0 when f was traced, is 2.0"),)
SHAPE = Change("shape", "x", "f32[3]", "f32[4]")
AGAIN = replace(TRACED, state="RECOMPILED", why=(SHAPE,))
BROKEN = replace(TRACED, state="BREAK", breaks=2, phases={})


def in_states(*states: str) -> Traces:
    """Calls of which nothing was traced, or that were not made."""
    seconds = 0.0 if any(state.startswith("WOULD") for state in states) else 0.25
    return of(*(replace(CACHED, state=state, seconds=seconds) for state in states))


@pytest.mark.parametrize(
    ("traces", "shown"),
    [
        (of(TRACED, CACHED),
         ("67 % of 2.25 s was tracing and compiling", "reason: first call", "TRACED")),
        (of(TRACED, AGAIN, AGAIN, CACHED),
         ("72 % of 6.25 s was tracing and compiling", "for 2 reasons", "TRACED")),
        (of(replace(TRACED, phases={"trace": 1.0})),
         ("50 % of 2.00 s was tracing", "reason: first call", "TRACED")),
        (of(TRACED, BROKEN, CACHED),  # phases are not known
         ("2 calls compiled", "of 3 · reason: first call", "TRACED")),
        (of(seen=2), ("no compiled function was called", "2 other calls", "")),
        (of(), ("no compiled function was called", "the code makes no calls", "")),
        # The gravest state is told.
        (in_states("CACHED"), ("only cache hits", "in 1 call", "CACHED")),
        (in_states("CACHED", "SLOW-PATH"), ("only cache hits", "in 2 calls", "CACHED")),
        (in_states("CACHED", "?"), ("may have been compiled", "in 1 of 2 calls", "?")),
        (in_states("BYPASSED", "?"), ("compilation is turned off", "in 1 of 2 calls", "BYPASSED")),
        (in_states("BYPASSED"), ("compilation is turned off", "in 1 call", "BYPASSED")),
        (in_states("EAGER-FALLBACK", "BYPASSED"),
         ("could not be compiled", "in 1 of 2 calls", "EAGER-FALLBACK")),
        (in_states("EAGER-FALLBACK", "RAISED"),
         ("raised an exception", "in 1 of 2 calls", "RAISED")),
        # Where compilation was turned off, there is nothing to have a share in.
        (of(TRACED, CACHED, replace(CACHED, state="BYPASSED", seconds=4.0)),
         ("67 % of 2.25 s was tracing and compiling", "reason: first call", "TRACED")),
        (of(TRACED, BROKEN, CACHED, replace(CACHED, state="BYPASSED")),
         ("2 calls compiled", "of 3 · reason: first call", "TRACED")),
        (of(replace(CACHED, state="BYPASSED"), replace(CACHED, state="STALE", why=STALE), CACHED),
         ("stale program", "1 of 2 calls: the code has changed since", "STALE")),
        (in_states("WOULD-TRACE"), ("would be traced", "nothing was run", "TRACES")),
        (in_states("WOULD-HIT", "WOULD-HIT"),
         ("would hit the cache", "nothing was run", "CACHED")),
        (in_states("WOULD-HIT", "WOULD-COMPILE"),
         ("1 of 2 calls would be compiled", "nothing was run", "COMPILES")),
        (in_states("WOULD-HIT", "?"),
         ("1 of 2 calls cannot be predicted", "nothing was run", "?")),
        (in_states("WOULD-HIT", "WOULD-TRACE", "?"),
         ("1 of 3 calls would be traced", "nothing was run", "TRACES")),
    ],
)  # fmt: skip
def test_the_headline_is_what_compiling_took_or_a_state(
    traces: Traces, shown: tuple[str, str, str]
) -> None:
    assert head(traces) == shown


def test_of_calls_without_compilation_among_others_that_is_said() -> None:
    eager = replace(CACHED, state="BYPASSED", times=2)
    told = "not compiled  2 calls ran eagerly: compilation was turned off"
    assert [told in str(of(*calls)) for calls in ((CACHED, eager), (eager,))] == [True, False]


def test_calls_are_counted_by_what_became_of_them() -> None:
    compiled = replace(TRACED, state="COMPILED")
    counted = of(TRACED, BROKEN, AGAIN, AGAIN, compiled, CACHED)
    assert (counted.traces, counted.recompilations, counted.first_compilations) == (2, 2, 1)
    assert (counted.compilations, counted.count) == (5, 6)
    assert repr(of(TRACED, CACHED)) == "<Traces: 1 trace in 2 calls>"
    assert (of(TRACED, CACHED).seconds, of(TRACED, CACHED).compiling) == (2.25, 1.5)
    assert of(TRACED).check() is None
    assert of(TRACED, replace(TRACED, state="SEEN")).check() == "a call has an unknown state"


def test_a_strip_stands_above_the_reasons_and_the_calls_are_folded() -> None:
    blocks = of(TRACED, AGAIN, CACHED).report().blocks
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


ROW = replace(CACHED, times=4, last=5, seconds=1.0)
UNKNOWN = replace(CACHED, state="?", says="no idea")
RAISED = replace(CACHED, state="RAISED", says="ValueError: no: that is how it is")


@pytest.mark.parametrize(
    ("traces", "line"),
    [
        (of(TRACED), ("3", "f #1", "TRACED", "2.00 s", "first call")),
        (of(replace(CACHED, line=0, number=1_000)), ("?", "f #1,000", "CACHED", "250 ms", "")),
        (of(ROW), ("3", "f #2-5", "CACHED", "1.00 s", "250 ms each")),
        (of(replace(ROW, last=9, why=(FIRST,))),
         ("3", "f #2, 4 calls", "CACHED", "1.00 s", "first call · 250 ms each")),
        (of(UNKNOWN), ("3", "f #2", "?", "250 ms", "jax: no idea")),
        (of(replace(UNKNOWN, why=(FIRST,))),
         ("3", "f #2", "?", "250 ms", "first call (jax: no idea)")),
        (of(RAISED), ("3", "f #2", "RAISED", "250 ms", "ValueError: no: that is how it is")),
        (of(RAISED, error="ValueError: no"),  # it is said once
         ("3", "f #2", "RAISED", "250 ms", "that is how it is")),
        (of(RAISED, error=RAISED.says), ("3", "f #2", "RAISED", "250 ms", "see above")),
    ],
)  # fmt: skip
def test_the_line_of_a_call(traces: Traces, line: tuple[str, ...]) -> None:
    assert lines(traces) == [line]


def test_the_lines_of_a_call_with_phases_and_calls_inside_and_of_one_that_was_not_made() -> None:
    bypassed = replace(TRACED, state="EAGER-FALLBACK")
    assert lines(of(bypassed))[1:] == [("", "", "", "", "trace 500 ms + compile 1.0 s")]
    nested = replace(BROKEN, nested=((1, "g"), (2, "h")), breaks=3)
    assert lines(of(nested)) == [
        ("3", "f #1", "BREAK", "2.00 s", "first call · 3 graph breaks"),
        ("", "  └ g", "TRACED", "", ""),
        ("", "    └ h", "TRACED", "", ""),
    ]
    predicted = in_states("?", "WOULD-HIT")
    assert tables(predicted)[0].head == ("line", "call", "state", "why")
    assert lines(predicted)[0] == ("3", "f #2", "?", "")
    assert lines(of(replace(UNKNOWN, seconds=0.0)))[0][-1] == "no idea"


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
    also = "7 programs outside these calls, another 3.5 s: p1, p2, p3, p4, p5 and 1 more"
    assert facts(shown) == [
        ("raised", "ValueError: no"), ("fix", "fix 0"), ("fix", "fix 1"), ("fix", "fix 2"),
        ("fix", "fix 3"), ("also compiled", also),
    ]  # fmt: skip
    assert facts(replace(shown, show_internal=True))[-1][1].endswith("p4, p5, p6")
    untimed = replace(shown, internal=(Program("p", None, "traced", "jax"),))
    assert facts(untimed)[-1][1] == "1 program outside these calls: p"
    full = Change("guard", "limit", new="recompile limit (8) reached")
    eager = replace(CACHED, state="EAGER-FALLBACK", why=(full, FIRST))
    told = "2 calls ran eagerly: recompile limit (8) reached"
    assert facts(of(TRACED, eager, eager)) == [("not compiled", told)]
    assert facts(of(replace(eager, why=()))) == [("not compiled", "1 call ran eagerly")]


def test_no_fix_of_a_stale_program_is_left_out() -> None:
    other = replace(TRACED, fixes=tuple(f"fix {n}" for n in range(6)))
    stale = [replace(CACHED, why=STALE, fixes=(f"mend {n}",)) for n in (*range(6), 0)]
    told = [text for label, text in facts(of(other, *stale)) if label == "fix"]
    assert told == [*(f"fix {n}" for n in range(4)), *(f"mend {n}" for n in range(6))]


def test_the_error_of_too_many_traces() -> None:
    error = too_many_traces([TRACED, TRACED], 1)
    assert isinstance(error, TooManyTracesError)
    assert str(error) == "`f` was traced 2 times, limit 1. Reason in line 3: first call"
    nameless = replace(TRACED, line=0, why=())
    assert str(too_many_traces([nameless], 0)) == "`f` was traced 1 time, limit 0. Reason: unknown"
    again = replace(AGAIN, name="g", why=(FIRST,))
    assert str(too_many_traces([TRACED, again, TRACED], 1)) == (
        "`f`, `g` were traced or compiled 3 times, limit 1. Reason for `g` in line 3: first call"
    )


def test_what_is_stale_is_shown_also_where_the_calls_are_folded_or_cut() -> None:
    words = "s was 1.0 when f was traced, is 2.0"
    stale = replace(CACHED, state="STALE", why=STALE)
    assert facts(of(AGAIN, TRACED, stale, stale)) == [("stale", words)]
    assert ("stale", words) not in facts(of(stale, CACHED))  # the table of calls is open
    cut = [*[CACHED] * 18, stale, *[CACHED] * 18]
    assert facts(of(*cut)) == [("stale", words)]
    traced = replace(TRACED, why=(FIRST, *STALE))
    assert facts(of(traced, CACHED)) == [("stale", words)]
    assert facts(of(traced)) == []
    first, beside, *_ = lines(of(traced))
    assert (first[2], first[-1]) == ("STALE", words)
    assert (beside[2], beside[-1]) == ("TRACED", "first call")
    many = [replace(stale, why=(replace(STALE[0], path=f"s{i}"),)) for i in range(9)]
    *first, last = facts(of(TRACED, *many))
    assert len(first) == 4
    assert last == ("stale", "5 more")
