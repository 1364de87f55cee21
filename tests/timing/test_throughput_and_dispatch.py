"""Throughput and dispatch, on a device whose time is told by hand."""

from typing import Any

import pytest

from ipyjaxbench.testing import FakeDevice
from ipyjaxbench.timing import sampling
from ipyjaxbench.timing.call_times import QueuedTime
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.throughput_and_dispatch import QueuedCalls, plan_queued_calls
from ipyjaxbench.timing.waiting import Waiting
from tests.bench import START, Bench, failing, notes_by_code
from tests.timing.timed import Timed

ALL_FREE = 1e9
USUAL = "device.start(dispatch=10_000, work=1_000_000)"


def planned(
    code: str, *, waits: bool = True, most: float = ALL_FREE, waiting: int = 0
) -> tuple[QueuedCalls | None, FakeDevice]:
    """What looks at queued calls of some code, after its warm-up."""

    def wait(array: Any) -> None:
        array.wait()
        timed.clock.advance(waiting)

    timed = Timed(code, None, Waiting(wait if waits else None, takes_value=waits))
    samples = Samples()
    sampling.warm_up(timed.calls, samples, timed.clock.wall() + 10**9)
    return plan_queued_calls(timed.calls, samples.settled_warmup, most), timed.device


def queue_of(code: str, **options: Any) -> tuple[QueuedCalls, FakeDevice]:
    """The same of code that is queued."""
    queue, device = planned(code, **options)
    assert queue is not None
    return queue, device


@pytest.mark.parametrize(
    ("dispatch", "work", "waiting", "throughput"),
    [(10_000, 1_000_000, 100_000, 1e-3),  # with each waited for it is 1.11 ms
     (30_000, 20_000, 0, 30e-6)],  # where starting takes longer than the work
)  # fmt: skip
@pytest.mark.parametrize("drains", [True, False])  # as not that which threads begin on XLA's CPU
def test_queued_calls_take_what_the_device_needs_and_no_more(
    dispatch: int, work: int, waiting: int, throughput: float, drains: bool
) -> None:
    queue, device = queue_of(f"device.start(dispatch={dispatch}, work={work})", waiting=waiting)
    queue.calls.drain = queue.calls.drain if drains else Drain([], device.clock)
    begun = device.clock.now()
    queue.measure()
    queue.measure()
    assert queue.throughputs == [pytest.approx(throughput)] * 2
    assert queue.dispatches == [pytest.approx(dispatch * 1e-9)] * 2
    assert queue.spent == device.clock.now() - begun


@pytest.mark.parametrize(
    ("code", "options", "is_queued"),
    [("clock.advance(1_000_000)", {"waits": False}, False),
     ("device.start(dispatch=900_000, work=100_000)", {}, True),  # a tenth in the background
     ("device.start(dispatch=900_001, work=99_999)", {}, False),
     ("device.start(dispatch=10, work=9_999_990)", {}, True),  # ten milliseconds
     ("device.start(dispatch=10, work=9_999_991)", {}, False),
     ("device.start(dispatch=10, work=10_000)", {"most": 1.5}, False)],  # no two fit into memory
)  # fmt: skip
def test_calls_are_queued_that_go_on_in_the_background_and_are_short(
    code: str, options: dict[str, Any], is_queued: bool
) -> None:
    assert (planned(code, **options)[0] is not None) is is_queued


@pytest.mark.parametrize(
    ("work", "most", "number", "programs"),
    [(1_000, ALL_FREE, 64, 64 + 16 + 4), (1_000_000, ALL_FREE, 7, 7 + 1 + 4),
     (888_789, ALL_FREE, 8, 8 + 2 + 4),  # just below nine in eight milliseconds
     (9_000_000, ALL_FREE, 4, 4 + 1 + 4), (1_000, 10.5, 10, 10 + 2 + 4),
     (9_000_000, 3.0, 3, 3 + 1 + 3), (9_000_000, 2.0, 2, 2 + 1 + 2)],
)  # fmt: skip
def test_a_look_is_short_and_fits_memory(
    work: int, most: float, number: int, programs: int
) -> None:
    queue, device = queue_of(f"device.start(dispatch=100, work={work})", most=most)
    assert queue.number == number
    before = len(device.worked)
    queue.measure()
    assert len(device.worked) - before == programs


@pytest.mark.parametrize(
    ("many", "few", "throughput"),
    [(700, 200, 500 / 6),  # the difference has no fixed cost in it
     (700, 800, 100.0),  # it is noise
     (700, 10, 100.0),  # also where it is above the quotient
     (14, 11, 0.5)],
)  # fmt: skip
def test_an_impossible_difference_is_no_figure(many: int, few: int, throughput: float) -> None:
    queue, _ = queue_of(USUAL)
    assert (queue.number, queue.dispatched) == (7, 4)
    took = iter([QueuedTime(0, many), QueuedTime(0, few), QueuedTime(40, 4_000)])
    queue.calls.queue = lambda calls: next(took)  # type: ignore[method-assign]
    queue.measure()
    assert queue.throughputs == [pytest.approx(throughput * 1e-9)]
    assert queue.dispatches == [pytest.approx(10e-9)]


def test_few_calls_that_were_held_up_do_not_make_many_seem_fast() -> None:
    queue, _ = queue_of(USUAL)
    few = iter([600, 600, 130])
    queue.calls.queue = lambda calls: QueuedTime(  # type: ignore[method-assign]
        40, {7: lambda: 700, 1: lambda: next(few), 4: lambda: 4_000}[calls]()
    )
    queue.measure()
    queue.measure()
    assert queue.throughputs == [pytest.approx(100e-9 / 6)] * 2
    queue.measure()
    assert queue.throughputs == [pytest.approx(570e-9 / 6)] * 3


@pytest.mark.parametrize(("longer", "dispatched"), [(13_333, 4), (13_334, 1)])
def test_where_queued_calls_block_one_alone_is_begun(longer: int, dispatched: int) -> None:
    """Four calls of 10 µs, of which three wait: together they take over 80 µs."""
    queue, _ = queue_of(
        f"clock.advance({longer} if device.busy_until > clock.now() else 0); {USUAL}"
    )
    assert queue.dispatched == dispatched
    queue.measure()
    if dispatched == 1:
        assert queue.dispatches == [pytest.approx(10e-6)]


def test_a_look_in_which_something_compiled_does_not_count() -> None:
    queue, device = queue_of(USUAL)
    queue.calls.set_up = lambda **_: device.compile(1000)  # type: ignore[method-assign]
    queue.measure()
    assert (queue.throughputs, queue.dispatches) == ([], [])
    assert queue.spent > 0


# In the whole flow


@pytest.mark.parametrize(
    ("code", "median", "throughput", "dispatch"),
    [
        ("(clock.advance(5_000), device.start(dispatch=10_000, work=1_000_000))[1]",
         1.015e-3, 1e-3, 15e-6),
        ("device.start(dispatch=10_000, work=50_000_000)", 50.01e-3, None, 10e-6),  # of the warm-up
        ("clock.advance(1_000_000)", 1e-3, None, None),
    ],
)  # fmt: skip
def test_the_three_times_are_told_apart(
    bench: Bench, code: str, median: float, throughput: float | None, dispatch: float | None
) -> None:
    m = bench.time(code, budget=0.5)
    assert m.median == pytest.approx(median)
    assert m.throughput == pytest.approx(throughput)
    assert m.dispatch == pytest.approx(dispatch)


def test_an_interrupt_while_calls_are_queued_keeps_the_samples(bench: Bench) -> None:
    bench.counted(failing(131, KeyboardInterrupt()))
    m = bench.interrupted(f"call(); {START}")
    assert "interrupted" in notes_by_code(m)
    assert m.median == pytest.approx(2.01e-3)
