"""How far a figure can be believed, and why."""

import math

import pytest

from ipyjaxbench.timing.verdict import VERDICT_MEANINGS, low_end_leads, movements, verdict

CALM = [1e-3 + i % 7 * 1e-6 for i in range(100)]


@pytest.mark.parametrize(
    ("half_width", "codes", "word"),
    [
        (0.04, [], "QUIET"),
        (0.041, [], "OK"),
        (0.08, ["earlier-work"], "OK"),
        (0.081, [], "NOISY"),
        (0.001, ["recompiles"], "RECOMPILES"),
        (0.001, ["not-called"], "INVALID"),
        (0.001, ["not-called", "recompiles"], "RECOMPILES"),
    ],
)
def test_one_word_says_it(half_width: float, codes: list[str], word: str) -> None:
    assert verdict(CALM, half_width, codes) == word
    assert word in VERDICT_MEANINGS


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_few_samples_that_agree_are_no_steady_figure(count: int) -> None:
    assert verdict([1e-3] * count, 0.001, []) == "FEW"
    assert verdict([1e-3] * 6, 0.001, []) == "QUIET"
    assert verdict([1e-3], math.inf, []) == verdict((), math.inf, []) == "ONCE"


@pytest.mark.parametrize(
    ("half_width", "leads"), [(0.01, False), (0.08, False), (0.09, True), (math.inf, False)]
)
def test_the_fastest_leads_where_samples_scatter(half_width: float, *, leads: bool) -> None:
    assert low_end_leads(half_width, "NOISY", ()) is low_end_leads(half_width, "FEW", ()) is leads
    assert not low_end_leads(half_width, "INVALID", ())
    assert not low_end_leads(half_width, "NOISY", ("calls-differ",))


def test_a_drift_is_named_with_its_size_and_its_way() -> None:
    slower = [1e-3 * (1 + i / 400) + i % 3 * 1e-6 for i in range(100)]
    assert list(movements(slower)) == ["calls got 16 % slower during the measurement"]
    assert list(movements(slower[::-1])) == ["calls got 14 % faster during the measurement"]


@pytest.mark.parametrize(
    ("times", "words"), [(1.9, "90 % slower"), (2.5, "2.5× slower"), (4.0, "4.0× slower")]
)
def test_a_drift_of_over_a_hundred_percent_is_named_as_a_factor(times: float, words: str) -> None:
    between = [1e-3 * times ** (i / 35) for i in range(1, 35)]
    samples = [*[1e-3] * 33, *between, *[1e-3 * times] * 33]
    assert list(movements(samples)) == [f"calls got {words} during the measurement"]


def test_two_speeds_are_named() -> None:
    assert [*movements(CALM), *movements([]), *movements([1e-3])] == []
    samples = [(1e-3 if i % 10 < 6 else 1.4e-3) + i % 3 * 1e-6 for i in range(100)]
    assert list(movements(samples)) == ["two speeds, 1.00 ms and 1.40 ms"]


def test_a_speed_that_wanders_is_named_where_it_neither_drifts_nor_has_two_values() -> None:
    speeds = [1.0, 1.1, 1.04, 1.16, 1.02, 1.13, 1.07, 1.0]
    samples = [1e-3 * speeds[i // 15] + i % 5 * 2e-5 for i in range(120)]
    assert list(movements(samples)) == ["the samples drifted (1.04–1.20 ms)"]


@pytest.mark.parametrize(
    ("highest", "shown"), [(1.079, []), (1.081, ["the samples drifted (1.00–1.08 ms)"])]
)
def test_a_speed_that_wanders_by_over_eight_percent_is_named(
    highest: float, shown: list[str]
) -> None:
    speeds = [1.0, 1.05, 1.02, highest, 1.01, 1.06, 1.03, 1.0]
    samples = [1e-3 * speeds[i // 15] + (i % 5 - 2) * 2e-5 for i in range(120)]
    assert list(movements(samples)) == shown
