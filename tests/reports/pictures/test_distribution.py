"""Samples as a density and in their order."""

from hypothesis import given, strategies as st

from ipyjaxbench.reports.pictures import Distribution
from tests.reports.pictures import svg
from tests.reports.pictures.svg import lines

EVEN = tuple(1e-3 + n * 1e-5 for n in range(101))


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
    assert lines(block)[0].endswith("+2 slower, up to 900 ms")
    assert block.scale.high < 4e-3
    # No step gathers what is slower: it would look like a second speed.
    assert block.counts(10) == Distribution("samples", EVEN).counts(10)
    assert sum(block.counts(20)) == len(EVEN)
    assert "+2 ▸" in svg.words(block.draw())
    # What does not fit beside the columns stands below them.
    wide = Distribution("spread", (*(1e-3 + i % 7 * 1e-5 for i in range(100)), 0.09))
    assert lines(wide, 80, 12)[0].endswith("ms +1 slower, up to 90.0 ms")
    assert lines(wide, 80, 12)[1].endswith(" 5 %, median, 95 %")
    assert lines(wide, 60, 12)[1].strip() == "+1 slower, up to 90.0 ms"
    assert all(len(line) <= 60 for line in lines(wide, 60, 12))


def test_two_speeds_are_two_hills() -> None:
    block = Distribution("samples", (1e-3,) * 60 + (1.01e-3,) * 5 + (2e-3,) * 40)
    counts = block.counts(20)
    assert (counts[0] > 50, sum(counts[2:-1]), counts[-1]) == (True, 0, 40)
    words = "samples, 105: 5 % below 1.00 ms, median 1.00 ms, 95 % below"
    assert block.describe().startswith(words)


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
    few, many = (len(Distribution("s", EVEN * n).draw().address()) for n in (4, 40))
    assert many < 1.5 * few  # very many make no larger picture


@given(st.lists(st.floats(1e-9, 1e4), min_size=2, max_size=60), st.integers(30, 110))
def test_any_samples_can_be_drawn(samples: list[float], columns: int) -> None:
    block = Distribution("samples", tuple(samples))
    assert sum(block.counts(10)) + len(block.beyond()) == len(samples)
    assert block.draw().svg()
    assert len(lines(block, columns)) >= 3


def test_samples_that_are_equal_are_one_column() -> None:
    for samples in ((1.0, 1.0), (0.0, 0.0, 0.0)):
        block = Distribution("samples", samples)
        assert sorted(block.counts(10))[:-1] == [0] * 9
        assert block.draw().svg()


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
