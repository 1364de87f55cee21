"""What was timed so far: figures of samples, and what becomes of them."""

import pytest

from ipyjaxbench.host import Clock
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.call_times import Sample, TimedCall
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.usercode import Snippet, Source
from tests.bench import MS, Bench

FAST, SLOW = Sample(1, 20_000, 20_000), Sample(1, 5 * MS, 5 * MS)


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


def test_samples_are_not_put_together_where_one_compiled_something() -> None:
    taken = [FAST, SLOW._replace(compiled=True), *[FAST, SLOW] * 20]
    samples = Samples([*taken], [len(taken)])
    assert samples.merge() is None
    assert samples.taken == taken


def test_calls_of_the_warm_up_are_of_two_kinds_unless_one_compiled_something() -> None:
    calls = [probe(20_000), probe(5 * MS)] * 10
    kinds = Kinds(20_000, 5 * MS, 0.5)
    assert Samples(warmup=calls).kinds_in_warmup() == kinds
    assert Samples(warmup=[*calls, probe(MS, compiled=True)]).kinds_in_warmup() is None


LOST, CREDITED = Sample(1, 15 * MS, 15 * MS), Sample(1, 77_000, 40 * 77_000)


@pytest.mark.parametrize(
    ("own", "others", "differ"),
    [
        (500 * MS, 500 * MS, False),  # two threads
        (500 * MS, 21 * MS, False),
        (500 * MS, 20 * MS, True),  # the kernel's own
        (20 * MS, 0, True),
        (20 * MS - 1, 0, False),  # others have not been credited yet
    ],
)
def test_calls_differ_where_threads_may_spin_only_if_one_thread_computes(
    own: int, others: int, differ: bool
) -> None:
    # As Linux credits two threads: to the one that asks at once, to the other at a few ticks.
    lumps = [Sample(1, 77_000, 77_500)] * 8
    taken = [LOST, CREDITED, *lumps] * 24
    for spins in (False, True):
        samples = Samples([*taken], [len(taken)], spins=spins, own=own, spent=own + others)
        found = samples.merge() is not None
        assert found is (differ or not spins)
    warmup = [TimedCall(1, each.ns, 0, each.spent, compiled=False) for each in taken]
    samples = Samples(warmup=warmup, spins=True, own=own, spent=own + others)
    assert (samples.kinds_in_warmup() is not None) is differ


@pytest.mark.parametrize("others", [0, 0.05, 1])
def test_cpu_time_is_counted_around_calls_of_the_warm_up_and_samples(
    bench: Bench, others: float
) -> None:
    clock = bench.clock
    threads = Clock(
        clock.now, clock.wall, clock.sleep,
        lambda: int(clock.spent() * (1 + others)), clock.own,
    )  # fmt: skip
    bench.names["call"] = lambda: clock.advance(10 * MS)
    snippet = Snippet(Source.plain("call()"), bench.names)
    calls, samples = Calls(snippet, None, threads, Drain([], threads)), Samples(spins=True)
    samples.warm_up(calls)
    samples.rounds.append(0)
    samples.take(calls, 2)
    assert (samples.own, samples.spent) == (30 * MS, int(30 * MS * (1 + others)))
    assert samples.cpu_time_tells is (not others)
