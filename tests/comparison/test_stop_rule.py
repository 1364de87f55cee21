"""When enough passes over two arms were made."""

import math
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ipyjaxbench.comparison.interleave import StopRule
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.testing import FakeClock


class Passes:
    """Passes until a rule says that there are enough of them."""

    def __init__(self, samples: Callable[[int], float] = lambda _: 1.0, **options: float) -> None:
        self.told: list[tuple[float, float]] = []
        self._clock, self._samples = FakeClock(), samples
        self._clock.advance(3_000_000_000)
        chosen = CompareOptions(**options)
        budget = int((chosen.budget or 1.0) * 1e9)
        self.rule = StopRule(self._clock, self._clock.wall(), budget, chosen, self._on_progress)

    def _on_progress(self, known: float, left: float) -> None:
        self.told.append((known, left * 1e-9))

    def take(self, seconds: float, *, growing: bool = False) -> int:
        """The number of passes, each of which takes so long."""
        arms = [SimpleNamespace(steady=SimpleNamespace(samples=SimpleNamespace(seconds=[])),
                                outgrows_samples=growing) for _ in "ab"]  # fmt: skip
        self.rule.begin()
        done = False
        while not done:
            self._clock.advance(round(seconds * 1e9))
            for arm, factor in zip(arms, (1.0, self._samples(self.rule.passes)), strict=True):
                arm.steady.samples.seconds.append(factor)
            done = self.rule.is_done(arms)
        return self.rule.passes


@pytest.mark.parametrize(("seconds", "passes"), [(2.9, 20), (3.1, 1)])
def test_a_minute_is_spent_on_the_fewest_pairs_whatever_the_budget(
    seconds: float, passes: int
) -> None:
    assert Passes(budget=1.0).take(seconds) == passes


def test_no_more_than_the_budget_is_spent_where_calls_slow_down_as_a_container_grows() -> None:
    assert Passes(budget=1.0).take(0.3, growing=True) == 4


def test_ratios_that_are_known_end_it_after_a_quarter_of_the_budget() -> None:
    passes = Passes(budget=100.0)
    assert passes.take(1.0) == 26
    assert passes.rule.spent() == 26e9
    assert passes.told[0] == (math.inf, pytest.approx(99.0))
    assert passes.told[-1] == (math.inf, pytest.approx(74.0))  # as it was before it was asked
    assert Passes(budget=10.0).take(0.5) == 20  # the fewest pairs


def test_ratios_that_are_not_known_are_asked_for_until_the_budget_is_spent() -> None:
    passes = Passes(samples=lambda number: 1.0 + number % 2, budget=100.0)
    assert passes.take(1.0) == 101
    known = [known for known, _ in passes.told]
    assert known == [math.inf] * 26 + [pytest.approx(math.log(2) / 2)] * 75
    assert passes.told[-1][1] == 0.0


def test_the_progress_of_counted_samples_is_how_long_the_rest_will_take() -> None:
    passes = Passes(repeat=4)
    assert passes.take(5.0) == 4
    assert [left for _, left in passes.told] == pytest.approx([15, 10, 5, 0])


@pytest.mark.parametrize(("factors", "passes"), [((1.008, 1.034), 101), ((1.03, 1.04), 26)])
def test_ratios_that_are_no_answer_yet_are_asked_for_until_the_budget_is_spent(
    factors: tuple[float, float], passes: int
) -> None:
    """However narrow they are: of the first one it is unknown whether it is beyond 1 %."""
    found = Passes(samples=lambda number: factors[number % 2], budget=100.0)
    assert found.take(1.0) == passes
    assert found.rule._known <= 0.02
