"""Busy time and operations, from intervals made by hand; the pass on a device told by hand."""

import dataclasses
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks import Placement
from ipyjaxbench.reports.blocks import Table
from ipyjaxbench.testing import FakeArray, FakeDevice
from ipyjaxbench.timing.device_time import (
    DeviceTime,
    Interval,
    Operation,
    Profile,
    ProfiledPass,
    own_times,
    profiled_pass,
    union,
)
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.protocol import Profiler
from tests.bench import MS, START, Bench, failing, notes_by_code
from tests.fake_framework import FakeFramework
from tests.results import STEADY, measured


def on(line: str, *spans: tuple[str, float, float], device: str = "gpu:0") -> list[Interval]:
    """Intervals on one line."""
    return [Interval(name, start, end, device, line) for name, start, end in spans]


# Arithmetic


@pytest.mark.parametrize(
    ("spans", "aside"),
    [([(0, 10, True)], 10), ([(0, 10, False)], 0),
     ([(0, 10, False), (2, 4, True)], 0),  # beside work of the default stream
     ([(0, 10, False), (6, 14, True)], 4), ([(0, 4, True), (2, 6, True)], 6)],
)  # fmt: skip
def test_aside_is_while_the_default_is_idle(
    spans: list[tuple[int, int, bool]], aside: float
) -> None:
    seen = [Interval("op", start, end, "cuda:0", str(own), aside=own) for start, end, own in spans]
    assert profiled_pass("torch", 1, 1.0, [seen]).aside == pytest.approx(aside * 1e-9)


@pytest.mark.parametrize(
    ("spans", "busy"),
    [([], 0), ([(0, 5), (5, 9)], 9), ([(0, 5), (7, 9)], 7), ([(0, 5), (3, 9)], 9),
     ([(3, 5), (0, 9), (8, 12)], 12)],
)  # fmt: skip
def test_a_moment_is_busy_once_at_most(spans: list[tuple[int, int]], busy: float) -> None:
    assert union(Interval("op", start, end, "gpu:0") for start, end in spans) == busy


@pytest.mark.parametrize(
    ("intervals", "own"),
    [(on("a", ("loop", 0, 10), ("dot", 1, 4), ("copy", 2, 3), ("tanh", 4, 6)), [5, 2, 1, 2]),
     ([*on("a", ("dot", 0, 10)), *on("b", ("copy", 2, 5))], [10, 3]),  # on another line
     (on("a", ("outer", 0, 4), ("inner", 0, 4), ("next", 4, 5)), [0, 4, 1]),
     (on("a", ("outer", 0, 5), ("goes on", 3, 9), ("next", 9, 10)), [3, 6, 1])],
)  # fmt: skip
def test_what_is_inside_is_not_its_own_time(intervals: list[Interval], own: list[int]) -> None:
    assert [ns for _, ns in own_times(intervals)] == own


def test_a_pass_is_summed_up_by_device_and_by_operation() -> None:
    first = [*on("a", ("dot", 0, 4e6)), *on("a", ("copy", 2e6, 6e6), device="gpu:1")]
    second = on("a", ("dot", 1e6, 3e6))
    assert profiled_pass("jax", 2, 0.016, [first, second]) == ProfiledPass(
        framework="jax", calls=2, elapsed=0.016, busy=0.008, worked=0.01, launches=3,
        devices={"gpu:0": 0.006, "gpu:1": 0.004},
        operations=(Operation("dot", 2, 0.006), Operation("copy", 1, 0.004)),
    )  # fmt: skip
    assert profiled_pass("jax", 1, 1e-6, [on("a", ("dot", 0, 1010))]).share == 1.0
    assert profiled_pass("jax", 1, 0.0, [second]).share == 0.0
    assert (DeviceTime((SEEN,)).busy, SEEN_TWICE.busy, DeviceTime().busy) == (0.005, 0.01, None)


def test_up_to_ten_names_are_kept_apart_and_more_become_one_by_kind_of_fifty() -> None:
    few = on("a", *((f"fusion.{i}", i, i + 1) for i in range(10)))
    many = on("a", *((f"fusion.{i}", i, i + 1) for i in range(11)), ("fusion", 20, 21))
    assert len(profiled_pass("jax", 1, 1.0, [few]).operations) == 10
    (together,) = profiled_pass("jax", 1, 1.0, [many]).operations
    assert (together.name, together.count) == ("fusion", 12)
    numbers = on("a", *((f".{i}", i, i + 1) for i in range(11)))  # without them nothing is left
    assert len(profiled_pass("jax", 1, 1.0, [numbers]).operations) == 11
    others = on("a", *((f"op{i}", i * 99, i * 100) for i in range(99)))
    seen = profiled_pass("torch", 1, 1.0, [others])
    assert (len(seen.operations), seen.operations[0].name, seen.launches) == (50, "op98", 99)


# Records and the report

SEEN = ProfiledPass("jax", 2, 0.02, 0.01, {"cpu:0": 0.01}, 6, 0.01, (Operation("dot", 4, 0.009),))
SEEN_TWICE = DeviceTime((SEEN, SEEN), {"torch": "interrupted"}, listed=True)
ROUNDED = dataclasses.replace(SEEN, launches=4, devices={"cpu:0": 0.010009})


@pytest.mark.parametrize("device", [DeviceTime(), DeviceTime((ROUNDED,)), SEEN_TWICE])
def test_a_record_keeps_it(device: DeviceTime) -> None:
    m = measured(STEADY, device=device)
    assert Measurement.from_dict(m.to_dict()) == m


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [({"busy": -1.0}, "Expected `float` >= 0.0 - at `$.device.passes[0].busy`"),
     ({"elapsed": math.inf}, "Expected `float` <= 1.79"),
     ({"worked": math.nan}, "Expected `float` >= 0.0 - at `$.device.passes[0].worked`"),
     ({"operations": (Operation("dot", 0, 1.0),)}, "Expected `int` >= 1"),
     ({"calls": 0}, "Expected `int` >= 1 - at `$.device.passes[0].calls`"),
     ({"launches": 3}, "more than ran"),
     ({"devices": {"cpu:0": 0.011}}, "longer than all of them")],
)  # fmt: skip
def test_a_record_that_cannot_be_true_is_refused(wrong: dict[str, Any], reason: str) -> None:
    m = measured(STEADY, device=DeviceTime((dataclasses.replace(SEEN, **wrong),)))
    with pytest.raises(RecordError, match=re.escape(reason)):
        Measurement.from_dict({**m.to_dict(), "facts": dataclasses.asdict(m)})


def test_ten_operations_are_listed_where_that_was_asked_for() -> None:
    def tables(seen: ProfiledPass, *, listed: bool) -> list[Table]:
        m = measured(STEADY, device=DeviceTime((seen,), listed=listed))
        return [block for block in m.report().blocks if isinstance(block, Table)]

    assert tables(SEEN, listed=False) == []
    (table,) = tables(SEEN, listed=True)
    head = ("operation", "runs", "self time", "share")
    assert table == Table("jax: operations of one call", head, (("dot", "2", "4.50 ms", "90.0 %"),))
    operations = tuple(Operation(f"op{i}", 3, 0.0) for i in range(12))
    many = dataclasses.replace(SEEN, operations=operations, launches=36, worked=0.0)
    (table,) = tables(many, listed=True)
    assert (len(table.rows), table.rows[0]) == (10, ("op0", "1.50", "0 ns", "0.0 %"))


# The pass


def test_a_few_more_calls_are_made_and_none_of_them_is_a_sample(bench: Bench) -> None:
    alone = bench.time(START, number=2, repeat=3)
    assert alone.device is None
    assert len(bench.device.worked) == 6
    log = bench.names["log"] = itertools.count()
    m = bench.time(f"next(log); {START}", number=2, repeat=3, profile=True)
    assert (m.batches, m.elapsed) == (alone.batches, alone.elapsed)
    (seen,) = m.device.passes
    assert seen.calls == 20  # of a millisecond each
    assert (seen.busy, seen.elapsed) == pytest.approx((20e-3, 20 * 1.01e-3))
    assert seen.operations == (Operation("work", 20, pytest.approx(20e-3)),)
    assert len(bench.device.worked) == 6 + 6 + 20
    assert (m.device.reasons, m.device.listed, next(log)) == ({}, False, 26)
    assert any("'log' advanced by 26 calls" in note.text for note in m.notes)
    assert not {"side-streams", "replays-graph"} & notes_by_code(m).keys()
    once = bench.time(START, number=1, repeat=1, profile=True)
    assert (once.verdict, once.device.passes[0].calls) == ("ONCE", 20)


@pytest.mark.parametrize(
    ("work", "calls"), [(1_000, 50), (15 * MS, 1), (100 * MS, 1), (3000 * MS, None)]
)
def test_the_pass_takes_about_twenty_milliseconds_and_keeps_the_budget(
    bench: Bench, work: int, calls: int | None
) -> None:
    found = bench.time(f"device.start(dispatch=0, work={work})", budget=0.2, profile=True).device
    if calls is None:
        assert found.reasons == {"fake": "another call would exceed the time budget of 200 ms"}
        assert len(bench.device.worked) == 2  # the cold one and the warm one that is the figure
    else:
        assert found.passes[0].calls == calls


def test_set_up_comes_before_the_pass_and_is_not_in_it(bench: Bench) -> None:
    setup = "device.start(dispatch=0, work=7_000_000)"
    m = bench.time(START, setup=setup, number=1, repeat=2, profile=True)
    assert m.device.passes[0].busy == pytest.approx(20e-3)
    lengths = [end - start for start, end in bench.device.worked]
    assert lengths == [7 * MS, MS, 7 * MS, MS, 7 * MS, *[MS] * 20]


@pytest.fixture
def profiling(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has something happen before a profile is made, and changes what it shows."""
    profiler = bench.framework.capability(Profiler)
    profile = profiler.profile

    def change(before: Any = list, after: Any = lambda seen: seen) -> None:
        def changed(run: Callable[[], object]) -> Profile:
            before()
            return after(profile(run))

        monkeypatch.setattr(profiler, "profile", changed)

    return change


def test_graphs_and_side_streams_of_a_pass_are_noted(bench: Bench, profiling: Any) -> None:
    def elsewhere(seen: Profile) -> Profile:
        moved = (interval._replace(aside=True) for interval in seen.intervals)
        return Profile(tuple(moved), replayed=True)

    profiling(after=elsewhere)
    m = bench.time(START, profile=True)
    assert {"side-streams", "replays-graph"} <= notes_by_code(m).keys()
    assert Measurement.from_dict(m.to_dict()) == m


@pytest.mark.parametrize(("work", "calls"), [(MS, 5), (10 * MS, 2)])
def test_calls_that_have_to_be_prepared_are_profiled_one_by_one_five_at_most(
    bench: Bench, profiling: Any, work: int, calls: int
) -> None:
    sizes: list[int] = []
    profiling(before=lambda: sizes.append(len(bench.names["x"])))
    m = bench.time(f"x += [1]; device.start(dispatch=0, work={work})", "x = []", profile=True)
    assert (m.device.passes[0].calls, sizes) == (calls, [0] * calls)
    assert m.device.passes[0].elapsed == pytest.approx(calls * work * 1e-9)


def test_a_gpu_is_as_hot_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, profiling: Any
) -> None:
    """Its clock is higher, by a fifth, until 100 ms of work in a row."""
    worked = bench.device.worked

    def call() -> FakeArray:
        recent = sum(min(end - start, MS) for start, end in worked[-80:] if len(worked) > 80
                     and start > bench.clock.wall() - 200 * MS)  # fmt: skip
        return bench.device.start(dispatch=10_000, work=1_200_000 if recent >= 80 * MS else MS)

    place = Placement("", "fake", 1, "float32", (), ("cuda:0",), 4)
    monkeypatch.setattr(bench.framework, "placement", lambda array: place)
    profiling(before=lambda: bench.clock.advance(300 * MS))  # in which the GPU cools down
    bench.names["call"] = call
    m = bench.time("call()", profile=True)
    assert m.median == pytest.approx(1.21e-3)
    (seen,) = m.device.passes
    assert seen.busy / seen.calls == pytest.approx(1.2e-3)
    assert (seen.calls, seen.launches) == (17, 17)
    assert seen.elapsed == pytest.approx(17 * 1.21e-3)


def test_why_there_is_no_pass_is_said(bench: Bench, profiling: Any) -> None:
    def reasons(code: str) -> dict[str, str]:
        return bench.time(code, number=2, repeat=2, profile=True).device.reasons

    assert reasons("1 + 1") == {"python": "there is no profiler for it"}
    bench.names["array"] = bench.device.start(dispatch=0, work=1)
    assert reasons("array") == {"fake": "the profiler saw nothing run on a device"}
    profiling(after=lambda _: Profile(reason="another profiler is already running"))
    assert reasons(START) == {"fake": "another profiler is already running"}


class OtherArray(FakeArray): ...


class Other(FakeFramework):
    name = "other"

    def owns(self, kind: type) -> bool:
        return kind is OtherArray


@pytest.mark.parametrize(
    ("error", "reasons"),
    [(ValueError("no\nmore"), {"fake": "a profiled call raised ValueError: no"}),
     (KeyboardInterrupt(), {"fake": "interrupted", "other": "interrupted"})],
)  # fmt: skip
def test_an_interrupt_ends_the_passes_of_all_frameworks_and_an_error_its_own(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: BaseException, reasons: dict
) -> None:
    other = Other(FakeDevice(bench.clock))
    bench.framework.owns = lambda kind: kind is FakeArray  # type: ignore[method-assign]
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: ([bench.framework, other], {}))

    def work() -> OtherArray:
        return OtherArray(other.device, other.device.start(dispatch=0, work=MS).ready_at)

    bench.counted(failing(5, error))
    bench.names |= {"array": bench.device.start(dispatch=0, work=1), "work": work}
    ended = isinstance(error, KeyboardInterrupt)
    time = bench.interrupted if ended else bench.time
    m = time("call(); y = array; work()", number=2, repeat=2, profile=True)
    assert m.device.reasons == reasons
    assert [seen.framework for seen in m.device.passes] == ([] if ended else ["other"])
    assert m.repeat == 2
    assert not {"stopped-by-error", "interrupted"} & notes_by_code(m).keys()
