"""Segments on one axis: as shapes, as signs, in words."""

import pytest

from ipyjaxbench.reports.pictures import Segment, Stack
from ipyjaxbench.reports.pictures.stack import KINDS
from tests.reports.pictures import svg
from tests.reports.pictures.svg import lines

TIMES = {"trace": 1e-3, "lower": 2e-3, "compile": 4e-3, "run": 3e-3}
FIRST = tuple(Segment(kind, seconds) for kind, seconds in TIMES.items())
CALL = Stack((("first call", FIRST, "10.0 ms"), ("steady", (Segment("run", 1e-3),), "1.00 ms")))


def one(*segments: Segment) -> Stack:
    return Stack((("f", segments, "1.01 s"),))


def test_signs_are_as_many_as_their_time() -> None:
    first, steady, legend, more = lines(CALL, 60)
    bar = first.split()[2]
    assert first.startswith("first call  ▒")
    assert first.endswith(" 10.0 ms")
    assert len(bar) == 60 - len("first call") - len("10.0 ms") - 4
    assert [bar.count(sign) for sign in "▒▓█░"] == [4, 8, 15, 12]
    assert steady == "steady      ░░░░ 1.00 ms"
    assert legend.strip() == "▒ trace 1.0 ms · ▓ lower 2.0 ms"
    assert more.strip() == "█ compile 4.0 ms · ░ run 3.0 ms"
    assert lines(CALL, 80, 14)[1].startswith("steady          ░")  # under the labels of the rest
    name, bar, *_ = lines(CALL, 40)  # names stand above their bars
    assert name == "first call  10.0 ms"
    assert len(bar.strip()) == 38


def test_segments_lie_beside_each_other_in_the_colours_of_their_kinds() -> None:
    rects = svg.shapes(CALL.draw(), "rect")[: len(FIRST)]
    assert [rect["fill"] for rect in rects] == [KINDS[each.kind][0] for each in FIRST]
    starts = [float(rect["x"]) for rect in rects]
    widths = [float(rect["width"]) for rect in rects]
    ends = [start + width for start, width in zip(starts, widths, strict=True)]
    assert starts[1:] == pytest.approx(ends[:-1], abs=0.2)
    assert [width / widths[0] for width in widths] == pytest.approx([1, 2, 4, 3], rel=0.01)


def test_a_gap_shows_where_another_call_begins() -> None:
    calls = (Segment("run", 1.0), Segment("run", 1.0, starts=True))
    first, second = svg.shapes(Stack((("f", calls, "2 s"),)).draw(), "rect")[:2]
    end = float(first["x"]) + float(first["width"])
    assert float(second["x"]) == pytest.approx(end + 1, abs=0.01)
    call = (Segment("trace", 1.0), Segment("run", 2.0))
    again = (Segment("trace", 1.0, starts=True), Segment("run", 2.0))
    shown = lines(one(*call, *again, Segment("run", 0.1, starts=True)), 60)[0]
    assert shown == "f  ▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░ ▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░ 1.01 s"


def test_words_are_in_segments_that_have_room_and_in_the_legend() -> None:
    written = svg.words(CALL.draw())
    short = one(Segment("trace", 0.01), Segment("run", 1.0))
    assert "trace" not in svg.words(short.draw())
    assert {"lower", "compile", "run", "first call", "10.0 ms", "1.00 ms"} <= {*written}
    assert {"trace 1.0 ms", "0", "2 ms", "10 ms"} <= {*written}
    rows = (("f", FIRST, "10.0 ms"), ("g", FIRST, "10.0 ms"))  # of the first row, or of all
    assert "trace 1.0 ms" in svg.words(Stack(rows).draw())
    assert "trace 2.0 ms" in svg.words(Stack(rows, alike=True).draw())


def test_what_is_very_short_or_not_known_is_drawn_and_described() -> None:
    calls = tuple(Segment("run", 1e-7, starts=True) for _ in range(3))
    stack = Stack((("slow", (Segment("run", 1.0),), "1.00 s"), ("f", calls, "300 ns")))
    assert lines(stack, 60)[1].split()[1] == "░"
    nothing = one(Segment("run", 0.0))
    assert lines(nothing)[0] == "f   1.01 s"
    assert svg.words(nothing.draw())
    assert "autotune 1.0 s" in svg.words(one(Segment("autotune", 1.0)).draw())
    assert CALL.describe() == (
        "first call 10.0 ms: trace 1.0 ms, lower 2.0 ms, compile 4.0 ms, run 3.0 ms; steady 1.00 ms"
    )
