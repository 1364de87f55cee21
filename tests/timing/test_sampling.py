"""When to call, how often, and when to stop."""

from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.timing import sampling
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.call_times import Sample
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.waiting import Waiting
from tests.timing.timed import Timed

SECOND = 10**9


class Bench(Timed):
    """Calls that take as many nanoseconds as a function of their number says."""

    def __init__(self, cost: Callable[[int], int], compiles: Callable[[int], bool] | None = None):
        self.count = 0

        def call() -> None:
            self.count += 1
            if compiles and compiles(self.count):
                self.device.compile(1000)
            self.clock.advance(cost(self.count))

        super().__init__("call()", None, Waiting(), call=call)
        self.samples = Samples()

    def warm_up(self, seconds: float = 1000.0) -> int:
        """Warm up; give the number of calls."""
        sampling.warm_up(self.calls, self.samples, self.clock.wall() + int(seconds * SECOND))
        return len(self.samples.warmup)

    def until_steady(self, seconds: float, after: Callable[[], Any] = list) -> float:
        """Take samples; give the seconds that it took."""
        start = self.clock.wall()
        end = start + int(seconds * SECOND)
        sampling.sample_until_steady(self.calls, self.samples, 1, end, 0.02, after)
        return (self.clock.wall() - start) / SECOND


# Exact numbers


@pytest.mark.parametrize(
    ("number", "repeat", "batches"),
    [(3, 2, [2, 3]), (2, 2, [1, 2]), (1, 4, [1, 1, 1]), (5, 1, [4]), (1, 1, [])],
)
def test_exactly_as_many_calls_are_made_as_asked(
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
    learn = lambda: looked.extend(bench.samples.warmup)  # noqa: E731
    sampling.take_exact_samples(bench.calls, bench.samples, 5, 2, learn, lambda left: None)
    assert looked == bench.samples.warmup == []
    assert bench.samples.batches == [(4, 40), (5, 50)]


# Warm-up


@pytest.mark.parametrize(
    ("milliseconds", "calls"),  # the last of these repeats
    [
        # Five are nearly as slow as the five before.
        ([*[100] * 5, *[90] * 5, 100], 10),
        ([*[100] * 5, *[89] * 8, 100], 13),  # then three of the five before are as fast
        ([100, 100, 100, 100, 1000, 10, 10, 89, 200, 200, 100], 11),
        ([10, 10, 100, 100, 100, *[60] * 8, 100], 13),
        ([1, 1, 100, 100, 100, 1, *[60] * 7, 100], 13),
        # And over fifty milliseconds have passed, or there are fifty calls.
        ([5], 11), ([5.000001, 5], 10), ([0.001], 50), ([1000], 10),
    ],
)  # fmt: skip
def test_when_calls_are_warm(milliseconds: list[float], calls: int) -> None:
    costs = [round(each * 1_000_000) for each in (*milliseconds, *milliseconds[-1:] * 50)]
    assert Bench(lambda count: costs[count - 1]).warm_up() == calls


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
    [(lambda _: 100, 1 + 100 + 9999, 10_000), (lambda _: 150_000, 1 + 6, 7),
     (lambda _: 400_000, 1 + 2, 2),  # a sample of half a millisecond is long enough to tell
     (lambda _: 500_000, 1, 2), (lambda _: 1_000_000, 0, 1),  # slow calls cost none to find out
     (lambda count: 900_000 if count == 21 else 2_000_000, 0, 1),  # the last five decide
     (lambda count: 1000 if count <= 50 else 3_000_000, 1, 1)],  # they have become slower
)  # fmt: skip
def test_the_size_of_a_sample_is_found_with_three_tries_of_each_size(
    cost: Callable[[int], int], tries: int, number: int
) -> None:
    bench = Bench(cost)
    made = bench.warm_up()
    assert sampling.calls_per_sample(bench.calls, bench.samples) == number
    assert bench.count - made == 3 * tries
    bench.calls.before_each = lambda: None
    assert sampling.calls_per_sample(bench.calls, bench.samples) == 1


def test_other_programs_do_not_make_samples_of_short_calls_shorter() -> None:
    stretches = iter([False, True, True] * 100)
    bench = Bench(lambda _: 10_000)
    bench.warm_up()
    run_loop = bench.calls._run_loop

    def disturbed(*args: Any, **named: Any) -> int:
        return run_loop(*args, **named) + (3 * 10**6 if next(stretches) else 0)

    bench.calls._run_loop = disturbed  # type: ignore[method-assign]
    assert 50 <= sampling.calls_per_sample(bench.calls, bench.samples) <= 200


@pytest.mark.parametrize(
    ("kinds", "seconds", "number"),
    [(Kinds(1_000, 9_000, 0.5), 1000.0, 200),  # a millisecond of 5 µs each
     (Kinds(1_000, 11_000, 0.125), 1000.0, 444), (Kinds(0.5, 1.5, 0.5), 1000.0, 1_000_000),
     (Kinds(1_000_000, 9_000_000, 0.5), 1000.0, 40),  # twenty of each kind
     (Kinds(1_000_000, 9_000_000, 0.5), 1.2, 20),  # a twelfth of the time is left
     (Kinds(1_000_000, 9_000_000, 0.5), 0.06, 4)],  # two slow ones
)  # fmt: skip
def test_samples_of_calls_that_differ_hold_both(kinds: Kinds, seconds: float, number: int) -> None:
    bench = Bench(lambda _: 10)
    bench.clock.advance(SECOND)
    deadline = bench.clock.wall() + int(seconds * SECOND)
    assert sampling.calls_per_mixed_sample(bench.calls, kinds, deadline) == number
    bench.calls.before_each = lambda: None
    assert sampling.calls_per_mixed_sample(bench.calls, kinds, deadline) == 1


def test_a_tenth_of_a_sample_and_five_calls_at_most_come_before_it_untimed() -> None:
    ahead = [sampling.untimed_calls(number) for number in (1, 9, 10, 19, 50, 60, 10_000)]
    assert ahead == [0, 0, 1, 1, 5, 5, 5]


# Rounds


@pytest.mark.parametrize("budget", [0.1, 1.0])
def test_noisy_calls_use_the_budget_and_no_more(budget: float) -> None:
    bench = Bench(lambda count: 1_000_000 * (1 + count % 17 * (count // 40 % 5)))
    assert 0.9 * budget <= bench.until_steady(budget) <= budget + 0.2
    assert bench.samples.half_width() > 0.02


def test_calls_that_never_get_steady_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sampling._MAX_SAMPLES == 50_000
    monkeypatch.setattr(sampling, "_MAX_SAMPLES", 500)
    bench = Bench(lambda count: 1_000_000 * (1 + 29 * (count // 20 % 2)))
    bench.samples.half_width = lambda: 1.0  # type: ignore[method-assign]
    assert bench.until_steady(1e9) < 36
    assert 500 <= len(bench.samples.batches) < 520


@pytest.mark.parametrize(
    ("cost", "seconds", "rounds"),
    [(SECOND // 10, 40.0, [20] * 12),  # which is the most that a round has
     (SECOND // 10, 20.0, [10] * 12), (53_200_000, 20.0, [19] * 12),
     (5 * SECOND, 0.0, [1]),  # without time one sample is taken
     (1_000_000, 1.0, [20] * 13)],  # a quarter of the budget is used at least
)  # fmt: skip
def test_steady_slow_calls_take_twelve_rounds_of_a_twentieth_of_the_budget(
    cost: int, seconds: float, rounds: list[int]
) -> None:
    bench = Bench(lambda _: cost)
    bench.until_steady(seconds)
    assert bench.samples.rounds == rounds
    assert bench.count == len(bench.samples.batches) == len(bench.samples.compiled) == sum(rounds)


def test_the_interval_is_looked_at_less_often_the_more_rounds_there_are() -> None:
    asked: list[int] = []
    between: list[int] = []
    bench = Bench(lambda _: SECOND // 10)
    rounds = bench.samples.rounds
    bench.samples.half_width = lambda: asked.append(len(rounds)) or 1.0  # type: ignore
    bench.until_steady(40, lambda: between.append(len(rounds)))
    assert asked == [12, 15, 19]  # of 20; a fifth more each time
    assert between == [*range(1, 20)]  # not when time is up


def test_samples_in_which_something_compiled_are_left_out_of_their_rounds() -> None:
    compiled = (True, False, False, True, False)
    taken = [Sample(1, 1 + index, 0, each) for index, each in enumerate(compiled)]
    samples = Samples(taken, [2, 1, 1, 1])
    samples.leave_out({0, 3})
    assert samples.batches == [(1, 2), (1, 3), (1, 5)]
    assert samples.rounds == [1, 1, 0, 1]
    assert samples.compiled == [False] * 3


def test_a_job_of_which_no_call_is_known_takes_one_sample_at_a_time() -> None:
    """As with ``-n 1 -r 2``, where no call is looked at closely."""
    assert sampling._samples_per_step(Samples(), 1, 10**9) == 10
    assert sampling._samples_per_step(Samples(), 1, sampling._STEP_NS) == 1
