"""Bars to be compared by eye."""

import math

import pytest

from ipyjaxbench.reports.pictures import Bar, Bars
from tests.reports.pictures import svg
from tests.reports.pictures.svg import lines

NUMPY = Bar("numpy", 0.2, 0.15, 0.25, "200 ms", "baseline", baseline=True)
JAX = Bar("jax", 0.1, 0.1, 0.1, "100 ms", "2.0× faster")
BARS = Bars((NUMPY, JAX))


def test_bars_are_as_long_as_their_values_and_pale_where_they_may_end() -> None:
    first, second = lines(BARS, 60)
    room = 60 - len("numpy") - len("100 ms · 2.0× faster") - 5
    bar = first.split("  ")[2]
    end = round(0.8 * (room - 1))  # the interval ends at the right
    assert bar.startswith("█" * round(0.6 * (room - 1)) + "█▓")
    assert bar[end] == "▓"
    assert bar.split(" ")[0].endswith("─┤")
    assert first.endswith("┤ 200 ms · baseline")
    assert second.endswith("┊ 100 ms · 2.0× faster")
    assert second.index("┊") == first.index("█") + end
    # In a narrow page names stand above their bars.
    assert lines(BARS, 40)[::2] == ["numpy  200 ms · baseline", "jax  100 ms · 2.0× faster"]


def test_an_interval_without_an_end_does_not_shrink_the_bars() -> None:
    wide = Bars((NUMPY, Bar("jax", 0.1, 0.0, math.inf, "100 ms")))
    assert svg.words(wide.draw())[:2] == ["0", "100 ms"]
    # The wide bar's whisker may reach as far as one and a half of the longest bar.
    _, far = svg.shapes(wide.draw(), "polyline")[0]["points"].split()
    assert float(far.split(",")[0]) < 640


def test_the_baseline_is_dashed_at_its_end_and_words_stand_behind_the_whiskers() -> None:
    drawing = BARS.draw()
    (dashed,) = (s for s in svg.shapes(drawing, "polyline") if "stroke-dasharray" in s)
    rect = svg.shapes(drawing, "rect")[0]
    end = float(rect["x"]) + float(rect["width"])
    assert float(dashed["points"].split(",")[0]) == pytest.approx(end, abs=0.1)
    texts = zip(svg.shapes(drawing, "text"), svg.words(drawing), strict=True)
    (x,) = (float(shape["x"]) for shape, written in texts if written == "200 ms · baseline")
    ends = [float(s["points"].split()[1].split(",")[0]) for s in svg.shapes(drawing, "polyline")]
    assert x > max(ends)


def test_it_is_described() -> None:
    assert BARS.describe() == "numpy 200 ms · baseline; jax 100 ms · 2.0× faster"
    assert lines(Bars((Bar("a", 0.0, 0.0, 0.0, "0 ns"),)))[0].endswith(" 0 ns")
