"""Figures computed from samples."""

import math
import random
import statistics

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench import stats
from ipyjaxbench.stats import drift, two_speeds

TIMES = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=60)


def rounds_of(samples: list[float], length: int) -> list[int]:
    """Rounds of one length, the last one shorter."""
    full, rest = divmod(len(samples), length)
    return [length] * full + [rest] * bool(rest)


@given(st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=60))
def test_quantiles_are_those_of_the_standard_library(samples: list) -> None:
    expected = statistics.quantiles(samples, n=8, method="inclusive")
    assert [stats.quantile(samples, p / 8) for p in range(1, 8)] == pytest.approx(expected)
    assert [stats.quantile(samples, p) for p in (0, 1)] == [min(samples), max(samples)]
    assert stats.median(samples) == pytest.approx(statistics.median(samples))


def test_students_t_has_95_percent_between_the_points_of_each_number_of_degrees() -> None:
    for degrees, point in enumerate(stats._T95, 1):
        scale = math.gamma((degrees + 1) / 2) / math.gamma(degrees / 2)
        scale /= math.sqrt(degrees * math.pi)
        steps = 20_000  # the midpoint rule
        places = ((i + 0.5) * point / steps for i in range(steps))
        heights = (scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2) for x in places)
        assert 2 * sum(heights) * point / steps == pytest.approx(0.95, abs=2e-4), degrees


def test_the_floor_is_a_quantile_from_twenty_samples_on() -> None:
    assert stats.floor([float(i) for i in range(19)]) == 0.0
    assert stats.floor([float(i) for i in range(20)]) == pytest.approx(0.95)  # 5 % of 19 steps


@pytest.mark.parametrize(("count", "least", "most"), [(11, 1, 1), (12, 2, 2), (6000, 78, 79)])
def test_of_samples_that_rise_few_parts_say_something_of_their_own(
    count: int, least: float, most: float
) -> None:
    """Of twelve the six parts of which nothing less is known; of many, neighbours up to forty away.

    All of these agree: 1 + 2·39, and a little less for the ends.
    """
    assert least <= stats.autocorrelation_time([float(i) for i in range(count)]) <= most


def test_samples_of_a_coarse_clock_that_are_independent_count_as_independent() -> None:
    rng = random.Random(1)
    samples = [rng.choice([1000.0, 1000.0, 1000.0, 1200.0]) for _ in range(400)]
    assert stats.autocorrelation_time(samples) < 1.5
    assert stats.half_width(samples, [20] * 20) == 0.0


@pytest.mark.parametrize("outlier", [0.5, 1e6])  # which does not hide that neighbours agree
def test_neighbours_that_repeat_each_other_count_once(outlier: float) -> None:
    rng = random.Random(2)
    samples = [value for _ in range(300) for value in [rng.random()] * 4]
    samples[100] = outlier
    # Runs of four equal values have the integrated autocorrelation time 1 + 2(3/4 + 2/4 + 1/4).
    assert stats.autocorrelation_time(samples) == pytest.approx(4.0, rel=0.15)


@given(TIMES, st.integers(1, 20), st.integers(-20, 20))
def test_the_half_width_is_never_negative_and_does_not_depend_on_the_unit(
    samples: list, length: int, exponent: int
) -> None:
    rounds = rounds_of(samples, length)
    scaled = [s * 2.0**exponent for s in samples]
    before, after = stats.half_width(samples, rounds), stats.half_width(scaled, rounds)
    assert before >= 0
    assert after == pytest.approx(before, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("samples", "rounds"), [([], []), ([1.0], [1]), ([1.0, 0.0], [1, 1]), ([1.0, 1.1], [2])]
)
def test_the_half_width_is_infinite_where_nothing_is_known(samples: list, rounds: list) -> None:
    assert stats.half_width(samples, rounds) == math.inf


def student(t: float, freedom: int) -> float:
    """The share of Student's distribution between -t and t, by Simpson's rule."""
    steps = 2000
    weights = [1, *(4, 2) * (steps // 2 - 1), 4, 1]
    density = [(1 + (i / steps * t) ** 2 / freedom) ** (-(freedom + 1) / 2) for i in range(2001)]
    scale = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(freedom * math.pi)
    return 2 * scale * t / steps / 3 * math.fsum(map(float.__mul__, map(float, weights), density))


@pytest.mark.parametrize("count", [*range(2, 32), 33])
def test_the_interval_of_rounds_holds_95_percent_of_students_distribution(count: int) -> None:
    logs = [float(i * i) for i in range(count)]
    times = stats._t_half_width(logs) / (statistics.stdev(logs) / math.sqrt(count))
    if count < 32:
        assert student(times, count - 1) == pytest.approx(0.95, abs=1e-4)
    else:
        assert times == pytest.approx(1.96)  # of the normal distribution


def test_the_interval_lies_between_the_samples_of_two_ranks() -> None:
    # One from below, one from above, ...: neighbours do not agree, and pairs have one median.
    samples = [100.0 + (i // 2 if i % 2 == 0 else 99 - i // 2) for i in range(100)]
    # Of 100 samples these are the ranks 50 ± 9.8, outwards: the 40th and the 61st.
    assert stats.half_width(samples, [2] * 50) == pytest.approx((160 - 139) / 2 / 149.5)
    assert stats.half_width([1.0, 4.0, 2.0, 3.0], [2, 2]) == pytest.approx((4 - 1) / 2 / 2.5)
    assert stats.half_width([1.0, 1.0], [1, 1]) == 0.0


def test_quarters_are_looked_at_from_eight_rounds_on() -> None:
    def width(rounds: int) -> float:
        samples = [math.exp(0.1 * (i // 2 % 2)) for i in range(rounds)]  # 0, 0, 0.1, 0.1, 0, 0, ...
        return stats._round_half_width(samples, [1] * rounds)

    # Four quarters 0, 0.1, 0, 0.1: t of 3 degrees of freedom, and their deviation of 0.1 / √3.
    assert width(8) == pytest.approx(3.182 * 0.1 / math.sqrt(3) / 2)
    # Seven rounds of which three are 0.1: t of 6, and their deviation of 0.1·√(12/7/6).
    assert width(7) == pytest.approx(2.447 * 0.1 * math.sqrt(12 / 42) / math.sqrt(7))
    gaps = stats.half_width([1.0, 1.1, 1.0, 1.2], [2, 0, 2])  # an empty round says nothing
    assert gaps == stats.half_width([1.0, 1.1, 1.0, 1.2], [2, 2])


# The true median of each distribution, and how a sample of it is drawn.
DISTRIBUTIONS = {
    "normal": (1.0, lambda rng: rng.gauss(1.0, 0.05)),
    "uniform": (1.0, lambda rng: rng.uniform(0.8, 1.2)),
    "a floor with a tail": (1.0 + 0.1 * math.log(2), lambda rng: 1.0 + rng.expovariate(10.0)),
    "lognormal": (1.0, lambda rng: rng.lognormvariate(0.0, 0.4)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize(("length", "count"), [(20, 10), (1, 12)])
def test_the_interval_covers_the_true_median(name: str, length: int, count: int) -> None:
    """In at least nine of ten measurements of independent samples."""
    truth, draw = DISTRIBUTIONS[name]
    covered = 0
    for seed in range(150):
        rng = random.Random(seed)
        samples = [draw(rng) for _ in range(length * count)]
        off = abs(truth / stats.median(samples) - 1)
        covered += off <= stats.half_width(samples, [length] * count)
    assert covered >= 0.9 * 150


def test_another_run_of_a_speed_that_wanders_falls_into_the_interval() -> None:
    """In eight of ten, where what is known of one run alone covers hardly half."""
    told, known = 0, 0
    for seed in range(200):
        rng = random.Random(seed)
        this, other = _wandering(rng), _wandering(rng)
        off = abs(stats.median(other) / stats.median(this) - 1)
        told += off <= stats.repeatability(this, [20] * 20)
        known += off <= stats.half_width(this, [20] * 20)
    assert told >= 0.8 * 200
    assert known < 0.65 * 200


def _wandering(rng: random.Random) -> list[float]:
    """400 samples of a speed that changes on every scale of time, and between runs too."""
    changes = {length: rng.gauss(0, 0.02) for length in (1000, 200, 40, 8, 1)}
    samples = []
    for i in range(400):
        changes |= {length: rng.gauss(0, 0.02) for length in changes if i % length == 0}
        samples.append(math.exp(sum(changes.values())))
    return samples


def test_a_steady_run_says_of_another_only_what_runs_differ_by() -> None:
    assert stats.repeatability([1.0] * 100, [10] * 10) == pytest.approx(0.025)
    assert stats.repeatability([1.0], [1]) == math.inf


@pytest.mark.parametrize(
    ("length", "within"),
    [
        # Quarters of 0, 0.1, 0, 0.1: t of 3 degrees of freedom times their deviation.
        (8, math.sqrt(1 + 1 / 4) * 3.182 * 0.1 / math.sqrt(3)),
        # Eighths of 0, 0.1, ..., which quarters do not show: t of 7 degrees of freedom.
        (4, math.sqrt(1 + 1 / 8) * 2.365 * 0.1 * math.sqrt(2 / 7)),
    ],
)
def test_a_further_part_of_a_run_lies_in_the_interval_for_another_run(
    length: int, within: float
) -> None:
    samples = [math.exp(0.1 * (i // length % 2)) for i in range(32)]
    expected = math.hypot(within, 0.025)
    assert stats.repeatability(samples, [length] * (32 // length)) == pytest.approx(expected)


def test_parts_are_medians_in_order() -> None:
    assert stats.parts([float(i // 2) for i in range(17)], 8) == [float(i) for i in range(8)]
    assert stats.parts([1.0] * 15, 8) == []
    assert stats.parts([], 4) == []


# Movements


def test_noise_alone_is_no_drift() -> None:
    rng = random.Random(3)
    alarms = sum(
        drift([rng.lognormvariate(0, 0.05) for _ in range(200)]) != 0.0 for _ in range(300)
    )
    assert alarms <= 6


def test_samples_that_hang_together_are_no_drift_because_of_that() -> None:
    rng, level, alarms = random.Random(5), 0.0, 0
    for _ in range(100):
        samples = []
        for _ in range(200):
            level = 0.8 * level + rng.gauss(0, 0.02)
            samples.append(2.718281828**level)
        alarms += drift(samples) != 0.0
    assert alarms <= 10


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([1.0] * 4 + [1.1] * 4 + [1.2] * 4, 0.2),
        ([1.2] * 30 + [1.1] * 30 + [1.0] * 30, -1 / 6),
        ([1.0] * 4 + [1.1] * 3 + [1.2] * 4, 0.0),  # too few
        ([1.0] * 20 + [1.032] * 20, 0.032),
        ([1.0] * 20 + [1.029] * 20, 0.0),
        ([0.0] * 20 + [1.0] * 20, 0.0),
        ([], 0.0),
    ],
)
def test_a_drift_shows_from_twelve_samples_and_three_percent_on(
    samples: list[float], expected: float
) -> None:
    assert drift(samples) == pytest.approx(expected)


@pytest.mark.parametrize(("moved", "shown"), [(0.12, 0.0), (0.13, math.expm1(0.13))])
def test_a_drift_is_over_three_standard_errors(moved: float, shown: float) -> None:
    """Samples of ± 0.1: that is 3·1.25·(0.2 / 1.35)·√(2 / 40) = 0.124 for medians of forty."""
    logs = [0.1 * (-1) ** i + (moved if i >= 80 else 0.0) for i in range(120)]
    assert drift([math.exp(x) for x in logs]) == pytest.approx(shown)


@pytest.mark.parametrize(
    ("fast", "slow", "ratio", "found"),
    [
        (84, 16, 1.5, True),
        (90, 10, 1.5, False),  # too few on one side
        (16, 84, 1.5, True),
        (7, 3, 2.0, True),
        (3, 7, 2.0, True),
        (8, 2, 2.0, False),
        (2, 8, 2.0, False),
        (50, 50, 1.21, True),
        (50, 50, 1.19, False),
        (0, 0, 2.0, False),
    ],
)
def test_two_speeds_need_a_gap_and_enough_samples_on_either_side(
    fast: int, slow: int, ratio: float, found: bool
) -> None:
    assert two_speeds([1.0] * fast + [ratio] * slow) == ((1.0, ratio) if found else None)
    assert two_speeds([0.0] * fast + [ratio] * slow) is None
    assert two_speeds([1.0 + i / 100 for i in range(100)]) is None


# Trends


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([1.0, 2.0, 3.0, 50.0], 1.0),
        ([4.0, 3.0, 2.0, 1.0], -1.0),
        ([2.0, 2.0, 2.0], 0.0),
        ([1.0, 3.0, 2.0], 0.5),
        ([1.0] * 10 + [2.0] * 10, 0.866),  # a step is no full order
    ],
)
def test_a_trend_is_the_order_of_the_ranks(samples: list[float], expected: float) -> None:
    assert stats.trend(samples) == pytest.approx(expected, abs=2e-3)
