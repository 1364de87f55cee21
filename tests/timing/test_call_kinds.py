"""Calls of the same code that do different work, and what becomes of their samples."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.host import Clock
from ipyjaxbench.timing.call_kinds import Kinds, find_kinds, merge_neighbours
from ipyjaxbench.timing.call_times import Sample, TimedCall
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.usercode import Snippet, Source
from tests.bench import MS, Bench, notes_by_code

Kind = Callable[[int], bool]
FAST, SLOW = Sample(1, 20_000, 20_000), Sample(1, 5 * MS, 5 * MS)


def sampled(is_slow: Kind, count: int = 240, fast: Sample = FAST, slow: Sample = SLOW) -> list:
    """Samples of one call: 5 ms if it is slow, else 20 µs."""
    return [slow if is_slow(i) else fast for i in range(count)]


def test_neither_other_programs_nor_spinning_threads_make_calls_that_differ() -> None:
    """The one lengthens calls that do the same work, the other varies CPU time without a gap."""
    samples = [Sample(1, 5 * MS * (1 + 8 * (i % 2)), 5 * MS) for i in range(240)]
    assert find_kinds(samples) is None
    rng = random.Random(1)
    spent = [int(5 * MS * rng.uniform(1, 4)) for _ in range(240)]
    assert find_kinds([Sample(1, 2 * ns, ns) for ns in spent]) is None


@pytest.mark.parametrize(
    ("is_slow", "share"),
    [(lambda i: i % 3 == 0, 1 / 3), (lambda i: i % 7 == 0, 1 / 7), (lambda i: i > 1, None),
     (lambda i: i % 30, None), (lambda i: i == 100, None)],
)  # fmt: skip
def test_some_that_do_more_are_a_kind_and_a_few_odd_ones_are_not(
    is_slow: Kind, share: float | None
) -> None:
    kinds = None if share is None else (20_000, 5 * MS, pytest.approx(share, abs=0.01))
    assert find_kinds(sampled(is_slow)) == kinds


@pytest.mark.parametrize(
    ("fast", "slow", "several", "count", "differ"),  # several of so many are slow
    [
        # CPU time: beside 10 µs that asking for it costs, three times as much.
        (Sample(1, 100_000, 10_000), Sample(1, 200_000, 50_000), 50, 100, True),
        (Sample(1, 100_000, 10_000), Sample(1, 200_000, 49_999), 50, 100, False),
        # Of ten calls it costs a tenth of that for each.
        (Sample(10, 100_000, 1_000), Sample(10, 200_000, 23_000), 50, 100, True),
        (Sample(10, 100_000, 1_000), Sample(10, 200_000, 22_990), 50, 100, False),
        # Time: one and a half times as long.
        (Sample(1, 100_000, 10_000), Sample(1, 150_000, 90_000), 50, 100, True),
        (Sample(1, 100_000, 10_000), Sample(1, 149_999, 90_000), 50, 100, False),
        # The mean of all is a tenth above the fast ones.
        (Sample(1, MS, MS // 10), Sample(1, 2 * MS, 2 * MS), 9, 100, False),
        (Sample(1, MS, MS // 10), Sample(1, 2 * MS, 2 * MS), 11, 100, True),
        # Of two it is not known; the fastest 5 % may be odd ones, and two slow ones of many.
        *((FAST, SLOW, *each) for each in [(1, 2, False), (1, 3, True), (2, 3, True)]),
        *((FAST, SLOW, *each) for each in [(237, 240, False), (229, 240, False), (228, 240, True)]),
        *((FAST, SLOW, *each) for each in [(3, 240, True), (2, 240, False)]),
        # All CPUs, of which there are two, can spend no more than twice the time.
        (Sample(1, 100_000, 100_000), Sample(1, 200_000, 400_000), 50, 100, True),
        (Sample(1, 100_000, 150_000), Sample(1, 200_000, 800_000), 50, 100, False),
    ],
)  # fmt: skip
def test_calls_differ_that_do_so_by_far_and_often(
    monkeypatch: pytest.MonkeyPatch, fast: Sample, slow: Sample, several: int, count: int,
    differ: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    found = find_kinds(sampled(lambda i: i < several, count, fast, slow))
    assert (found is not None) is differ


@pytest.mark.parametrize(("share", "both", "slow"), [(0.5, 40, 4), (0.75, 80, 3), (0.25, 80, 8)])
def test_a_sample_holds_twenty_of_each_or_two_slow_ones(share: float, both: int, slow: int) -> None:
    kinds = Kinds(1, 2, share)
    assert (kinds.samples_with_both, kinds.samples_with_slow) == (both, slow)


@pytest.mark.parametrize(("count", "groups"), [(4000, 100), (240, 8), (24, 6), (3, 1)])
def test_merged_samples_are_eight_if_each_holds_slow_calls(count: int, groups: int) -> None:
    merged = merge_neighbours(sampled(lambda i: i % 2 == 1, count), Kinds(1, 9, 0.5))
    assert [sample.calls for sample in merged] == [count // groups] * groups


# Samples


def probe(waited: int, left: int = 0, *, compiled: bool = False) -> TimedCall:
    """A call of the warm-up."""
    return TimedCall(1, waited, left, waited, compiled)


def test_the_first_call_of_the_warm_up_is_left_out_unless_it_is_the_only_one() -> None:
    calls = [probe(3), probe(2), probe(1)]
    assert Samples(warmup=calls).settled_warmup == calls[1:]
    assert Samples(warmup=calls[:1]).settled_warmup == calls[:1]


def test_work_that_was_left_is_counted_in_the_warm_up_and_samples_are_taken_again() -> None:
    samples = Samples([Sample(1, 5, 5), Sample(1, 6, 6)], [2], [probe(10, 4), probe(7)])
    samples.count_what_was_left()
    assert [(call.waited, call.left) for call in samples.warmup] == [(14, 0), (7, 0)]
    assert (samples.taken, samples.rounds) == ([], [0])
    samples = Samples(warmup=[probe(10, 4)])
    samples.count_what_was_left()
    assert samples.rounds == []  # none was begun


def test_samples_of_calls_that_differ_become_fewer_that_are_alike() -> None:
    samples = Samples([FAST, SLOW] * 120, [20] * 12)
    assert samples.half_width() == samples.known == 0.0  # that of their mean
    assert len(samples.taken) == 240  # they go on as they are
    assert samples.merge() == Kinds(20_000, 5 * MS, 0.5)
    assert samples.taken == [Sample(30, 15 * (20_000 + 5 * MS), 15 * (20_000 + 5 * MS))] * 8
    assert samples.rounds == [1] * 8
    taken = [FAST, SLOW._replace(compiled=True), *[FAST, SLOW] * 20]
    samples = Samples([*taken], [len(taken)])
    assert samples.merge() is None  # one compiled something
    assert samples.taken == taken
    calls = [probe(20_000), probe(5 * MS)] * 10
    assert Samples(warmup=calls).kinds_in_warmup() == Kinds(20_000, 5 * MS, 0.5)
    assert Samples(warmup=[*calls, probe(MS, compiled=True)]).kinds_in_warmup() is None


@pytest.mark.parametrize(
    ("own", "others", "differ"),
    [(500 * MS, 500 * MS, False),  # two threads
     (500 * MS, 21 * MS, False), (500 * MS, 20 * MS, True),  # the kernel's own
     (20 * MS, 0, True), (20 * MS - 1, 0, False)],  # others have not been credited yet
)  # fmt: skip
def test_threads_that_spin_make_no_calls_that_differ(own: int, others: int, differ: bool) -> None:
    # As Linux credits two threads: to the one that asks at once, to the other at a few ticks.
    lumps = [Sample(1, 77_000, 77_500)] * 8
    taken = [Sample(1, 15 * MS, 15 * MS), Sample(1, 77_000, 40 * 77_000), *lumps] * 24
    for spins in (False, True):
        samples = Samples([*taken], [len(taken)], spins=spins, own=own, spent=own + others)
        found = samples.merge() is not None
        assert found is (differ or not spins)
    warmup = [TimedCall(1, each.ns, 0, each.spent, compiled=False) for each in taken]
    samples = Samples(warmup=warmup, spins=True, own=own, spent=own + others)
    assert (samples.kinds_in_warmup() is not None) is differ


@pytest.mark.parametrize(
    ("waited", "others", "differ"),
    [(None, 500 * MS, True), (0.0, 500 * MS, True), (0.95, 500 * MS, True), (1.0, 500 * MS, False),
     (2.0, 500 * MS, False), (2.0, 0, True)],  # one thread spins for none
)  # fmt: skip
def test_calls_that_took_longer_by_what_threads_waited_for_a_cpu_do_the_same_work(
    waited: float | None, others: int, differ: bool
) -> None:
    taken = [FAST, FAST, SLOW] * 40
    longer = 40 * (SLOW.ns - FAST.ns) * 1e-9
    told = None if waited is None else waited * longer
    samples = Samples([*taken], [len(taken)], waited=lambda: told, own=500 * MS,
                      spent=500 * MS + others)  # fmt: skip
    assert (samples.merge() is not None) is differ
    assert (samples.taken != taken) is differ


@pytest.mark.parametrize("others", [0, 0.05, 1])
def test_cpu_time_is_counted_in_warm_up_and_samples(bench: Bench, others: float) -> None:
    clock = bench.clock
    spent = lambda: int(clock.spent() * (1 + others))  # noqa: E731
    threads = Clock(clock.now, clock.wall, clock.sleep, spent, clock.own)
    bench.names["call"] = lambda: clock.advance(10 * MS)
    snippet = Snippet(Source.plain("call()"), bench.names)
    calls, samples = Calls(snippet, None, threads, Drain([], threads)), Samples(spins=True)
    samples.warm_up(calls)
    samples.rounds.append(0)
    samples.take(calls, 2)
    assert (samples.own, samples.spent) == (30 * MS, int(30 * MS * (1 + others)))
    assert samples.cpu_time_tells is (not others)


# The whole flow


def in_turns(bench: Bench, is_slow: Kind, others: int = 0, fast: int = 20_000) -> None:
    """Bind ``call``, which takes 5 ms if it is slow, else 20 µs, beside other programs."""
    turn, rng = itertools.count(), random.Random(1)

    def call() -> None:
        bench.clock.advance(5 * MS if is_slow(next(turn)) else fast)
        if others:
            bench.clock.disturb(rng.randrange(others))

    bench.names["call"] = call


@pytest.mark.parametrize("others", [0, 20_000])
@pytest.mark.parametrize(
    ("is_slow", "truth"),
    [(lambda i: i % 2 == 0, 2.51e-3), (lambda i: i % 3, 3.34e-3), (lambda i: i % 50, 4.9e-3)],
)
def test_the_figure_of_calls_that_do_different_work_is_their_mean(
    bench: Bench, is_slow: Kind, truth: float, others: int
) -> None:
    in_turns(bench, is_slow, others)
    m = bench.time("call()")
    assert m.headline.value == pytest.approx(truth, rel=0.05)
    if truth == 2.51e-3 and not others:
        text = "The calls do different work: 50 % of them take 5.00 ms, the others 20.0 µs."
        assert notes_by_code(m)["calls-differ"] == f"{text} The time is the mean of both."
        assert m.loops >= 20


def test_of_calls_without_a_figure_nothing_is_said_of_their_kinds(bench: Bench) -> None:
    in_turns(bench, lambda i: i % 10 == 5)
    bench.names["it"] = iter([1, 2])
    m = bench.time("call(); next(it, None)")
    assert {"emptied", "calls-differ"} & {*notes_by_code(m)} == {"emptied"}
    assert m.verdict == "INVALID"


@pytest.mark.parametrize(("options", "alike"), [({"number": 1}, 0), ({"repeat": 20}, 51)])
def test_an_exact_number_of_samples_stays(
    bench: Bench, options: dict[str, Any], alike: int
) -> None:
    """Where its calls are alike while it is warmed up."""
    in_turns(bench, lambda i: i % 2 == 1 and i >= alike, fast=2 * MS // 5)
    m = bench.time("call()", **options)
    assert m.repeat == options.get("repeat", 7)
    assert "calls-differ" not in notes_by_code(m)
