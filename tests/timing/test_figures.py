"""Figures with their intervals, the word that says how far to believe them, and what was asked."""

import dataclasses
import math
import re

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.timing.estimate import Estimate, predict, spread
from ipyjaxbench.timing.figure_change import Change, Figure
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.verdict import VERDICT_MEANINGS, low_end_leads, movements, verdict

# A statistic with its interval


@pytest.mark.parametrize(
    ("half_width", "words", "cell"),
    [(0.013, "2.12 ms ± 1.3 %", "2.12 ms ± 1.3 %"), (0.1, "2.12 ms ± 10 %", "2.12 ms ± 10 %"),
     (0.11, "2.12 ms (rerun 1.9–2.4 ms)", "2.12 ms (1.9–2.4 ms)"),  # both ends, as they differ
     (3.0, "2.12 ms (rerun 0.53–8.5 ms)", "2.12 ms (0.53–8.5 ms)"), (None, "2.12 ms", "2.12 ms"),
     (math.inf, "2.12 ms", "2.12 ms")],
)  # fmt: skip
def test_a_median_has_an_interval_to_rerun(half_width: float | None, words: str, cell: str) -> None:
    found = predict(0.00212, half_width)
    assert (found.words(), found.cell()) == (words, cell)


def test_what_is_drawn_is_what_is_said() -> None:
    found = predict(4.0, 0.5)
    assert found.ends == (pytest.approx(4 / 1.5), 6.0)
    assert found.span() == "rerun 2.7–6.0 s"
    assert predict(0.0021234567, 0.013).words(5) == "2.1235 ms ± 1.3 %"


@pytest.mark.parametrize("found", [predict(4.0, None), predict(4.0, 0.1, 5), predict(1e300, 1e300)])
def test_an_unknown_interval_has_no_words_and_no_length(found: Estimate) -> None:
    assert not found.is_known
    assert found.span() == ""
    assert found.ends == (found.value, found.value)


@pytest.mark.parametrize(
    ("count", "words"), [(19, "1.0–1.2 s (min–max)"), (20, "1.0–1.2 s (5–95 %)")]
)
def test_samples_lie_between_percentiles_where_there_are_enough(count: int, words: str) -> None:
    found = spread([1.0 + 0.2 * (i % 2) for i in range(count)])
    assert (found.of, found.span()) == ("samples", words)
    assert not found.has_plus_minus()


# A figure held against another one that was measured at another time


def figure(
    median: float, half_width: float | None = 0.03, samples: int = 40, verdict: str = "QUIET"
) -> Figure:
    return Figure(median, half_width, samples, verdict)


@pytest.mark.parametrize(
    ("half_width", "samples", "interval"),
    [(0.25, 40, (1.6, 2.5)), (1.5, 40, (0.8, 5.0)), (0.0, 40, (2.0, 2.0)),
     (None, 40, (0.0, math.inf)), (0.25, 5, (0.0, math.inf)), (0.25, 6, (1.6, 2.5))],
)  # fmt: skip
def test_the_interval_lies_around_the_median_and_holds_no_negative_times(
    half_width: float | None, samples: int, interval: tuple[float, float]
) -> None:
    assert figure(2.0, half_width, samples).interval == interval


def test_the_ratio_is_as_sure_as_both_figures_together() -> None:
    ratio = Change(figure(2.0, 0.03), figure(3.0, 0.04, samples=30)).ratio
    assert ratio is not None
    assert (ratio.value, ratio.pairs) == (1.5, 30)
    assert (ratio.low, ratio.high) == pytest.approx((1.5 * math.exp(-0.05), 1.5 * math.exp(0.05)))
    of_ten = Change(figure(2.0, 0.03), figure(3.0, 0.04), among=10).ratio
    assert of_ten is not None
    # 2.807 normal deviations hold 99.5 % of cases, 1.96 of them 95 %.
    assert math.log(of_ten.high / 1.5) == pytest.approx(0.05 * 2.807 / 1.96, rel=1e-3)


@pytest.mark.parametrize(
    ("base", "now", "verdict"),
    [(figure(1.0), figure(2.0), "SLOWER"), (figure(2.0), figure(1.0), "FASTER"),
     (figure(1.0, 0.01), figure(1.0, 0.01), "SAME"), (figure(1.0), figure(1.03), "CAN'T TELL"),
     (figure(1.0), figure(2.0, verdict="INVALID"), "INVALID"),
     (figure(1.0), figure(2.0, None, verdict="ONCE"), "ONCE"),
     (figure(1.0, verdict="INVALID"), figure(2.0), "CAN'T TELL"),
     (figure(1.0, verdict="NOISY"), figure(2.0, verdict="NOISY"), "SLOWER"),
     # Without two figures there is no ratio.
     (figure(1.0, None), figure(1.0), None), (figure(0.0), figure(1.0), None),
     (figure(1.0), figure(0.0), None),
     (figure(1e-9, 1e6), figure(1e3, 1e6), None),  # from nothing to all: no numbers hold that
     (figure(1e6, 1e6), figure(1e-20, 1e6), None)],
)  # fmt: skip
def test_one_word_says_what_has_changed(base: Figure, now: Figure, verdict: str | None) -> None:
    assert Change(base, now).verdict == (verdict or "CAN'T TELL")
    assert verdict is not None or Change(base, now).ratio is None


# How far a figure can be believed, and why

CALM = [1e-3 + i % 7 * 1e-6 for i in range(100)]


@pytest.mark.parametrize(
    ("samples", "half_width", "codes", "word"),
    [(CALM, 0.04, [], "QUIET"), (CALM, 0.041, [], "OK"), (CALM, 0.08, ["earlier-work"], "OK"),
     (CALM, 0.081, [], "NOISY"), (CALM, 0.001, ["recompiles"], "RECOMPILES"),
     (CALM, 0.001, ["not-called"], "INVALID"),
     (CALM, 0.001, ["not-called", "recompiles"], "RECOMPILES"), ([1e-3] * 2, 0.001, [], "FEW"),
     ([1e-3] * 5, 0.001, [], "FEW"), ([1e-3] * 6, 0.001, [], "QUIET"),
     ([1e-3], math.inf, [], "ONCE"), ([], math.inf, [], "ONCE")],
)  # fmt: skip
def test_the_verdict(samples: list[float], half_width: float, codes: list[str], word: str) -> None:
    assert verdict(samples, half_width, codes) == word
    assert word in VERDICT_MEANINGS


@pytest.mark.parametrize(
    ("half_width", "leads"), [(0.01, False), (0.08, False), (0.09, True), (math.inf, False)]
)
def test_the_fastest_leads_where_samples_scatter(half_width: float, *, leads: bool) -> None:
    assert low_end_leads(half_width, "NOISY", ()) is low_end_leads(half_width, "FEW", ()) is leads
    assert not low_end_leads(half_width, "INVALID", ())
    assert not low_end_leads(half_width, "NOISY", ("calls-differ",))


SLOWER = [1e-3 * (1 + i / 400) + i % 3 * 1e-6 for i in range(100)]
TWO_SPEEDS = [(1e-3 if i % 10 < 6 else 1.4e-3) + i % 3 * 1e-6 for i in range(100)]


def drifting(times: float) -> list[float]:
    between = [1e-3 * times ** (i / 35) for i in range(1, 35)]
    return [*[1e-3] * 33, *between, *[1e-3 * times] * 33]


def wandering(*speeds: float) -> list[float]:
    return [1e-3 * speeds[i // 15] + (i % 5 - 2) * 2e-5 for i in range(120)]


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        (SLOWER, "calls got 16 % slower during the measurement"),
        (SLOWER[::-1], "calls got 14 % faster during the measurement"),
        (drifting(1.9), "calls got 90 % slower during the measurement"),
        (drifting(2.5), "calls got 2.5× slower during the measurement"),
        (TWO_SPEEDS, "two speeds, 1.00 ms and 1.40 ms"),
        (wandering(1.0, 1.05, 1.02, 1.079, 1.01, 1.06, 1.03, 1.0), None),
        (wandering(1.0, 1.05, 1.02, 1.081, 1.01, 1.06, 1.03, 1.0),
         "the samples drifted (1.00–1.08 ms)"),
        (CALM, None), ([], None), ([1e-3], None),
    ],
)  # fmt: skip
def test_what_the_samples_show_of_a_cause_is_named(samples: list[float], words: str | None) -> None:
    assert list(movements(samples)) == ([words] if words else [])


# How long a measurement may take, and how well it is to know its figure


@pytest.mark.parametrize(
    ("options", "target", "seconds"),
    [({}, 0.02, 2.0), ({"aim": "usual"}, 0.02, 2.0), ({"aim": "quick"}, 0.05, 0.5),
     ({"aim": "precise"}, 0.005, 10.0), ({"usual": 3.0}, 0.02, 3.0),
     ({"usual": 3.0, "aim": "quick"}, 0.05, 0.5),
     ({"budget": 7.0, "usual": 3.0, "aim": "precise"}, 0.005, 7.0), ({"budget": 0.0}, 0.02, 0.0)],
)  # fmt: skip
def test_an_aim_has_a_width_and_a_budget(options: dict, target: float, seconds: float) -> None:
    chosen = TimeOptions(**options)
    assert (chosen.target, chosen.seconds) == (target, seconds)
    assert (chosen.number, chosen.repeat) == (None, None)
    assert (chosen.clock, chosen.precision) == ("elapsed", 3)
    assert (chosen.fresh, chosen.profile, chosen.ops, chosen.restore) == (0, False, False, True)


def test_what_needs_another_option_switches_it_on() -> None:
    assert TimeOptions(passes=True).fresh == 1
    assert TimeOptions(passes=True, fresh=3).fresh == 3
    assert not TimeOptions(fresh=1).passes
    assert TimeOptions(ops=True).profile
    assert TimeOptions(trace="a.json").profile


@pytest.mark.parametrize(
    ("options", "message"),
    [({"budget": 1.5, "number": 3}, "number=3 and budget=1.5 cannot be combined: leave out one"),
     ({"budget": 1.5, "repeat": 3}, "repeat=3 and budget=1.5 cannot be combined: leave out one"),
     ({"aim": "precise", "number": 3}, "number=3 and aim='precise' cannot be combined"),
     ({"aim": "exact"}, "aim='exact': must be 'usual', 'quick' or 'precise'"),
     ({"precision": 16}, "precision=16: must be a whole number from 1 to 15"),
     ({"number": "5"}, "number='5': must be a whole number, 1 or more, for example number=5"),
     ({"repeat": 2.5}, "repeat=2.5: must be a whole number, 1 or more, for example repeat=5"),
     ({"budget": -1}, "budget=-1: must be a number of seconds, 0 or more, for example budget=5"),
     ({"clock": None}, "clock=None: must be 'elapsed', 'calendar' or 'cpu'"),
     ({"fresh": 10**8}, "fresh=100000000: must be a whole number from 1 to 1000, for example"),
     ({"profile": 1}, "profile=1: must be False or True"),
     ({"restore": "yes"}, "restore='yes': must be True or False"),
     ({"passes": 3}, "passes=3: must be"),
     ({"name": "last"}, "name='last': must be a name other than last and best"),
     ({"against": 5}, "against=5: must be a string that is not empty, for example against")],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        TimeOptions(**options)


def test_every_field_has_a_rule() -> None:
    for name in (each.name for each in dataclasses.fields(TimeOptions)):
        with pytest.raises(OptionError, match=f"^{name}=.*: must be "):
            TimeOptions(**{name: object()})
