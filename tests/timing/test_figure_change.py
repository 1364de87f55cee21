"""A figure held against another one that was measured at another time."""

import math

import pytest

from ipyjaxbench.timing.figure_change import Change, Figure


def figure(median: float, half_width: float | None = 0.03, **facts: object) -> Figure:
    """Of forty samples of a quiet machine."""
    return Figure(**{"median": median, "half_width": half_width, "samples": 40, "verdict": "QUIET",
                     **facts})  # fmt: skip


@pytest.mark.parametrize(
    ("half_width", "interval"),
    [(0.25, (1.6, 2.5)), (1.5, (0.8, 5.0)), (0.0, (2.0, 2.0)), (None, (0.0, math.inf))],
)
def test_the_interval_lies_around_the_median_and_holds_no_negative_times(
    half_width: float | None, interval: tuple[float, float]
) -> None:
    assert figure(2.0, half_width).interval == interval


def test_a_figure_of_few_samples_has_no_interval_whatever_was_kept_of_it() -> None:
    assert figure(2.0, 0.013, samples=5).interval == (0.0, math.inf)
    assert figure(2.0, 0.013, samples=6).interval != (0.0, math.inf)


def test_the_ratio_is_as_sure_as_both_figures_together() -> None:
    ratio = Change(figure(2.0, 0.03), figure(3.0, 0.04, samples=30)).ratio
    assert ratio is not None
    assert (ratio.value, ratio.pairs) == (1.5, 30)
    assert (ratio.low, ratio.high) == pytest.approx((1.5 * math.exp(-0.05), 1.5 * math.exp(0.05)))


def test_of_several_changes_each_has_a_wider_interval() -> None:
    one, of_ten = (Change(figure(1.0), figure(1.0), among=n).ratio for n in (1, 10))
    assert one is not None
    assert of_ten is not None
    # 2.807 normal deviations hold 99.5 % of cases, 1.96 of them 95 %.
    wider = math.log(of_ten.high) / math.log(one.high)
    assert wider == pytest.approx(2.807 / 1.96, rel=1e-3)


@pytest.mark.parametrize(
    ("base", "now"),
    [
        (figure(1.0, None), figure(1.0)),
        (figure(0.0), figure(1.0)),
        (figure(1.0), figure(0.0)),
        (figure(1e-9, 1e6), figure(1e3, 1e6)),  # from nothing to all: no numbers hold the interval
        (figure(1e6, 1e6), figure(1e-20, 1e6)),
    ],
)
def test_without_two_figures_there_is_no_ratio(base: Figure, now: Figure) -> None:
    assert Change(base, now).ratio is None
    assert Change(base, now).verdict == "CAN'T TELL"


@pytest.mark.parametrize(
    ("base", "now", "verdict"),
    [
        (figure(1.0), figure(2.0), "SLOWER"),
        (figure(2.0), figure(1.0), "FASTER"),
        (figure(1.0, 0.01), figure(1.0, 0.01), "SAME"),
        (figure(1.0), figure(1.03), "CAN'T TELL"),
        (figure(1.0), figure(2.0, verdict="INVALID"), "INVALID"),
        (figure(1.0), figure(2.0, None, verdict="ONCE"), "ONCE"),
        (figure(1.0, verdict="INVALID"), figure(2.0), "CAN'T TELL"),
        (figure(1.0, verdict="NOISY"), figure(2.0, verdict="NOISY"), "SLOWER"),
    ],
)
def test_one_word_says_what_has_changed(base: Figure, now: Figure, verdict: str) -> None:
    assert Change(base, now).verdict == verdict
