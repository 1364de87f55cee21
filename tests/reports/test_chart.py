"""Lines over time, as a picture and in words."""

import base64
import re
import string
from xml.etree import ElementTree

import pytest

from ipyjaxbench.reports import chart, html, text
from ipyjaxbench.reports.blocks import Chart, Report, Series

POINTS = ((0.0, 1e-3, 9e-4, 2e-3), (10.0, 2e-3, 1e-3, 3e-3), (20.0, 1e-3, 9e-4, 2e-3))
OVER_TIME = Chart(
    "time", "time of a call", (Series("f", POINTS),), ("May 01 10:00", "May 21 10:00")
)


def test_a_scale_of_time_is_even() -> None:
    svg = base64.b64decode(chart.draw_image(OVER_TIME).partition(",")[2]).decode()
    first, middle, last = (float(x) for x in re.findall(r"translate\(([\d.]+) ", svg))
    assert middle - first == last - middle > 0
    told = chart.describe_scales(OVER_TIME)
    assert told.startswith("to the right time from May 01 10:00 to May 21 10:00, upwards time of a")
    assert told.endswith("; upwards logarithmic")


def test_each_line_has_a_sample_with_its_name_the_highest_end_first() -> None:
    lower = tuple((x, y / 5, low / 5, high / 5) for x, y, low, high in POINTS)
    both = Chart("n", "time", (Series("low", lower), Series("high", POINTS)))
    (_, squares, first), (_, circles, second) = chart.legend(both)
    assert (first, squares) == ("high", "squares")
    assert (second, circles) == ("low", "circles")


def test_it_is_told_in_words() -> None:
    words = chart.describe(OVER_TIME)
    assert words.startswith("time of a call over time, from May 01 10:00 to May 21 10:00: f: ")
    assert words.endswith("0.001 s, 0.002 s, 0.001 s")
    assert f'alt="{words}"' in html.render(Report((OVER_TIME,)))


def test_it_is_drawn_with_letters_between_its_ends() -> None:
    lines = text.render(Report((OVER_TIME,))).splitlines()
    assert sum(line.count("f") for line in lines[:12]) == 3
    assert lines[12].split("  ")[-1].strip() == "May 21 10:00"


def test_one_moment_alone_is_drawn() -> None:
    once = Chart("time", "time of a call", (Series("f", POINTS[:1] * 2),), ("now", "now"))
    assert "now" in text.render(Report((once,)))
    assert chart.draw_image(once)


# Two lines over each other, both scales logarithmic: they meet in the middle.
UP = ((1.0, 1e-3, 5e-4, 2e-3), (10.0, 1e-2, 1e-2, 1e-2), (100.0, 1e-1, 1e-2, 10.0))
DOWN = tuple((x, y, y, y) for (x, *_), (_, y, *_) in zip(UP, reversed(UP), strict=True))
CROSSING = Chart("n", "time", (Series("ape", UP), Series("bee", DOWN)))


def drawn(address: str) -> ElementTree.Element:
    """The drawing that an address holds."""
    return ElementTree.fromstring(base64.b64decode(address.partition(",")[2]))


def facts(element: ElementTree.Element, *names: str) -> list[str | None]:
    return [element.get(name) for name in names]


def test_lines_and_their_intervals_lie_within_a_frame() -> None:
    svg = drawn(chart.draw_image(Chart("n", "time", (Series("ape", UP),))))
    assert facts(svg, "width", "height") == ["656", "256"]
    frame, line, *points = svg
    assert facts(frame, "x", "y", "width", "height") == ["8", "8", "640", "240"]
    assert line.get("points") == "8.0,248.0 328.0,128.0 648.0,8.0"
    assert [each.get("points") or each.get("transform") for each in points] == [
        "8.0,248.0 8.0,211.9", "translate(8.0 248.0)",  # the interval is cut at the frame
        "328.0,128.0 328.0,128.0", "translate(328.0 128.0)",
        "648.0,128.0 648.0,8.0", "translate(648.0 8.0)",
    ]  # fmt: skip


@pytest.mark.parametrize(("highest", "middle"), [(1e-3, 128.0), (1.5e-3, 198.2)])
def test_a_line_that_is_nearly_flat_stays_so(highest: float, middle: float) -> None:
    """Upwards there is a factor of two at least."""
    points = tuple((x, y, y, y) for x, y in ((1.0, 1e-3), (10.0, highest)))
    _, line, *_ = drawn(chart.draw_image(Chart("n", "time", (Series("f", points),))))
    (first, last) = (line.get("points") or "").split(" ")
    y, other = (float(each.partition(",")[2]) for each in (first, last))
    assert (y, y + other) == (pytest.approx(middle, abs=0.1), pytest.approx(256, abs=0.1))


def test_a_sample_is_a_short_line_with_a_mark() -> None:
    ((sample, shape, label),) = chart.legend(Chart("n", "time", (Series("ape", UP),)))
    assert (shape, label) == ("circles", "ape")
    svg = drawn(sample)
    line, mark = svg
    assert facts(svg, "width", "height") == ["36", "16"]
    assert line.get("points") == "0.0,8.0 36.0,8.0"
    assert mark.get("transform") == "translate(18.0 8.0)"


def test_of_very_many_lines_none_looks_as_another() -> None:
    lines = tuple(Series(f"l{n}", UP) for n in range(17))
    svg = drawn(chart.draw_image(Chart("n", "time", lines)))
    looks = [facts(each, "stroke", "stroke-dasharray") for each in svg
             if each.get("stroke-dasharray") is not None]  # fmt: skip
    assert looks[:3] == [[colour, ""] for colour in chart.COLOURS[:3]]
    assert looks[8:10] == [[colour, "6 3"] for colour in chart.COLOURS[:2]]
    assert looks[16] == [chart.COLOURS[0], "2 3"]
    shapes = [shape for _, shape, _ in chart.legend(Chart("n", "time", lines))]
    assert shapes[:6] == ["circles", "squares", "triangles", "diamonds", "crosses", "circles"]


def signs(*names: str) -> str:
    return "".join(chart._choose_letters([Series(name, UP) for name in names]))


def test_each_line_has_a_letter_of_its_name_that_no_other_has() -> None:
    assert signs("numpy", "next", "n", "é-1", "") == "nea1b"
    assert signs(*["a"] * 63) == "a" + string.ascii_letters[1:] + string.digits + "*"


def test_lines_that_meet_have_a_star() -> None:
    lines = text.render(Report((CROSSING,))).splitlines()
    assert len(lines) == 12 + 2
    assert lines[0] == "    100 ms | b" + " " * 56 + "a"
    assert lines[5] == f"{'':>10} | " + " " * 28 + "*"
    assert lines[11] == "    1.0 ms | a" + " " * 56 + "b"
    assert {lines[number] for number in (1, 4, 6, 10)} == {f"{'':>10} |"}
    assert lines[12] == f"{'':>13}1" + " " * 54 + "100"
    assert lines[13] == f"{'':>13}time over n: a ape, b bee, * several"
    alone = text.render(Report((Chart("n", "time", (Series("ape", UP),)),)))
    assert alone.endswith("time over n: a ape")


def test_logarithmic_scales_are_told_in_words() -> None:
    assert chart.describe_scales(CROSSING) == (
        "to the right n from 1 to 100, upwards time from 1.0 ms to 100 ms; both logarithmic"
    )
    assert chart.describe(CROSSING) == (
        "time over n, both logarithmic:"
        " ape: 1 0.001 s, 10 0.01 s, 100 0.1 s; bee: 1 0.1 s, 10 0.01 s, 100 0.001 s"
    )
    wide = tuple((x, 1e-3, 1e-3, 1e-3) for x in (1.5, 12_000.0))
    words = chart.describe_scales(Chart("n", "time", (Series("f", wide),)))
    assert words.startswith("to the right n from 1.5 to 12,000, upwards time from 707 µs to 1.4 ms")
