"""Throughput and dispatch, on a device whose time is told by hand."""

from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing import sampling
from ipyjaxbench.timing.call_times import QueuedTime
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.throughput_and_dispatch import QueuedCalls, plan_queued_calls
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import START, Bench, notes_by_code
from tests.fake_framework import FakeFramework

ALL_FREE = 1e9


def queue_of(
    code: str, *, waits: bool = True, most: float = ALL_FREE, waiting: int = 0
) -> tuple[QueuedCalls | None, FakeDevice]:
    """What looks at queued calls of some code, after its warm-up."""
    device = FakeDevice(FakeClock())
    framework = FakeFramework(device)
    snippet = Snippet(Source.plain(code), {"device": device, "clock": device.clock})
    calls = Calls(snippet, None, device.clock, Drain([framework], device.clock))
    calls.watches = [framework.capability(Compilation).watch(())]

    def wait(array: Any) -> None:
        array.wait()
        device.clock.advance(waiting)

    calls.arrange(Waiting(wait if waits else None, takes_value=waits), kept={})
    samples = Samples()
    sampling.warm_up(calls, samples, device.clock.wall() + 10**9)
    return plan_queued_calls(calls, samples.settled_warmup, most), device


def test_queued_calls_take_what_the_device_needs_and_no_more() -> None:
    queue, _ = queue_of("device.start(dispatch=10_000, work=1_000_000)", waiting=100_000)
    assert queue is not None
    queue.measure()
    assert queue.throughputs == [pytest.approx(1e-3)]  # with each waited for it is 1.11 ms
    assert queue.dispatches == [pytest.approx(10e-6)]


def test_where_starting_takes_longer_than_the_work_it_sets_the_throughput() -> None:
    queue, _ = queue_of("device.start(dispatch=30_000, work=20_000)")
    assert queue is not None
    queue.measure()
    assert queue.throughputs == [pytest.approx(30e-6)]


def test_nothing_is_queued_where_python_goes_on_when_the_work_is_done() -> None:
    assert queue_of("clock.advance(1_000_000)", waits=False)[0] is None
    assert queue_of("device.start(dispatch=1_000_000, work=50_000)")[0] is None


@pytest.mark.parametrize(("dispatch", "is_queued"), [(900_000, True), (900_001, False)])
def test_calls_are_queued_where_a_tenth_of_each_goes_on_in_the_background(
    dispatch: int, is_queued: bool
) -> None:
    code = f"device.start(dispatch={dispatch}, work={1_000_000 - dispatch})"
    assert (queue_of(code)[0] is not None) is is_queued


def test_calls_of_over_ten_milliseconds_are_not_queued() -> None:
    assert queue_of("device.start(dispatch=10, work=9_999_990)")[0] is not None
    assert queue_of("device.start(dispatch=10, work=9_999_991)")[0] is None


@pytest.mark.parametrize(
    ("work", "most", "number"),
    [
        (1_000, ALL_FREE, 64),
        (1_000_000, ALL_FREE, 7),
        (888_789, ALL_FREE, 8),  # just below nine in eight milliseconds
        (9_000_000, ALL_FREE, 4),
        (1_000, 10.5, 10),
        (9_000_000, 3.0, 3),
        (9_000_000, 2.0, 2),
    ],
)
def test_a_look_is_short_and_its_results_fit_into_memory(
    work: int, most: float, number: int
) -> None:
    queue, _ = queue_of(f"device.start(dispatch=100, work={work})", most=most)
    assert queue is not None
    assert queue.number == number


@pytest.mark.parametrize(
    ("work", "most", "programs"),
    [(1_000, ALL_FREE, 64 + 16 + 4), (1_000_000, ALL_FREE, 7 + 1 + 4), (9_000_000, 3.0, 3 + 1 + 3)],
)
def test_a_look_queues_many_calls_then_a_quarter_then_a_few(
    work: int, most: float, programs: int
) -> None:
    queue, device = queue_of(f"device.start(dispatch=100, work={work})", most=most)
    assert queue is not None
    before = len(device.worked)
    queue.measure()
    assert len(device.worked) - before == programs


@pytest.mark.parametrize(
    ("many", "few", "throughput"),
    [
        (700, 200, 500 / 6),  # the difference has no fixed cost in it
        (700, 800, 100.0),  # it is noise
        (700, 10, 100.0),  # also where it is above the quotient
        (14, 11, 0.5),
    ],
)
def test_a_difference_that_cannot_be_true_is_not_the_throughput(
    many: int, few: int, throughput: float
) -> None:
    queue, _ = queue_of("device.start(dispatch=10_000, work=1_000_000)")
    assert queue is not None
    assert (queue.number, queue.dispatched) == (7, 4)
    took = iter([QueuedTime(0, many), QueuedTime(0, few), QueuedTime(40, 4_000)])
    queue.calls.queue = lambda calls: next(took)  # type: ignore[method-assign]
    queue.measure()
    assert queue.throughputs == [pytest.approx(throughput * 1e-9)]
    assert queue.dispatches == [pytest.approx(10e-9)]


def test_few_calls_that_were_held_up_do_not_make_many_seem_fast() -> None:
    queue, _ = queue_of("device.start(dispatch=10_000, work=1_000_000)")
    assert queue is not None
    took = iter([QueuedTime(0, 700), QueuedTime(0, 600), QueuedTime(40, 4_000)] * 2)
    queue.calls.queue = lambda calls: next(took)  # type: ignore[method-assign]
    queue.measure()
    queue.measure()
    assert queue.throughputs == [pytest.approx(100e-9 / 6)] * 2
    queue.calls.queue = lambda calls: QueuedTime(0, 700 if calls == 7 else 130)  # type: ignore[method-assign]
    queue.measure()
    assert queue.throughputs == [pytest.approx(570e-9 / 6)] * 3


@pytest.mark.parametrize(("longer", "dispatched"), [(13_333, 4), (13_334, 1)])
def test_where_queued_calls_block_one_alone_shows_when_python_goes_on(
    longer: int, dispatched: int
) -> None:
    """Four calls of 10 µs, of which three wait: together they take over 80 µs."""
    queue, _ = queue_of(
        f"clock.advance({longer} if device.busy_until > clock.now() else 0);"
        " device.start(dispatch=10_000, work=1_000_000)"
    )
    assert queue is not None
    assert queue.dispatched == dispatched
    queue.measure()
    if dispatched == 1:
        assert queue.dispatches == [pytest.approx(10e-6)]


def test_results_of_which_no_two_fit_into_memory_are_not_queued() -> None:
    assert queue_of("device.start(dispatch=10, work=10_000)", most=1.5)[0] is None


def test_a_look_in_which_something_compiled_does_not_count() -> None:
    queue, device = queue_of("device.start(dispatch=10_000, work=1_000_000)")
    assert queue is not None
    queue.calls.set_up = lambda **_: device.compile(1000)  # type: ignore[method-assign]
    queue.measure()
    assert (queue.throughputs, queue.dispatches) == ([], [])
    assert queue.spent > 0


def test_the_time_of_all_looks_is_known() -> None:
    queue, device = queue_of("device.start(dispatch=10_000, work=1_000_000)")
    assert queue is not None
    begun = device.clock.now()
    queue.measure()
    queue.measure()
    assert queue.spent == device.clock.now() - begun


# In the whole flow


def test_the_three_times_are_told_apart(bench: Bench) -> None:
    m = bench.time("(clock.advance(5_000), device.start(dispatch=10_000, work=1_000_000))[1]")
    assert m.median == pytest.approx(1.015e-3)
    assert m.throughput == pytest.approx(1e-3)
    assert m.dispatch == pytest.approx(15e-6)


def test_queued_calls_take_at_most_two_fifths_of_the_time(bench: Bench) -> None:
    m = bench.time("device.start(dispatch=10, work=3_000_000 + clock.now() * 7919 % 6_000_000)")
    assert len(m.throughputs) >= 2
    assert m.elapsed <= 2.3


@pytest.mark.parametrize("options", [{"number": 5}, {"repeat": 5}, {"number": 2, "repeat": 3}])
def test_with_exact_numbers_no_calls_are_queued(bench: Bench, options: dict) -> None:
    m = bench.time(START, **options)
    assert m.throughput is None
    assert m.dispatch == pytest.approx(10e-6)


def test_of_slow_calls_the_warm_up_shows_when_python_goes_on(bench: Bench) -> None:
    m = bench.time("device.start(dispatch=10_000, work=50_000_000)")
    assert m.throughput is None
    assert m.dispatch == pytest.approx(10e-6)


def test_synchronous_code_has_one_time_only(bench: Bench) -> None:
    m = bench.time("clock.advance(1_000_000)")
    assert (m.throughput, m.dispatch) == (None, None)


def test_an_interrupt_while_calls_are_queued_keeps_the_samples(bench: Bench) -> None:
    left = iter(range(130))

    def call() -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return bench.device.start(dispatch=10_000, work=1_000_000)

    bench.names["call"] = call
    m = bench.interrupted("call()")
    assert "interrupted" in notes_by_code(m)
    assert m.median == pytest.approx(1.01e-3)


def test_work_that_draining_does_not_see_is_waited_for_by_its_values() -> None:
    """As that which threads of the code begin on XLA's CPU."""
    queue, device = queue_of("device.start(dispatch=10_000, work=1_000_000)")
    assert queue is not None
    queue.calls.drain = Drain([], device.clock)
    queue.measure()
    assert queue.throughputs == [pytest.approx(1e-3)]
