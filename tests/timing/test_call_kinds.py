"""Calls of the same code that do different work."""

import itertools
import random
from collections.abc import Callable

import pytest

from ipyjaxbench.timing.call_kinds import Kinds, find_kinds, merge_neighbours
from ipyjaxbench.timing.call_times import Sample
from tests.bench import MS, Bench, notes_by_code

Kind = Callable[[int], bool]


def sampled(is_slow: Kind, count: int = 240) -> list[Sample]:
    """Samples of one call: 5 ms if it is slow, else 20 µs."""
    times = [5 * MS if is_slow(i) else 20_000 for i in range(count)]
    return [Sample(1, ns, ns) for ns in times]


def test_other_programs_lengthen_calls_that_do_the_same_work() -> None:
    samples = [Sample(1, 5 * MS * (1 + 8 * (i % 2)), 5 * MS) for i in range(240)]
    assert find_kinds(samples) is None


def test_caches_and_spinning_threads_make_the_cpu_time_vary_without_a_gap() -> None:
    rng = random.Random(1)
    spent = [int(5 * MS * rng.uniform(1, 4)) for _ in range(240)]
    assert find_kinds([Sample(1, 2 * ns, ns) for ns in spent]) is None


@pytest.mark.parametrize(
    ("is_slow", "share"),
    [(lambda i: i % 3 == 0, 1 / 3), (lambda i: i % 7 == 0, 1 / 7), (lambda i: i > 1, None),
     (lambda i: i % 30, None), (lambda i: i == 100, None)],
)  # fmt: skip
def test_calls_of_which_some_do_more_are_of_two_kinds_and_a_few_odd_ones_are_not(
    is_slow: Kind, share: float | None
) -> None:
    kinds = None if share is None else (20_000, 5 * MS, pytest.approx(share, abs=0.01))
    assert find_kinds(sampled(is_slow)) == kinds


def of_two(fast: Sample, slow: Sample, count: int = 100) -> list[Sample]:
    """Samples of which every second one is slow."""
    return [slow if i % 2 else fast for i in range(count)]


@pytest.mark.parametrize(
    ("fast", "slow", "differ"),
    [
        # CPU time: beside 10 µs that asking for it costs, three times as much.
        (Sample(1, 100_000, 10_000), Sample(1, 200_000, 50_000), True),
        (Sample(1, 100_000, 10_000), Sample(1, 200_000, 49_999), False),
        # Of ten calls it costs a tenth of that for each.
        (Sample(10, 100_000, 1_000), Sample(10, 200_000, 23_000), True),
        (Sample(10, 100_000, 1_000), Sample(10, 200_000, 22_990), False),
        # Time: one and a half times as long.
        (Sample(1, 100_000, 10_000), Sample(1, 150_000, 90_000), True),
        (Sample(1, 100_000, 10_000), Sample(1, 149_999, 90_000), False),
    ],
)
def test_calls_differ_from_three_times_the_cpu_time_and_half_as_much_time_again(
    fast: Sample, slow: Sample, differ: bool
) -> None:
    assert (find_kinds(of_two(fast, slow)) is not None) is differ


@pytest.mark.parametrize(("cpus", "differ"), [(2, True), (1, False), (None, False)])
def test_calls_spend_no_more_than_all_cpus_can_do_meanwhile(
    monkeypatch: pytest.MonkeyPatch, cpus: int | None, differ: bool
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cpus)
    samples = of_two(Sample(1, 100_000, 100_000), Sample(1, 200_000, 400_000))
    assert (find_kinds(samples) is not None) is differ


@pytest.mark.parametrize(
    ("slow", "count", "differ"),
    [
        (1, 2, False),  # too few to say
        (1, 3, True),
        (2, 3, True),
        (237, 240, False),  # the fastest 5 % may be a few odd ones
        (229, 240, False),
        (228, 240, True),
        (3, 240, True),  # three slow ones at least
        (2, 240, False),
    ],
)
def test_each_kind_has_enough_samples(slow: int, count: int, differ: bool) -> None:
    assert (find_kinds(sampled(lambda i: i < slow, count)) is not None) is differ


@pytest.mark.parametrize(("slow", "differ"), [(9, False), (11, True)])
def test_the_mean_of_all_is_a_tenth_above_the_fast_ones(slow: int, differ: bool) -> None:
    fast, more = Sample(1, MS, MS // 10), Sample(1, 2 * MS, 2 * MS)
    samples = [more if i < slow else fast for i in range(100)]
    assert (find_kinds(samples) is not None) is differ


def test_a_sample_holds_twenty_calls_of_each_kind_or_two_slow_ones() -> None:
    assert (Kinds(1, 2, 0.5).samples_with_both, Kinds(1, 2, 0.5).samples_with_slow) == (40, 4)
    assert (Kinds(1, 2, 0.75).samples_with_both, Kinds(1, 2, 0.75).samples_with_slow) == (80, 3)
    assert (Kinds(1, 2, 0.25).samples_with_both, Kinds(1, 2, 0.25).samples_with_slow) == (80, 8)


@pytest.mark.parametrize(("count", "groups"), [(4000, 100), (240, 8), (24, 6), (3, 1)])
def test_merged_samples_are_eight_at_least_where_each_holds_slow_calls(
    count: int, groups: int
) -> None:
    merged = merge_neighbours(of_two(Sample(1, 1, 1), Sample(1, 9, 9), count), Kinds(1, 9, 0.5))
    assert [sample.calls for sample in merged] == [count // groups] * groups


# The whole flow


def in_turns(bench: Bench, is_slow: Kind, others: int = 0) -> None:
    """Bind ``call``, which takes 5 ms if it is slow, else 20 µs, beside other programs."""
    turn, rng = itertools.count(), random.Random(1)

    def call() -> None:
        bench.clock.advance(5 * MS if is_slow(next(turn)) else 20_000)
        if others:
            bench.clock.disturb(rng.randrange(others))

    bench.names["call"] = call


@pytest.mark.parametrize("others", [0, 20_000])
@pytest.mark.parametrize(
    ("is_slow", "truth"),
    [(lambda i: i % 2, 2.51e-3), (lambda i: i % 3, 3.34e-3), (lambda i: i % 50, 4.9e-3)],
)
def test_the_figure_of_calls_that_do_different_work_is_their_mean(
    bench: Bench, is_slow: Kind, truth: float, others: int
) -> None:
    in_turns(bench, is_slow, others)
    assert bench.time("call()").headline.value == pytest.approx(truth, rel=0.05)


def test_it_is_told_that_calls_differ(bench: Bench) -> None:
    in_turns(bench, lambda i: i % 2 == 0)
    m = bench.time("call()")
    assert notes_by_code(m)["calls-differ"] == (
        "The calls do different work: 50 % of them take 5.00 ms, the others 20.0 µs."
        " The time is the mean of both."
    )
    assert m.loops >= 20


def test_calls_that_other_programs_make_wait_are_led_by_the_fastest(bench: Bench) -> None:
    in_turns(bench, lambda i: True, 100 * MS)
    m = bench.time("call()")
    assert "calls-differ" not in notes_by_code(m)
    assert m.verdict == "NOISY"
    assert m.headline.value == m.floor < 0.5 * m.median


def test_hidden_work_of_some_calls_is_in_the_mean(bench: Bench) -> None:
    turn = itertools.count()

    def call() -> None:
        bench.clock.advance(10_000)
        if next(turn) % 3 == 0:
            bench.device.start(dispatch=0, work=5 * MS)

    bench.names["call"] = call
    m = bench.time("call()")
    assert m.headline.value == pytest.approx(10e-6 + 5e-3 / 3, rel=0.05)
    assert {"elsewhere", "calls-differ"} <= notes_by_code(m).keys()


@pytest.mark.parametrize("options", [{}, {"repeat": 8}])
def test_a_sample_of_short_calls_holds_many_of_each_kind(bench: Bench, options: dict) -> None:
    turn = itertools.count()
    bench.names["call"] = lambda: bench.clock.advance(600_000 if next(turn) % 3 == 0 else 2_000)
    m = bench.time("call()", **options)
    assert m.loops >= 60
    assert m.samples == pytest.approx([201e-6] * len(m.samples), rel=0.05)


@pytest.mark.parametrize("options", [{"number": 1}, {"repeat": 20}])
def test_samples_of_which_the_number_was_asked_for_stay_apart(bench: Bench, options: dict) -> None:
    turn = itertools.count()

    def call() -> None:  # alike while it is warmed up
        now = next(turn)
        bench.clock.advance(
            5 * MS if now % 2 and ("number" in options or now > 50) else 2 * MS // 5
        )

    bench.names["call"] = call
    m = bench.time("call()", **options)
    assert m.repeat == options.get("repeat", 7)
    assert "calls-differ" not in notes_by_code(m)
