"""The ratio of interleaved samples, its interval, and the word for it."""

import math
import random

import pytest

from ipyjaxbench import ratios
from ipyjaxbench.ratios import Ratio


def noisy(off: float, seed: int, n: int = 40, spread: float = 0.05) -> list[float]:
    rng = random.Random(seed)
    return [math.log(1 + off) + rng.gauss(0, spread) for _ in range(n)]


@pytest.mark.parametrize(("low", "value", "high", "word"), [
    (0.96, 0.975, 0.992, "CAN'T TELL"),
    (1.012, 1.015, 1.02, "SLOWER"),
    (1.011, 1.2, 1.3, "SLOWER"),
    (1.009, 1.2, 1.3, "CAN'T TELL"),
    (0.7, 0.8, 0.989, "FASTER"),
    (0.7, 0.8, 0.991, "CAN'T TELL"),
    (0.972, 1.0, 1.029, "SAME"),
    (0.970, 1.0, 1.029, "CAN'T TELL"),
    (0.972, 1.0, 1.031, "CAN'T TELL"),
])  # fmt: skip
def test_one_word_says_what_the_interval_allows(
    low: float, value: float, high: float, word: str
) -> None:
    assert Ratio(value, low, high, 20).verdict == word
    assert word in ratios.EXPLAINED
    assert Ratio(value, low, high, 19).verdict == "CAN'T TELL"


@pytest.mark.parametrize(
    ("low", "value", "high", "factor", "span"),
    [
        (2.4, 7.1, 14.3, "7×", "2–14×"),
        (2.0, 2.0, 2.0, "2.00×", ""),
        (1.04, 1.0434, 1.05, "1.04×", "1.04–1.05×"),
        (1.0434, 1.0434, 1.0434, "1.043×", ""),  # a third decimal where it is close to 1
        (0.18, 0.96, 1.08, "1.0×", "0.2–1.1×"),
        (100.0, 123.4, 150.0, "123×", "100–150×"),
        (0.07, 0.14, 0.41, "0.14×", "0.07–0.41×"),
        (0.04, 0.14, 2.41, "0.14×", "0.04–2.41×"),  # no end is zero
        (0.001, 5.0, 500.0, "5×", ""),  # not known
    ],
)
def test_a_ratio_has_as_many_digits_as_people_say(
    low: float, value: float, high: float, factor: str, span: str
) -> None:
    assert (Ratio(value, low, high, 20).factor(), Ratio(value, low, high, 20).span()) == (
        factor,
        span,
    )


def test_the_inverse_is_the_ratio_the_other_way_round() -> None:
    assert Ratio(0.25, 0.2, 0.5, 30, 8).inverse == Ratio(4.0, 2.0, 5.0, 30, 8)


def test_the_ratio_is_that_of_the_middle_pair() -> None:
    logs = ratios.log_ratios([1.0, 1.0, 1.0, 2.0], [2.0, 3.0, 50.0, 6.0])
    found = ratios.ratio(logs)
    assert found is not None
    assert found.value == pytest.approx(3.0)
    assert found.low <= 3.0 <= found.high
    assert found.pairs == 4
    assert ratios.log_ratios([1.0, 2.0, 3.0], [2.0]) == [math.log(2)]  # of an arm that failed
    # Pairs in which the clock stood still are left out.
    assert ratios.log_ratios([0.0, 1.0, 1.0], [1.0, 0.0, 1.0]) == [0.0]
    assert ratios.ratio([]) is None


def busy(seed: int, n: int) -> list[tuple[float, float]]:
    """Two samples in each pass, of a machine on which most take ten times as long for a while.

    The second sample of a pass takes longer, as after another arm.
    """
    rng = random.Random(seed)
    slow, pairs = False, []
    for _ in range(n):
        slow = slow != (rng.random() < 0.1)
        noise = [rng.lognormvariate(0, 1.0 if slow else 0.05) * (10 if slow else 1) for _ in "ab"]
        pairs.append((noise[0], 1.03 * noise[1]))
    return pairs


def called_different(seed: int, n: int, off: float = 1.0, among: int = 1) -> bool:
    """Whether two arms are, of which the second takes so many times as long."""
    rng, order = random.Random(-seed), [0, 1]
    base, other = [], []
    for number, pair in enumerate(busy(seed, n)):
        order = order[::-1] if number % 2 else rng.sample(order, 2)
        base.append(pair[order[0]])
        other.append(off * pair[order[1]])
    found = ratios.ratio(ratios.log_ratios(base, other), among)
    return found is not None and found.verdict in ("FASTER", "SLOWER")


@pytest.mark.parametrize(("n", "among", "most"), [(20, 1, 8), (100, 1, 8), (600, 1, 8), (40, 4, 4)])
def test_equal_code_is_called_different_once_in_a_hundred_at_most(
    n: int, among: int, most: int
) -> None:
    assert sum(called_different(seed, n, among=among) for seed in range(400)) <= most


@pytest.mark.parametrize("n", [20, 40, 100, 499, 501, 2000])
def test_as_few_intervals_miss_as_are_allowed(n: int) -> None:
    logs = [sign * (1 + x) * 1e-6 for x in range(n // 2) for sign in (1, -1)]
    logs += [0.0] * (n % 2)
    found = ratios.ratio(logs)
    assert found is not None
    beyond = sum(log < math.log(found.low) - 1e-9 for log in logs)
    missed = 2 * sum(math.comb(n, rank) for rank in range(beyond + 1)) / 2**n
    assert 0.002 < missed <= 0.01


def test_several_comparisons_with_one_baseline_each_get_a_wider_interval() -> None:
    one, four = ratios.ratio(noisy(0.1, 1)), ratios.ratio(noisy(0.1, 1), against=4)
    assert one is not None
    assert four is not None
    assert one.verdict == "SLOWER"
    assert four.low < one.low < one.high < four.high
    assert four.value == one.value


@pytest.mark.parametrize(("agreeing", "high"), [(3, 1.0), (4, math.e)])
def test_four_neighbours_on_one_side_tell_as_much_as_one(agreeing: int, high: float) -> None:
    found = ratios.ratio([0.0] * 40 + [1.0] * agreeing)
    assert found is not None
    assert (found.value, found.low, found.high) == (1.0, 1.0, high)


def test_neighbours_that_repeat_each_other_widen_the_interval() -> None:
    alone = noisy(0.0, 3, n=25)
    repeated = [value for value in alone for _ in range(8)]
    shuffled = random.Random(0).sample(repeated, len(repeated))
    dependent, independent = ratios.ratio(repeated), ratios.ratio(shuffled)
    assert dependent is not None
    assert independent is not None
    width = math.log(dependent.high / dependent.low)
    assert width > 1.3 * math.log(independent.high / independent.low)


def test_the_time_needed_is_that_until_the_interval_fits() -> None:
    assert Ratio(1.2, 1.19, 1.21, 5).needed(1.0) == pytest.approx(4.0)  # twenty pairs
    # Into 3 %, from 4 %.
    fits = (math.log(1.04) / math.log(1.03)) ** 2
    assert Ratio(1.0, 1 / 1.04, 1.04, 40).needed(10.0) == pytest.approx(10 * fits)
    # Beyond 1 %, on the side of 1.
    clears = (math.log(1.2 / 0.9) / math.log(1.2 / 1.01)) ** 2
    assert Ratio(1.2, 0.9, 1.21, 40).needed(10.0) == pytest.approx(10 * clears)
    assert Ratio(1 / 1.2, 1 / 1.21, 1 / 0.9, 40).needed(10.0) == pytest.approx(10 * clears)
    # Whichever of the two comes first.
    either = (math.log(1.02 / 0.99) / math.log(1.02 / 1.01)) ** 2
    within = (math.log(1.02 / 0.99) / math.log(1.03 / 1.02)) ** 2
    expected = pytest.approx(10 * min(either, within))
    assert Ratio(1.02, 0.99, 1.03, 40).needed(10.0) == expected


def test_what_did_not_suffice_is_not_said_to_be_enough() -> None:
    told = Ratio(1.2, 1.19, 1.21, 40)  # but code differs from itself by as much
    assert told.needed(0.282, floor=math.log(1.2)) == pytest.approx(1.5 * 0.282)
    assert told.needed(0.282, floor=2 * math.log(1.2)) == pytest.approx(4 * 0.282)


def test_samples_are_held_against_their_neighbours_for_the_control() -> None:
    found = ratios.against_itself([1.0, 1.1, 2.0, 2.2, 5.0, 5.5, 9.0])
    assert found is not None
    assert found.value == pytest.approx(1.1)
    assert found.covers_one()  # three pairs speak against nothing
    more = ratios.against_itself([1.0, 1.1] * 6)
    assert more is not None
    assert not more.covers_one()
    assert ratios.against_itself([1.0]) is None


def test_the_interval_of_the_control_holds_in_95_of_100_cases() -> None:
    """Of 20 fair coins five heads or fewer are seen in 2 %, six or fewer in 6 %."""
    logs = [0.01 * (i if i % 2 else 18 - i) for i in range(20)]  # above the middle, below, ...
    found = ratios.against_itself([t for log in logs for t in (1.0, math.exp(log))])
    assert found is not None
    assert sorted(round(100 * log) for log in logs) == list(range(20))
    assert found.low == pytest.approx(math.exp(0.05))
    assert found.high == pytest.approx(math.exp(0.14))


@pytest.mark.parametrize(("itself", "difference"), [
    (Ratio(1.0, 0.9, 1.1, 20), math.log(1.1 / 0.9) / 2),
    (Ratio(1.1, 1.0, 1.3, 20), math.log(1.3) / 2),
    (Ratio(1.1, 1.05, 1.15, 20), 2 * math.log(1.1)),
    (Ratio(0.9, 0.85, 0.95, 20), -2 * math.log(0.9)),
    (Ratio(1.1, 1.01, 3.0, 20), math.log(3.0 / 1.01) / 2),
])  # fmt: skip
def test_code_may_differ_by_its_interval_or_twice_what_it_was_off(
    itself: Ratio, difference: float
) -> None:
    assert ratios.floor(itself) == pytest.approx(difference)


@pytest.mark.parametrize(("pairs", "word"), [(7, "CAN'T TELL"), (8, "SLOWER")])
def test_eight_samples_of_two_runs_are_enough(pairs: int, word: str) -> None:
    assert ratios.unpaired((1.0, 0.01), (2.0, 0.01), pairs).verdict == word


def test_of_several_figures_measured_apart_each_has_a_wider_interval() -> None:
    alone, one_of_two = (ratios.unpaired((1.0, 0.03), (1.0, 0.04), 50, among=n) for n in (1, 2))
    assert math.log(alone.high) == pytest.approx(0.05)
    # 2.2414 normal deviations hold 97.5 % of cases, 1.96 of them 95 %.
    assert math.log(one_of_two.high) == pytest.approx(0.05 * 2.2414 / 1.96, rel=1e-4)


def test_a_figure_of_which_nothing_is_known_has_an_interval_of_numbers() -> None:
    found = ratios.unpaired((1.0, math.inf), (1.0, 0.1), 50)
    assert 0 < found.low < 1e-300
    assert 1e300 < found.high < math.inf


@pytest.mark.parametrize(
    ("ratio", "words", "interval"),
    [
        (Ratio(0.9583, 0.91, 1.01, 20), "0.96", "[0.91, 1.01]"),
        (Ratio(12.3, 11.2, 13.4, 20), "12", "[11, 13]"),
        (Ratio(1234.0, 1000.0, 1400.0, 20), "1234", "[1000, 1400]"),
        (Ratio(0.04, 0.01, 0.5, 20), "0.04", "[0.01, 0.50]"),  # never nothing but zeros
        (Ratio(2.0, 2.0, 2.0, 20), "2.0000", "[2.0000, 2.0000]"),
        (Ratio(1.0, 0.1, 9.99, 20), "1.0", "[0.1, 10.0]"),
        (Ratio(1.0, 0.1, 10.05, 20), "1", "[?]"),  # which tells nothing
        (Ratio(0.9966, 1e-12, 3e11, 9), "1", "[?]"),
    ],
)
def test_a_ratio_has_as_many_decimals_as_are_known(ratio: Ratio, words: str, interval: str) -> None:
    assert (ratio.words(), ratio.interval()) == (words, interval)
    more = Ratio(12.34, 11.25, 13.46, 20)
    assert (more.words(2), more.interval(1)) == ("12.34", "[11.2, 13.5]")


@pytest.mark.parametrize(("ends", "words"), [
    ((0.5, 0.5, 0.5), "2.00× faster than eager"),
    ((2.0, 1.9, 2.1), "2.0× slower than eager (99 % CI 1.9–2.1×)"),
    ((12.0, 9.0, 120.0), "12× slower than eager (99 % CI 9–120×)"),
    ((1.1, 0.9, 1.4), "no clear difference from eager (99 % CI 0.9–1.4×)"),
    ((1.0, 1e-9, 1e9), "no clear difference from eager"),
])  # fmt: skip
def test_a_ratio_reads_as_people_say_it(ends: tuple[float, float, float], words: str) -> None:
    assert Ratio(*ends, pairs=40).versus("eager") == words


def test_too_few_pairs_say_nothing_that_could_be_contradicted() -> None:
    few, enough = (Ratio(0.5, 0.45, 0.55, pairs) for pairs in (ratios.FEWEST - 1, ratios.FEWEST))
    assert not ratios.contradicts(2.0, few)
    assert ratios.contradicts(2.0, enough)
