"""Segments on one axis: as shapes, as signs, in words."""

import pytest

from ipyjaxbench.reports.pictures import Segment, Stack
from ipyjaxbench.reports.pictures.stack import KINDS
from tests.reports.pictures import svg

FIRST = (
    Segment("trace", 1e-3),
    Segment("lower", 2e-3),
    Segment("compile", 4e-3),
    Segment("run", 3e-3),
)
CALL = Stack((("first call", FIRST, "10.0 ms"), ("steady", (Segment("run", 1e-3),), "1.00 ms")))


def lines(stack: Stack, columns: int = 60, labels: int = 0) -> list[str]:
    return ["".join(text for text, _ in spans) for spans in stack.lines(columns, labels)]


def test_signs_are_as_many_as_their_time() -> None:
    first, steady, legend, more = lines(CALL)
    bar = first.split()[2]
    assert first.startswith("first call  ▒")
    assert first.endswith(" 10.0 ms")
    assert len(bar) == 60 - len("first call") - len("10.0 ms") - 4
    assert [bar.count(sign) for sign in "▒▓█░"] == [4, 8, 15, 12]
    assert steady == "steady      ░░░░ 1.00 ms"
    assert legend.strip() == "▒ trace 1.0 ms · ▓ lower 2.0 ms"
    assert more.strip() == "█ compile 4.0 ms · ░ run 3.0 ms"


def test_bars_stand_under_the_labels_of_the_rest() -> None:
    assert lines(CALL, 80, 14)[1].startswith("steady          ░")


def test_in_a_narrow_page_names_stand_above_their_bars() -> None:
    name, bar, *_ = lines(CALL, 40)
    assert name == "first call  10.0 ms"
    assert len(bar.strip()) == 38


def test_a_row_of_very_short_calls_is_seen() -> None:
    calls = tuple(Segment("run", 1e-7, starts=True) for _ in range(3))
    stack = Stack((("slow", (Segment("run", 1.0),), "1.00 s"), ("f", calls, "300 ns")))
    assert lines(stack)[1].split()[1] == "░"


def test_segments_lie_beside_each_other_in_the_colours_of_their_kinds() -> None:
    rects = svg.shapes(CALL.draw(), "rect")[: len(FIRST)]
    assert [rect["fill"] for rect in rects] == [KINDS[each.kind][0] for each in FIRST]
    starts = [float(rect["x"]) for rect in rects]
    widths = [float(rect["width"]) for rect in rects]
    assert starts[1:] == pytest.approx(
        [s + w for s, w in zip(starts, widths, strict=True)][:-1], abs=0.2
    )
    assert [width / widths[0] for width in widths] == pytest.approx([1, 2, 4, 3], rel=0.01)


def test_a_gap_shows_where_another_call_begins() -> None:
    calls = (Segment("run", 1.0), Segment("run", 1.0, starts=True))
    first, second = svg.shapes(Stack((("f", calls, "2 s"),)).draw(), "rect")[:2]
    end = float(first["x"]) + float(first["width"])
    assert float(second["x"]) == pytest.approx(end + 1, abs=0.01)


def test_a_blank_stands_between_calls_in_text_where_there_is_room() -> None:
    calls = (Segment("trace", 1.0), Segment("run", 2.0), Segment("trace", 1.0, starts=True))
    calls = (*calls, Segment("run", 2.0), Segment("run", 0.1, starts=True))
    assert (
        lines(Stack((("f", calls, "6.1 s"),)))[0]
        == "f  ▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░ ▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░ 6.1 s"
    )


def test_words_are_in_segments_that_have_room_and_in_the_legend() -> None:
    written = svg.words(CALL.draw())
    short = Stack((("f", (Segment("trace", 0.01), Segment("run", 1.0)), "1.01 s"),))
    assert "trace" not in svg.words(short.draw())
    assert {"lower", "compile", "run", "first call", "10.0 ms", "1.00 ms"} <= {*written}
    assert "trace 1.0 ms" in written
    assert {"0", "2 ms", "10 ms"} <= {*written}


def test_the_legend_has_the_time_of_the_first_row_or_of_all() -> None:
    rows = (("f", FIRST, "10.0 ms"), ("g", FIRST, "10.0 ms"))
    assert "trace 1.0 ms" in svg.words(Stack(rows).draw())
    assert "trace 2.0 ms" in svg.words(Stack(rows, alike=True).draw())


def test_it_is_described() -> None:
    assert CALL.describe() == (
        "first call 10.0 ms: trace 1.0 ms, lower 2.0 ms, compile 4.0 ms, run 3.0 ms; steady 1.00 ms"
    )


def test_what_took_no_time_is_drawn() -> None:
    nothing = Stack((("f", (Segment("run", 0.0),), "0 ns"),))
    assert lines(nothing)[0] == "f   0 ns"
    assert svg.words(nothing.draw())


def test_a_kind_that_is_not_known_has_a_look() -> None:
    assert "autotune 1.0 s" in svg.words(Stack((("f", (Segment("autotune", 1.0),), "1 s"),)).draw())
