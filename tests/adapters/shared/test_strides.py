"""How the numbers of an array lie in memory, in words."""

import pytest

from ipyjaxbench.adapters.shared.strides import describe_order, overlaps


@pytest.mark.parametrize(("shape", "strides", "unit", "words"), [
    ((2, 3), (3, 1), 1, ""),
    ((2, 3), (12, 4), 4, ""),
    ((2, 3), (1, 2), 1, "column-major"),
    ((2, 3), (8, 1), 1, "strided"),
    ((3,), (2,), 1, "strided"),
    ((2, 3), (1, 4), 1, "column-major, strided"),
    ((2, 3), (0, 1), 1, "broadcast along axis 0"),
    ((2, 3), (0, 0), 1, "broadcast along axes 0, 1"),
    ((2, 3), (-3, -1), 1, "reversed along axes 0, 1"),
    ((2, 3), (-1, 2), 1, "reversed along axis 0, column-major"),
    ((2, 3, 4), (1, 2, 6), 1, "memory order of axes 2, 1, 0"),
    ((1, 3), (99, 1), 1, ""),
    ((0, 3), (5, 7), 1, ""),
    ((1,), (9,), 1, ""),
])  # fmt: skip
def test_what_is_not_the_usual_order_is_said(
    shape: tuple[int, ...], strides: tuple[int, ...], unit: int, words: str
) -> None:
    assert describe_order(shape, strides, unit) == words


def test_numbers_overlap_where_there_are_fewer_places_than_numbers() -> None:
    for shape, strides, unit in (
        ((8, 3), (1, 1), 1), ((8, 3), (2, 1), 1), ((3,), (0,), 1), ((2, 2), (-1, 1), 1),
    ):  # fmt: skip
        assert overlaps(shape, strides, unit)
    for shape, strides, unit in (((8, 3), (3, 1), 1), ((8, 3), (24, 8), 8), ((4,), (5,), 1)):
        assert not overlaps(shape, strides, unit)
