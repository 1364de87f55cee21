"""Arrays as tiles on devices: as shapes, as signs, in words."""

import pytest

from ipyjaxbench.reports.pictures import Panel, Tiles
from ipyjaxbench.reports.pictures.drawing import COLOURS
from tests.reports.pictures import svg
from tests.reports.pictures.svg import lines

BOTH = Panel(
    "w f32[16,8]",
    (("rows 0-3", 4), ("rows 4-15", 12)),
    (("columns 0-3", 4), ("columns 4-7", 4)),
    (("cpu:0", "cpu:1"), ("cpu:2", "cpu:3")),
)
ROWS = Panel(
    "v f32[8,2]", (("rows 0-3", 4), ("rows 4-7", 4)), (("", 2),), (("cpu:0,1",), ("cpu:2,3",))
)


def test_panels_stand_side_by_side_as_far_as_they_fit() -> None:
    assert lines(Tiles((BOTH, ROWS))) == [
        "w f32[16,8]                               v f32[8,2]",
        "            columns 0-3   columns 4-7     rows 0-3 │ cpu:0,1 │",
        "rows 0-3  │    cpu:0    │    cpu:1    │   rows 4-7 │ cpu:2,3 │",
        "rows 4-15 │    cpu:2    │    cpu:3    │",
    ]
    below = lines(Tiles((BOTH, ROWS)), 50)
    assert below == [*lines(Tiles((BOTH,))), *lines(Tiles((ROWS,)))]
    assert max(map(len, lines(Tiles((BOTH,)), 30))) <= 30
    rects = svg.shapes(Tiles((BOTH,) * 4).draw(), "rect")
    assert len({rect["y"] for rect in rects}) == 4
    assert max(float(rect["x"]) + float(rect["width"]) for rect in rects) <= 640


def test_columns_too_narrow_for_their_names_show_the_indices_alone() -> None:
    names = tuple((f"elements {2 * n}-{2 * n + 1}", 2) for n in range(8))
    strip = Tiles((Panel("x i8[16]", (("", 1),), names, (tuple(f"cpu:{n}" for n in range(8)),)),))
    assert lines(strip)[1].split() == [f"{2 * n}-{2 * n + 1}" for n in range(8)]
    assert {"0-1", "14-15"} <= {*svg.words(strip.draw())}


def test_tiles_are_as_large_as_their_parts_and_have_the_colour_of_their_first_device() -> None:
    rects = svg.shapes(Tiles((BOTH, ROWS)).draw(), "rect")
    heights = [float(rect["height"]) + 2 for rect in rects[:4]]
    assert heights == pytest.approx([37.5, 37.5, 112.5, 112.5], abs=0.2)
    fills = [rect["fill"] for rect in rects]
    assert fills == [*COLOURS[:4], COLOURS[0], COLOURS[2]]


def test_a_part_without_numbers_has_room_for_words_and_names_are_not_cut_where_there_is() -> None:
    empty = Panel("x", (("row 0", 1), ("no rows", 0)), (("", 1),), (("cpu:0",), ("cpu:1,2",)))
    drawing = Tiles((empty,)).draw()
    assert min(float(rect["height"]) for rect in svg.shapes(drawing, "rect")) >= 18
    assert {"cpu:0", "cpu:1,2", "no rows"} <= {*svg.words(drawing)}
    rows = tuple((f"rows {64 * n}-{64 * n + 63}", 64) for n in range(8))
    tall = Panel("w", rows, (("", 1024),), tuple((f"rank:{n}",) for n in range(8)))
    assert {words for words, _ in rows} <= {*svg.words(Tiles((tall,)).draw())}


def test_parts_on_other_devices_of_the_same_ranks_have_other_colours_and_are_named() -> None:
    cells = (("rank:0,1 gpu:0,2", "rank:0,1 gpu:1,3"),)
    panel = Panel("x", (("", 4),), (("columns 0-1", 2), ("columns 2-3", 2)), cells)
    drawing = Tiles((panel,)).draw()
    first, second = [rect["fill"] for rect in svg.shapes(drawing, "rect")]
    assert first != second
    assert {"0,1 gpu:0,2", "0,1 gpu:1,3"} <= {*svg.words(drawing)}


def test_devices_that_do_not_fit_are_their_numbers_or_nothing() -> None:
    cells = tuple(f"cpu:{10 * n}" for n in range(14)), ("cpu:1000-2000",) * 14
    parts = tuple((f"columns {n}", 1) for n in range(14))
    written = svg.words(Tiles((Panel("x", (("", 1), ("", 1)), parts, cells),)).draw())
    assert "120" in written
    assert not any("2000" in words for words in written)


def test_it_is_described() -> None:
    assert Tiles((BOTH, ROWS)).describe() == (
        "w f32[16,8], v f32[8,2]: rows 0-3, columns 0-3 on cpu:0; rows 0-3, columns 4-7 on cpu:1;"
        " rows 4-15, columns 0-3 on cpu:2; rows 4-15, columns 4-7 on cpu:3; rows 0-3 on cpu:0,1;"
        " rows 4-7 on cpu:2,3"
    )
    whole = Panel("n", (("", 1),), (("", 1),), (("cpu:0-7",),))
    assert Tiles((whole,)).describe() == "n: all on cpu:0-7"
    assert Tiles((BOTH,) * 10).describe().endswith(" and 16 more")
