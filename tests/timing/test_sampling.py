"""When to call, how often, and when to stop."""

from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing import sampling
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.call_times import Sample
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework

SECOND = 10**9


class Bench:
    """Calls that take as many nanoseconds as a function of their number says."""

    def __init__(self, cost: Callable[[int], int], compiles: Callable[[int], bool] | None = None):
        self.device = FakeDevice(FakeClock())
        self.clock = self.device.clock
        self.count = 0

        def call() -> None:
            self.count += 1
            if compiles and compiles(self.count):
                self.device.compile(1000)
            self.clock.advance(cost(self.count))

        self.framework = framework = FakeFramework(self.device)
        drain = Drain([framework], self.clock)
        snippet = Snippet(Source.plain("call()"), {"call": call})
        self.calls = Calls(snippet, None, self.clock, drain)
        self.calls.watches = [framework.capability(Compilation).watch(())]
        self.calls.arrange(Waiting(), kept={})
        self.samples = Samples()

    def warm_up(self, seconds: float = 1000.0) -> int:
        """Warm up; give the number of calls."""
        sampling.warm_up(self.calls, self.samples, self.clock.wall() + int(seconds * SECOND))
        return len(self.samples.warmup)

    def until_steady(self, seconds: float, number: int = 1) -> float:
        """Take samples; give the seconds that it took."""
        start = self.clock.wall()
        end = start + int(seconds * SECOND)
        sampling.sample_until_steady(self.calls, self.samples, number, end, 0.02, lambda: None)
        return (self.clock.wall() - start) / SECOND


# Exact numbers


@pytest.mark.parametrize(
    ("number", "repeat", "batches"),
    [(3, 2, [2, 3]), (2, 2, [1, 2]), (1, 4, [1, 1, 1]), (5, 1, [4]), (1, 1, [])],
)
def test_exactly_as_many_calls_are_made_as_were_asked_for(
    number: int, repeat: int, batches: list[int]
) -> None:
    bench, looked, left = Bench(lambda _: 10), [], []

    def learn() -> None:
        looked.extend(bench.samples.warmup)

    sampling.take_exact_samples(bench.calls, bench.samples, number, repeat, learn, left.append)
    assert bench.count == number * repeat - 1
    assert bench.samples.batches == [(calls, 10 * calls) for calls in batches]
    assert bench.samples.rounds == [1] * len(batches)
    assert len(looked) == min(3, repeat - 1 if number == 1 else number - 1)
    assert left == [*range(repeat - 1)][::-1]


def test_no_call_is_looked_at_closely_where_nothing_runs_ahead() -> None:
    bench, looked = Bench(lambda _: 10), []
    bench.framework.runs_ahead = lambda: False  # type: ignore[method-assign]

    def learn() -> None:
        looked.extend(bench.samples.warmup)

    sampling.take_exact_samples(bench.calls, bench.samples, 5, 2, learn, lambda left: None)
    assert looked == bench.samples.warmup == []
    assert bench.samples.batches == [(4, 40), (5, 50)]


# Warm-up


@pytest.mark.parametrize(
    ("milliseconds", "calls"),
    [
        ([100] * 5 + [90] * 5, 10),
        ([100] * 5 + [89] * 8, 13),  # then three of the five before are as fast
        ([100, 100, 100, 100, 1000, 10, 10, 89, 200, 200], 11),
        ([10, 10, 100, 100, 100] + [60] * 8, 13),
        ([1, 1, 100, 100, 100, 1] + [60] * 7, 13),
    ],
)
def test_calls_are_warm_when_five_are_nearly_as_slow_as_the_five_before(
    milliseconds: list[int], calls: int
) -> None:
    costs = [*milliseconds, *[100] * 50]
    assert Bench(lambda count: costs[count - 1] * 1_000_000).warm_up() == calls


@pytest.mark.parametrize(
    ("first", "later", "calls"),
    [
        (5_000_000, 5_000_000, 11),
        (5_000_001, 5_000_000, 10),
        (1000, 1000, 50),
        (SECOND, SECOND, 10),
    ],
)
def test_warm_calls_go_on_for_over_fifty_milliseconds(first: int, later: int, calls: int) -> None:
    assert Bench(lambda count: first if count == 1 else later).warm_up() == calls


def test_warming_up_goes_on_until_three_calls_in_a_row_compiled_nothing() -> None:
    bench = Bench(lambda _: SECOND, compiles=lambda count: count in (1, 2, 9))
    assert bench.warm_up() == 12
    late = [index for index, told in enumerate(bench.samples.warmup) if told.compiled]
    assert late == [0, 1, 8]
    bench.samples.use_warmup_as_samples()
    assert bench.samples.batches[1:3] == [(1, SECOND + 1000), (1, SECOND)]
    assert (bench.samples.compiled[:3], bench.samples.rounds) == ([True, True, False], [1] * 12)


@pytest.mark.parametrize(("budget", "calls"), [(0.0, 1), (2.0, 1), (10.0, 2), (100.0, 20)])
def test_warming_up_ends_at_a_fifth_of_the_budget(budget: float, calls: int) -> None:
    assert Bench(lambda _: SECOND, compiles=lambda _: True).warm_up(budget) == calls


# Calls per sample


@pytest.mark.parametrize(
    ("cost", "tries", "number"),
    [
        (lambda _: 100, 1 + 100 + 9999, 10_000),
        (lambda _: 150_000, 1 + 6, 7),
        (lambda _: 400_000, 1 + 2, 2),  # a sample of half a millisecond is long enough to tell
        (lambda _: 500_000, 1, 2),
        (lambda _: 1_000_000, 0, 1),  # slow calls cost none to find out
        (lambda count: 900_000 if count == 21 else 2_000_000, 0, 1),  # the last five decide
        (lambda count: 1000 if count <= 50 else 3_000_000, 1, 1),  # they have become slower
    ],
)
def test_the_size_of_a_sample_is_found_with_three_tries_of_each_size(
    cost: Callable[[int], int], tries: int, number: int
) -> None:
    bench = Bench(cost)
    made = bench.warm_up()
    assert sampling.calls_per_sample(bench.calls, bench.samples) == number
    assert bench.count - made == 3 * tries
    bench.calls.before_each = lambda: None
    assert sampling.calls_per_sample(bench.calls, bench.samples) == 1


@pytest.mark.parametrize(
    ("kinds", "seconds", "number"),
    [
        (Kinds(1_000, 9_000, 0.5), 1000.0, 200),  # a millisecond of 5 µs each
        (Kinds(1_000, 11_000, 0.125), 1000.0, 444),
        (Kinds(0.5, 1.5, 0.5), 1000.0, 1_000_000),
        (Kinds(1_000_000, 9_000_000, 0.5), 1000.0, 40),  # twenty of each kind
        (Kinds(1_000_000, 9_000_000, 0.5), 1.2, 20),  # a twelfth of the time is left
        (Kinds(1_000_000, 9_000_000, 0.5), 0.06, 4),  # two slow ones
    ],
)
def test_a_sample_of_calls_that_differ_holds_enough_of_both(
    kinds: Kinds, seconds: float, number: int
) -> None:
    bench = Bench(lambda _: 10)
    bench.clock.advance(SECOND)
    deadline = bench.clock.wall() + int(seconds * SECOND)
    assert sampling.calls_per_mixed_sample(bench.calls, kinds, deadline) == number
    bench.calls.before_each = lambda: None
    assert sampling.calls_per_mixed_sample(bench.calls, kinds, deadline) == 1


@pytest.mark.parametrize(
    ("number", "ahead"), [(1, 0), (9, 0), (10, 1), (19, 1), (50, 5), (60, 5), (10_000, 5)]
)
def test_a_tenth_of_a_sample_and_five_calls_at_most_come_before_it_untimed(
    number: int, ahead: int
) -> None:
    assert sampling.untimed_calls(number) == ahead


# Rounds


@pytest.mark.parametrize("budget", [0.1, 1.0, 3.0])
def test_noisy_calls_use_the_budget_and_no_more(budget: float) -> None:
    bench = Bench(lambda count: 1_000_000 * (1 + count % 17 * (count // 40 % 5)))
    assert 0.9 * budget <= bench.until_steady(budget) <= budget + 0.2
    assert bench.samples.half_width() > 0.02


def test_calls_that_never_get_steady_come_to_an_end_whatever_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sampling._MAX_SAMPLES == 50_000
    monkeypatch.setattr(sampling, "_MAX_SAMPLES", 2_000)
    bench = Bench(lambda count: 1_000_000 * (1 + 29 * (count // 20 % 2)))
    bench.samples.half_width = lambda: 1.0  # type: ignore[method-assign]
    assert bench.until_steady(1e9) < 144
    assert 2_000 <= len(bench.samples.batches) < 2_020


@pytest.mark.parametrize(
    ("cost", "seconds", "rounds"),
    [
        (SECOND // 10, 40.0, [20] * 12),  # which is the most that a round has
        (SECOND // 10, 20.0, [10] * 12),
        (53_200_000, 20.0, [19] * 12),
        (5 * SECOND, 0.0, [1]),  # without time one sample is taken
    ],
)
def test_steady_slow_calls_take_twelve_rounds_of_a_twentieth_of_the_budget(
    cost: int, seconds: float, rounds: list[int]
) -> None:
    bench = Bench(lambda _: cost)
    bench.until_steady(seconds)
    assert bench.samples.rounds == rounds
    assert len(bench.samples.batches) == len(bench.samples.compiled) == sum(rounds)


def test_the_interval_is_looked_at_less_often_the_more_rounds_there_are() -> None:
    asked, between = [], []

    class Unsteady(Samples):
        def half_width(self) -> float:
            asked.append(len(self.rounds))
            return 1.0

    bench = Bench(lambda _: SECOND // 10)
    bench.samples, end = Unsteady(), bench.clock.wall() + 40 * SECOND
    sampling.sample_until_steady(
        bench.calls, bench.samples, 1, end, 0.02, lambda: between.append(len(bench.samples.rounds))
    )
    assert asked == [12, 15, 19]  # of 20; a fifth more each time
    assert between == [*range(1, 20)]  # not when time is up


def test_calls_go_on_without_a_pause_for_a_quarter_of_the_budget_at_least() -> None:
    bench = Bench(lambda _: 1_000_000)
    assert bench.until_steady(4.0) == pytest.approx(1.0, abs=0.1)
    assert bench.count == len(bench.samples.batches) == 1000


# Compilations


def noted(*compiled: bool, rounds: list[int]) -> Samples:
    """Samples that take 1, 2, 3 … nanoseconds."""
    taken = [Sample(1, 1 + index, 0, each) for index, each in enumerate(compiled)]
    return Samples(taken, rounds)


def test_samples_in_which_something_compiled_are_left_out_of_their_rounds() -> None:
    samples = noted(True, False, False, True, False, rounds=[2, 1, 1, 1])
    samples.leave_out({0, 3})
    assert samples.batches == [(1, 2), (1, 3), (1, 5)]
    assert samples.rounds == [1, 1, 0, 1]
    assert samples.compiled == [False] * 3


def test_other_programs_do_not_make_samples_of_short_calls_shorter() -> None:
    stretches = iter([False, True, True] * 100)
    bench = Bench(lambda _: 10_000)
    bench.warm_up()
    run_loop = bench.calls._run_loop

    def disturbed(*args: Any, **named: Any) -> int:
        return run_loop(*args, **named) + (3 * 10**6 if next(stretches) else 0)

    bench.calls._run_loop = disturbed  # type: ignore[method-assign]
    assert 50 <= sampling.calls_per_sample(bench.calls, bench.samples) <= 200
