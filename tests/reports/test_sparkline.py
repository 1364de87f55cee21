"""Numbers in order as one word of block characters."""

import pytest

from ipyjaxbench.reports import sparkline


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], ""),
        ([0.0], ""),
        ([3.0], "▁"),
        ([1.0, 8.0], "▁█"),
        ([1.0, 2.0, 4.0, 8.0], "▁▃▆█"),
        ([1.0, 1.02, 0.99], "▁▂▁"),  # noise is no hill
        ([100.0, *[1.0] * 11, 2.0], f"{'▁' * 11}█"),  # the newest twelve
        ([1.0, 0.0, 2.0], "▁█"),
    ],
)
def test_equal_heights_are_equal_ratios(values: list[float], shown: str) -> None:
    assert sparkline(values) == shown
