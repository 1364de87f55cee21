"""Lines and dots over two axes: as shapes, as letters, in words."""

import itertools
import string

import pytest

from ipyjaxbench.reports.pictures import Axis, Chart, Mark, Series
from ipyjaxbench.reports.pictures.drawing import COLOURS
from ipyjaxbench.reports.pictures.letters import choose_letters
from tests.reports.pictures import svg
from tests.reports.pictures.svg import lines

UP = ((1.0, 1e-3, 5e-4, 2e-3), (10.0, 1e-2, 1e-2, 1e-2), (100.0, 1e-1, 1e-2, 10.0))
DOWN = tuple((x, y, y, y) for (x, *_), (_, y, *_) in zip(UP, reversed(UP), strict=True))
N, TIME = Axis("n"), Axis("time per call", "s")
CROSSING = Chart(N, TIME, (Series("ape", UP), Series("bee", DOWN)), (Mark(10, "they meet", 1e-2),))
DATES = Axis("measured", "date", log=False)
DAYS = tuple((day * 86400.0, 1e-3, 9e-4, 2e-3) for day in (10.5, 11.5, 12.5))
OVER_TIME = Chart(DATES, TIME, (Series("f", DAYS),), (Mark(11.5 * 86400, "jax 0.10.2"),))


def line_points(chart: Chart) -> list[list[tuple[float, float]]]:
    """The points of the lines through series."""
    found = [s["points"] for s in svg.shapes(chart.draw(), "polyline") if s["stroke"] in COLOURS]
    return [[tuple(map(float, p.split(","))) for p in points.split()] for points in found]  # type: ignore[misc]


def test_scales_are_logarithmic_unless_they_have_dates() -> None:
    (first, middle, last), _ = line_points(CROSSING)
    assert middle[0] - first[0] == pytest.approx(last[0] - middle[0], abs=0.2)
    assert first[1] - middle[1] == pytest.approx(middle[1] - last[1], abs=0.2)
    ((first, middle, last),) = line_points(OVER_TIME)
    assert middle[0] - first[0] == pytest.approx(last[0] - middle[0], abs=0.2)
    assert {"Jan 12", "Jan 13", "measured", "time per call"} <= {*svg.words(OVER_TIME.draw())}
    once = Chart(DATES, TIME, (Series("f", DAYS[:1]),))  # one moment alone
    assert any("f" in line.split("│")[-1] for line in lines(once))
    assert once.draw().svg()


def test_axes_have_ticks_with_units_and_lines_have_names_at_their_ends() -> None:
    drawing = CROSSING.draw()
    written = svg.words(drawing)
    assert {"1 ms", "10 ms", "100 ms", "1", "10", "100", "n", "time per call"} <= {*written}
    places = {w: s for s, w in zip(svg.shapes(drawing, "text"), written, strict=True)}
    (*_, up_end), (*_, down_end) = line_points(CROSSING)
    for name, end in (("ape", up_end), ("bee", down_end)):
        assert float(places[name]["x"]) > end[0]
        assert float(places[name]["y"]) == pytest.approx(end[1] + 4, abs=0.2)


def test_names_that_would_overlap_are_moved_apart() -> None:
    chart = Chart(N, TIME, tuple(Series(name, UP) for name in ("one", "two", "three")))
    drawing = chart.draw()
    texts = zip(svg.shapes(drawing, "text"), svg.words(drawing), strict=True)
    heights = [float(s["y"]) for s, written in texts if written in ("one", "two", "three")]
    assert [below - above for above, below in itertools.pairwise(heights)] == [14, 14]


def test_ticks_stand_at_the_values_that_were_measured() -> None:
    points = tuple((n, n * 1e-6, n * 1e-6, n * 1e-6) for n in (16.0, 64.0, 1024.0))
    chart = Chart(Axis("n", at=(16.0, 64.0, 1024.0)), TIME, (Series("f", points),))
    assert {"16", "64", "1,024"} <= {*svg.words(chart.draw())}
    assert lines(chart)[-2].split() == ["16", "64", "1,024"]


def test_intervals_are_a_band_within_the_frame() -> None:
    band, _ = svg.shapes(CROSSING.draw(), "polygon")
    points = [tuple(map(float, p.split(","))) for p in band["points"].split()]
    assert len(points) == 2 * len(UP)
    assert min(y for _, y in points) >= 20


def test_a_line_that_is_nearly_flat_stays_so() -> None:
    """Upwards there is a factor of two at least."""
    points = tuple((x, y, y, y) for x, y in ((1.0, 1e-3), (10.0, 1.5e-3)))
    _, up = Chart(N, TIME, (Series("f", points),)).scales()
    assert [up.place(y) for y in (1e-3, 1.5e-3)] == pytest.approx([0.207, 0.793], abs=1e-3)


def test_of_very_many_lines_none_looks_as_another() -> None:
    drawing = Chart(N, TIME, tuple(Series(f"l{n}", UP) for n in range(17))).draw()
    looks = [(s["stroke"], s.get("stroke-dasharray")) for s in svg.shapes(drawing, "polyline")
             if s["stroke"] in COLOURS]  # fmt: skip
    assert len({*looks}) == len(looks) == 17
    outlines = [s["d"] for s in svg.shapes(drawing, "path")]
    assert len({*outlines[:15:3]}) == 5  # neighbours have marks of their own


def test_limits_are_dashed_and_dots_are_not_joined() -> None:
    roof = Series("float32 2 GFLOP/s", ((0.1, 2e9, 2e9, 2e9), (10.0, 2e9, 2e9, 2e9)), limit=True)
    dot = Series("f(x)", ((1.0, 1e9, 9e8, 1.1e9),), line=False)
    chart = Chart(Axis("intensity, FLOP/B", "FLOP/B"), Axis("speed", "FLOP/s"), (roof, dot))
    assert line_points(chart) == []
    assert [s["stroke-dasharray"] for s in svg.shapes(chart.draw(), "polyline")
            if "stroke-dasharray" in s] == ["6 4"]  # fmt: skip
    assert {"float32 2 GFLOP/s", "f(x)", "1 GFLOP/s"} <= {*svg.words(chart.draw())}


def test_marks_are_named() -> None:
    assert "they meet" in svg.words(CROSSING.draw())
    (up,) = (s for s in svg.shapes(CROSSING.draw(), "polyline") if "stroke-dasharray" in s)
    (_, top), (_, ring) = (p.split(",") for p in up["points"].split())
    assert float(top) == 20 < float(ring) < 250  # a line leads from the place to its name above
    assert lines(CROSSING)[-2].strip() == "○ they meet"
    (vertical,) = (s for s in svg.shapes(OVER_TIME.draw(), "polyline") if "stroke-dasharray" in s)
    xs = {p.split(",")[0] for p in vertical["points"].split()}
    assert len(xs) == 1
    assert sum("┊" in line for line in lines(OVER_TIME)) == 11  # on one the letter of f stands


def test_each_line_has_a_letter_of_its_name_that_no_other_has() -> None:
    assert choose_letters(["numpy", "next", "n", "é-1", ""]) == [*"nea1b"]
    assert choose_letters(["a"] * 63) == [*f"a{string.ascii_letters[1:]}{string.digits}*"]


def test_lines_that_meet_have_a_star_and_names_at_their_ends() -> None:
    name, *grid = lines(CROSSING)
    assert name == "time per call"
    assert grid[0].endswith("a  a ape")
    assert grid[11].endswith("b  b bee")
    assert grid[0].split("┤")[1][0] == "b"
    assert sum("*" in line for line in grid[:12]) == 1
    assert grid[-1].strip() == "* several at one place"
    assert grid[12].startswith(" " * 11 + "└┬──")
    assert grid[13].split() == ["1", "10", "100"]
    assert grid[14].strip() == "n"
    assert [line.split()[0] for line in grid[:12] if "┤" in line] == ["100", "10", "1"]


def test_in_a_narrow_page_names_stand_below_and_it_is_described() -> None:
    narrow = lines(CROSSING, 40)
    assert max(map(len, narrow)) <= 40
    assert [line.strip() for line in narrow[-4:-1]] == ["○ they meet", "a ape", "b bee"]
    assert CROSSING.describe() == (
        "time per call over n: ape: 1 1.00 ms, 10 10.0 ms, 100 100 ms;"
        " bee: 1 100 ms, 10 10.0 ms, 100 1.00 ms; they meet"
    )
