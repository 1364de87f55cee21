"""Nothing of a picture is cut off, in any report."""

from collections.abc import Iterable, Iterator

import pytest

from ipyjaxbench.reports import Block, Details
from ipyjaxbench.reports.pictures import Picture
from ipyjaxbench.reports.result import report
from tests.reports.pictures import svg
from tests.samples import results

_STROKE = 1.0  # pixels that a line may reach over an edge


def pictures(blocks: Iterable[Block]) -> Iterator[Picture]:
    for each in blocks:
        if isinstance(each, Picture):
            yield each
        elif isinstance(each, Details):
            yield from pictures(each.blocks)


def places(picture: Picture) -> Iterator[tuple[float, float]]:
    """Corners of rectangles, points of lines, and where words stand."""
    drawing = picture.draw()
    for each in svg.shapes(drawing, "rect"):
        x, y, width, height = (float(each[name]) for name in ("x", "y", "width", "height"))
        yield from ((x, y), (x + width, y + height))
    for each in svg.shapes(drawing, "polyline"):
        for point in each["points"].split():
            x, y = map(float, point.split(","))
            yield x, y
    for each in svg.shapes(drawing, "text"):
        yield float(each["x"]), float(each["y"])


@pytest.mark.parametrize("name", results())
def test_all_shapes_lie_within(name: str) -> None:
    for picture in pictures(report(results()[name]).blocks):
        drawing = picture.draw()
        for x, y in places(picture):
            assert -_STROKE <= x <= drawing.width + _STROKE
            assert -_STROKE <= y <= drawing.height + _STROKE
