"""What went where, as arrows: as shapes, as signs, in words."""

import pytest

from ipyjaxbench.reports.pictures import Flow, Flows
from ipyjaxbench.reports.pictures.stack import KINDS
from tests.reports.pictures import svg
from tests.reports.pictures.svg import lines

UP = Flow("host", "gpu:0", 1000, "1.00 kB")
BACK = Flow("gpu:0", "host", 200, "200 B", implicit=True)
ACROSS = Flow("gpu:0", "gpu:1", 10, "10 B")
ALL = Flows((UP, BACK, ACROSS))


def test_the_host_stands_on_the_left() -> None:
    assert lines(ALL, 60) == [
        " host ███████████████████████▶ gpu:0  1.00 kB",
        " host ◀━━━━━━━━━━━━━━━━━━━━━━━ gpu:0  200 B implicit",
        "gpu:0 ───────────────────────▶ gpu:1  10 B",
    ]
    assert lines(ALL, 80, 11)[0].startswith(" " * 13 + " host █")  # under labels of the rest
    assert max(map(len, lines(ALL, 36))) <= 36


def test_arrows_are_as_wide_as_their_bytes_and_point_to_where_the_data_went() -> None:
    polygons = [each["points"].split() for each in svg.shapes(ALL.draw(), "polygon")]
    points = [[tuple(map(float, point.split(","))) for point in each] for each in polygons]
    heights = [abs(each[-1][1] - each[0][1]) for each in points]
    assert heights == pytest.approx([18, 3.6, 1.5], abs=0.2)
    assert [each[0][0] < each[3][0] for each in points] == [True, False, True]


def test_implicit_ones_are_seen_and_said() -> None:
    drawing = ALL.draw()
    assert [each.get("stroke-dasharray") for each in svg.shapes(drawing, "polygon")] == [
        None, "5 3", None,
    ]  # fmt: skip
    fills = [each["fill"] for each in svg.shapes(drawing, "polygon")]
    assert fills == [KINDS["copy"][0], f"{KINDS['implicit copy'][0]}55", KINDS["copy"][0]]
    assert {"1.00 kB", "200 B implicit", "host", "gpu:0"} <= {*svg.words(drawing)}


def test_it_is_described() -> None:
    assert ALL.describe() == (
        "host to gpu:0 1.00 kB; gpu:0 to host 200 B implicit; gpu:0 to gpu:1 10 B"
    )
