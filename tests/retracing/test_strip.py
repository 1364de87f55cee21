"""A strip of time for each function."""

import math
from dataclasses import replace

from ipyjaxbench.reports import Segment
from ipyjaxbench.retracing import TracedCall
from ipyjaxbench.retracing.strip import draw_strip

PHASES = {"compile": 1.0, "lower": 0.25, "trace": 0.5}  # by the alphabet, as in a saved record
TRACED = TracedCall("f", "jax", 1, "f(x)", 1, 1, "TRACED", 2.0, PHASES)
CACHED = TracedCall("f", "jax", 1, "f(x)", 2, 3, "CACHED", 0.5)


def test_each_call_is_cut_into_its_phases_or_has_its_state() -> None:
    strip = draw_strip([TRACED, CACHED])
    assert strip is not None
    segments = (
        Segment("trace", 0.5, starts=True), Segment("lower", 0.25), Segment("compile", 1.0),
        Segment("run", 0.25), Segment("run", 0.5, starts=True),
    )  # fmt: skip
    assert strip.rows == (("f", segments, "2.50 s, 1 of 4 traced"),)
    strip = draw_strip([replace(TRACED, state="RECOMPILED", phases={}), CACHED])
    assert strip is not None
    ((_, segments, shown),) = strip.rows
    assert segments[0] == Segment("recompiled", 2.0, starts=True)
    assert shown == "2.50 s, 1 of 4 compiled"


def test_functions_stand_in_the_order_of_their_calls_and_the_legend_is_of_all() -> None:
    strip = draw_strip([TRACED, replace(TRACED, name="g"), replace(TRACED, framework="torch")])
    assert strip is not None
    assert [name for name, _, _ in strip.rows] == ["f (jax)", "g", "f (torch)"]
    assert strip.alike


def test_the_fastest_of_many_functions_stand_together_and_neighbours_of_many_calls() -> None:
    strip = draw_strip([replace(TRACED, name=f"f{n}", seconds=2.0 + n) for n in range(10)])
    assert strip is not None
    names = [name for name, _, _ in strip.rows]
    assert names == [*(f"f{n}" for n in range(2, 10)), "2 other functions"]
    assert strip.rows[-1][2] == "5.00 s, 2 of 2 traced"
    strip = draw_strip([TRACED] * 100)
    assert strip is not None
    ((_, segments, _),) = strip.rows
    assert sum(segment.starts for segment in segments) == 20
    assert math.fsum(segment.seconds for segment in segments) == 200.0


def test_there_is_none_where_nothing_was_traced_or_no_time_is_known() -> None:
    assert draw_strip([CACHED, replace(CACHED, state="RAISED")]) is None
    assert draw_strip([replace(TRACED, seconds=0.0, phases={})]) is None
    assert draw_strip([]) is None
