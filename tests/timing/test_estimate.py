"""A statistic with its interval, which says what it is an interval of."""

import math

import pytest

from ipyjaxbench.timing.estimate import Estimate, predict, spread


@pytest.mark.parametrize(
    ("half_width", "words", "cell"),
    [
        (0.013, "2.12 ms ± 1.3 %", "2.12 ms ± 1.3 %"),
        (0.1, "2.12 ms ± 10 %", "2.12 ms ± 10 %"),
        (0.11, "2.12 ms (rerun 1.9–2.4 ms)", "2.12 ms (1.9–2.4 ms)"),  # both ends, as they differ
        (3.0, "2.12 ms (rerun 0.53–8.5 ms)", "2.12 ms (0.53–8.5 ms)"),
        (None, "2.12 ms", "2.12 ms"),
        (math.inf, "2.12 ms", "2.12 ms"),
    ],
)
def test_a_median_has_the_interval_of_another_run(
    half_width: float | None, words: str, cell: str
) -> None:
    found = predict(0.00212, half_width)
    assert (found.words(), found.cell()) == (words, cell)


def test_as_many_digits_are_shown_as_were_asked_for() -> None:
    assert predict(0.0021234567, 0.013).words(5) == "2.1235 ms ± 1.3 %"


def test_what_is_drawn_is_what_is_said() -> None:
    found = predict(4.0, 0.5)
    assert found.ends == (pytest.approx(4 / 1.5), 6.0)
    assert found.span() == "rerun 2.7–6.0 s"


@pytest.mark.parametrize("found", [predict(4.0, None), predict(4.0, 0.1, 5), predict(1e300, 1e300)])
def test_an_unknown_interval_has_no_words_and_no_length(found: Estimate) -> None:
    assert not found.is_known
    assert found.span() == ""
    assert found.ends == (found.value, found.value)


@pytest.mark.parametrize(
    ("count", "words"), [(19, "1.0–1.2 s (min–max)"), (20, "1.0–1.2 s (5–95 %)")]
)
def test_samples_lie_between_percentiles_where_there_are_enough(count: int, words: str) -> None:
    samples = [1.0 + 0.2 * (i % 2) for i in range(count)]
    found = spread(samples)
    assert (found.of, found.span()) == ("samples", words)
    assert not found.has_plus_minus()
