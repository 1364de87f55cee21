"""Samples as a density and in their order."""

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.reports.pictures import Distribution
from tests.reports.pictures import svg

EVEN = tuple(1e-3 + n * 1e-5 for n in range(101))


def lines(block: Distribution, columns: int = 80) -> list[str]:
    return ["".join(text for text, _ in spans) for spans in block.lines(columns)]


def test_samples_are_counted_between_their_ends() -> None:
    bars, marks, order = lines(Distribution("samples", EVEN))
    assert bars.startswith("samples    1.00 ms ")
    assert bars.endswith(" 2.00 ms")
    assert len(bars.split()[3]) == 40
    assert marks.split()[0] == "├" + "─" * 17 + "┼" + "─" * 16 + "┤"
    assert marks.index("┼") == bars.index("1.00 ms ") + len("1.00 ms ") + round(0.5 * 39)
    assert order.split()[-1] == "".join(sorted(order.split()[-1]))  # they rise


def test_a_few_slow_samples_do_not_flatten_the_rest() -> None:
    block = Distribution("samples", (*EVEN, 0.5, 0.9))
    bars, *_ = lines(block)
    assert bars.endswith("+2 slower, up to 900 ms")
    assert block.scale.high < 4e-3
    assert sum(block.counts(20)) == len(EVEN)
    assert "+2 ▸" in svg.words(block.draw())


def test_no_step_gathers_what_is_slower() -> None:
    """It would look like a second speed."""
    block = Distribution("samples", (*EVEN, *[0.1] * 5))
    assert len(block.beyond()) == 5
    assert block.counts(10) == Distribution("samples", EVEN).counts(10)


def test_two_speeds_are_two_hills() -> None:
    block = Distribution("samples", (1e-3,) * 60 + (1.01e-3,) * 5 + (2e-3,) * 40)
    counts = block.counts(20)
    assert counts[0] > 50
    assert counts[-1] == 40
    assert sum(counts[2:-1]) == 0
    assert block.describe().startswith(
        "samples, 105: 5 % below 1.00 ms, median 1.00 ms, 95 % below"
    )


def test_a_wide_axis_is_logarithmic() -> None:
    """So that the usual time stays a hill beside a second one that is twenty times as slow."""
    usual = tuple(4e-4 + n * 1e-6 for n in range(50))
    block = Distribution("samples", (*usual, *[8e-3] * 10))
    assert block.scale.log
    assert sum(count > 0 for count in block.counts(40)) > 2
    assert {"1 ms", "5 ms"} <= {*svg.words(block.draw())}
    assert not Distribution("samples", (*usual, *[1.6e-3] * 10)).scale.log


def test_samples_stand_in_their_order() -> None:
    rising = Distribution("samples", EVEN)
    dots = svg.shapes(rising.draw(), "path")[0]["d"].split("M")[1:]
    heights = [float(dot.split()[1].removesuffix("h0")) for dot in dots]
    assert heights == sorted(heights, reverse=True)
    assert len(dots) == len(EVEN)


def test_very_many_samples_make_no_larger_picture() -> None:
    few, many = (len(Distribution("s", EVEN * n).draw().address()) for n in (4, 400))
    assert many < 1.5 * few


@given(st.lists(st.floats(1e-9, 1e4), min_size=2, max_size=60), st.integers(30, 110))
def test_any_samples_can_be_drawn(samples: list[float], columns: int) -> None:
    block = Distribution("samples", tuple(samples))
    assert sum(block.counts(10)) + len(block.beyond()) == len(samples)
    assert block.draw().svg()
    assert len(lines(block, columns)) >= 3


@pytest.mark.parametrize("samples", [(1.0, 1.0), (0.0, 0.0, 0.0)])
def test_samples_that_are_equal_are_one_column(samples: tuple[float, ...]) -> None:
    block = Distribution("samples", samples)
    assert sorted(block.counts(10))[:-1] == [0] * 9
    assert block.draw().svg()


def test_what_does_not_fit_beside_the_columns_stands_below_them() -> None:
    picture = Distribution("spread", (*(1e-3 + i % 7 * 1e-5 for i in range(100)), 0.09))

    def lines(columns: int) -> list[str]:
        return ["".join(text for text, _ in spans) for spans in picture.lines(columns, 12)]

    assert lines(80)[0].endswith("ms +1 slower, up to 90.0 ms")
    assert lines(80)[1].endswith(" 5 %, median, 95 %")
    assert [line.strip() for line in lines(60)[1:2]] == ["+1 slower, up to 90.0 ms"]
    assert all(len(line) <= 60 for line in lines(60))


def test_an_earlier_run_is_an_outline_of_the_same_area_on_the_same_scale() -> None:
    faster = tuple(seconds / 2 for seconds in EVEN[::5])
    block = Distribution("spread", EVEN, 3, faster, "monday")
    bars, _, before, order = lines(block)
    assert before.startswith("monday")
    assert before.endswith("median 750 µs")
    assert order.startswith("over time")
    start = bars.index("500 µs ") + len("500 µs ")
    assert bars[start] == " "
    assert before[start] != " "
    (outline,) = (
        each for each in svg.shapes(block.draw(), "polyline")
        if "stroke-dasharray" in each and each["points"].count(" ") > 1
    )  # fmt: skip
    assert outline["fill"] == "none"
    assert "monday, median 750 µs" in svg.words(block.draw())
    assert block.describe().endswith("; monday, median 750 µs")
    narrow = lines(block, 40)
    assert max(map(len, narrow)) <= 40
    assert "monday, median 750 µs" in narrow


def test_without_an_earlier_run_nothing_is_said_of_one() -> None:
    assert len(lines(Distribution("spread", EVEN))) == 3
    assert Distribution("spread", EVEN).draw().height < 120
