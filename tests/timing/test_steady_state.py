"""All calls after the first one, as one run of them."""

import dataclasses
import gc
import math

import pytest

from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.measure import make_steady, measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.session import LaterCalls, make_first_call, open_session, plan_calls
from ipyjaxbench.timing.steady_state import Steady, gc_paused
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, START, Bench, failing, notes_by_code

SECOND = 1000 * MS


def prepared(bench: Bench, code: str, **options: object) -> tuple[LaterCalls, Steady]:
    """What makes the calls after the first one, which was made."""
    snippet = Snippet(Source.plain(code), bench.names)
    session = open_session(snippet, TimeOptions(**options), clock=bench.clock)
    later = plan_calls(session, make_first_call(session))
    return later, make_steady(later)


# Warm-up


@pytest.mark.parametrize(("milliseconds", "wasted"), [(200, 1), (201, 0)])
def test_the_warm_up_counts_where_a_call_takes_over_a_tenth_of_the_budget(
    bench: Bench, milliseconds: int, wasted: int
) -> None:
    turns = bench.counted(lambda _: bench.clock.advance((milliseconds - 1) * MS))
    later, steady = prepared(bench, "call()", budget=2.0)
    steady.run(later.typical)
    warm = len(steady.samples.warmup)
    assert len(turns) == 1 + len(steady.samples.taken) + warm * wasted


def test_the_warm_up_of_slow_calls_does_not_count_where_work_was_hidden(bench: Bench) -> None:
    """A call whose work was over before the question seems to have none."""
    bench.counted(lambda turn: bench.device.start(dispatch=0, work=0 if turn == 3 else 40 * MS))
    m = bench.time("call(); 1", budget=0.2025)  # the warm-up is two calls, of 40 ms and of one
    assert "elsewhere" in notes_by_code(m)
    assert m.samples == pytest.approx([40e-3] * len(m.samples))


def test_the_warm_up_of_slow_calls_does_not_count_where_they_differ(bench: Bench) -> None:
    bench.counted(lambda turn: bench.clock.advance(250 * MS) if turn % 2 else None)
    m = bench.time("call()", budget=2.0)
    assert "calls-differ" in notes_by_code(m)
    assert min(calls for calls, _ in m.batches) == 4  # two of each kind
    turns = bench.counted(lambda turn: bench.clock.advance(9 * MS) if turn % 2 else None)
    _, steady = prepared(bench, "call()")
    steady.warm_up(bench.clock.wall() + 100 * SECOND)
    assert (steady.differ, steady.number, len(turns)) == (Kinds(MS, 10 * MS, 0.5), 40, 11)


def test_work_is_looked_for_in_the_warm_up_also_where_an_error_ends_it(bench: Bench) -> None:
    turns = bench.counted(failing(5, OSError("gone")))
    m = bench.time(f"call(); {START}; 1")
    assert len(turns) == 5
    assert m.samples == pytest.approx([2.01e-3] * 3)
    assert {"stopped-by-error", "elsewhere"} <= notes_by_code(m).keys()


# Queued calls


@pytest.mark.parametrize(
    ("code", "options", "queues"),
    [(START, {}, True), (START, {"clock": "cpu"}, False), (START, {"repeat": 5}, False),
     ("call()", {}, False)],
)  # fmt: skip
def test_calls_are_queued_where_elapsed_time_is_measured_until_it_is_known(
    bench: Bench, code: str, options: dict, queues: bool
) -> None:
    bench.counted()
    _, steady = prepared(bench, code, **options)
    steady.warm_up(bench.clock.wall() + SECOND)
    assert (steady.queued is not None) is queues
    assert bool(steady.dispatches()) is (options != {"clock": "cpu"}) or code != START


def test_results_of_queued_calls_take_a_tenth_of_the_free_memory(bench: Bench) -> None:
    bench.framework.free_memory = lambda: 200  # type: ignore[method-assign]
    _, steady = prepared(bench, START)
    assert steady.room == 50.0  # results of four bytes
    steady.warm_up(bench.clock.wall() + SECOND)
    assert steady.queued is not None
    assert steady.queued.number == 5


def test_two_fifths_of_the_time_are_spent_on_queued_calls(bench: Bench) -> None:
    bench.clock.advance(1000 * SECOND)
    later, steady = prepared(bench, "device.start(dispatch=10, work=9_000_000)", budget=1.0)
    steady.run(later.typical)
    assert steady.queued is not None
    assert steady.elapsed == pytest.approx(1.0, abs=0.1)
    assert 0.38e9 <= steady.queued.spent <= 0.49e9  # a sample takes 80 ms


# What ends the calls, and what is said of it


@pytest.mark.parametrize(("nanoseconds", "calls"), [(29_999_999_999, 2), (30_000_000_000, 1)])
def test_one_warm_call_is_worth_half_a_minute(bench: Bench, nanoseconds: int, calls: int) -> None:
    later, steady = prepared(bench, f"clock.advance({nanoseconds})")
    steady.run(later.typical)
    assert steady.calls.made == calls


@pytest.mark.parametrize(("free", "is_enough"), [(8, True), (7, False)])
def test_two_results_have_to_fit_into_memory(bench: Bench, free: int, is_enough: bool) -> None:
    bench.framework.free_memory = lambda: free  # type: ignore[method-assign]
    m = bench.time(START, budget=0.1)
    assert ("over-memory" not in notes_by_code(m)) is is_enough
    assert (m.verdict == "ONCE" and m.batches == ()) is not is_enough


@pytest.mark.parametrize(("nbytes", "is_asked"), [(99_999_999, False), (100_000_000, True)])
def test_free_memory_is_asked_for_large_results(bench: Bench, nbytes: int, is_asked: bool) -> None:
    framework = bench.framework
    large = dataclasses.replace(framework.placement(FakeArray(bench.device, 0)), nbytes=nbytes)
    framework.placement = lambda array: large  # type: ignore[method-assign]
    framework.waiter = lambda value, arrays: None  # type: ignore[method-assign]
    _, steady = prepared(bench, START)
    assert steady.room == (4_000_000 / nbytes if is_asked else math.inf)


@pytest.mark.parametrize(("share", "is_told"), [(1.24, False), (1.26, True)])
def test_an_interval_is_too_wide_where_it_is_a_quarter_wider_than_asked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, share: float, is_told: bool
) -> None:
    monkeypatch.setattr("ipyjaxbench.stats.half_width", lambda samples, rounds: 0.02 * share)
    bench.counted()
    m = bench.time("call()", budget=0.5)
    assert ("needs-longer" in notes_by_code(m)) is is_told
    assert m.elapsed == pytest.approx(0.5, abs=0.02)


# How far it is


def progress_of(bench: Bench, **options: object) -> list[tuple[float, int]]:
    """What was told of the progress of calls of a millisecond."""
    bench.counted()
    told: list[tuple[float, int]] = []
    on_progress = lambda known, left: told.append((known, left))  # noqa: E731
    snippet = Snippet(Source.plain("call()"), bench.names)
    measure_snippet(snippet, TimeOptions(**options), clock=bench.clock, on_progress=on_progress)
    return told


@pytest.mark.parametrize(
    ("number", "repeat", "left"),
    [(2, 4, [0, 4 * MS, 2 * MS, 0]),
     (1, 6, [0, 0, 0, 0, MS, 0])],  # nothing is known while the first three are looked at closely
)  # fmt: skip
def test_the_time_that_samples_will_take_is_told_where_their_number_is_known(
    bench: Bench, number: int, repeat: int, left: list[int]
) -> None:
    progress = progress_of(bench, number=number, repeat=repeat)
    assert all(math.isnan(known) for known, _ in progress)  # the interval is not asked for
    assert [ns for _, ns in progress] == left


def test_the_interval_and_the_time_left_are_told_between_rounds(bench: Bench) -> None:
    progress = progress_of(bench, budget=0.5)
    assert progress[0] == (math.inf, SECOND // 2)
    times = [ns for _, ns in progress]
    assert times == sorted(times, reverse=True)
    assert len(progress) >= 10
    assert times[-1] > 0


# What decides between calls


@pytest.mark.parametrize(("spins", "code"), [(True, START), (False, START), (False, "1 + 1")])
def test_threads_may_spin_where_frameworks_do(bench: Bench, spins: bool, code: str) -> None:
    bench.framework.spins = spins or code != START
    assert prepared(bench, code)[1].samples.spins is spins


def test_what_looks_at_calls_before_the_warm_up_gets_the_time_that_is_left(bench: Bench) -> None:
    _, steady = prepared(bench, START)
    assert (steady.number, steady.ahead) == (1, 0)
    steady.number = 50
    assert steady.ahead == 5  # untimed calls before a sample
    bench.clock.advance(SECOND)
    asked: list[float] = []
    steady.prepare = lambda calls, budget: asked.append(budget)
    steady.warm_up(bench.clock.wall() + 3 * SECOND)
    assert asked == [3 * SECOND]


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_again_when_the_last_of_several_is_done(enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with gc_paused():
            with gc_paused():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()
