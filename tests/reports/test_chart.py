"""Lines over time, as a picture and in words."""

import base64
import re

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
