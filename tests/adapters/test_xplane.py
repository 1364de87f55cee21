"""Which events of a profile are operations, from lines made by hand as XLA writes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.adapters.shared.xplane import (
    HOST,
    Event,
    Line,
    hlo_operation,
    may_hold_operations,
    operations,
    profile,
)
from ipyjaxbench.timing.device_time import Interval, Profile


def op(name: str, start: float, end: float, **stats: object) -> Event:
    """An operation on the host, as XLA marks it."""
    return Event(name, start, end, {"hlo_op": name, "device_ordinal": 0, **stats})


def plain(name: str, start: float, end: float, **stats: object) -> Event:
    """Any other event."""
    return Event(name, start, end, stats)


def rows(*lines: Line) -> list[tuple[str, float, float, str]]:
    """What ran where."""
    return [i[:4] for i in operations(lines, hlo_operation)]


def of_threads(*events: list[Event]) -> list[tuple[str, float, float]]:
    """What ran on the host, whose threads did this."""
    found = rows(*(Line(HOST, f"thread {n}", each) for n, each in enumerate(events)))
    assert {row[3] for row in found} <= {"cpu:0"}
    return [row[:3] for row in found]


def test_bookkeeping_on_the_host_is_no_operation_and_the_outer_ones_come_first() -> None:
    events = [
        plain("PjitFunction(f)", 0, 9),
        plain("ThreadpoolListener::StartRegion", 1, 1),
        *(op("dot", 1, 3), op("add", 0, 1), op("while", 1, 4)),
        plain("ThunkExecutor::Execute (wait for completion)", 5, 9),
    ]
    assert of_threads(events) == [("add", 0, 1), ("while", 1, 4), ("dot", 1, 3)]
    several = [op("a", 0, 1, device_ordinal=3), op("b", 1, 2, device_ordinal=-1)]
    assert [device for *_, device in rows(Line(HOST, "t", several))] == ["cpu:3", "cpu:0"]


@pytest.mark.parametrize(
    ("here", "there", "found"),
    [
        ([op("sine", 0, 4, _p=7)], [plain("end: sine", 9, 10, _c=7)], [("sine", 0, 10)]),
        # An end that is told after the next operation is when that one began.
        ([op("sine", 0, 4, _p=7)], [op("dot", 6, 9), plain("end: sine", 9, 10, _c=7)],
         [("sine", 0, 6), ("dot", 6, 9)]),
        # A loop does not last until its last operation elsewhere.
        ([op("while", 0, 4, _p=7), op("dot", 1, 3)], [plain("end: while", 99, 100, _c=7)],
         [("while", 0, 4), ("dot", 1, 3)]),
        # One that ends later itself is not cut by what another thread reports.
        ([op("sine", 0, 20, _p=7), op("dot", 20, 21)], [plain("end: sine", 9, 10, _c=7)],
         [("sine", 0, 20), ("dot", 20, 21)]),
        # An end of no operation, and one without an end.
        ([op("sine", 0, 4, _p=7), op("add", 5, 6)],
         [plain("sine", 9, 10, _c=7), plain("end: sine", 9, 10)],
         [("sine", 0, 4), ("add", 5, 6)]),
    ],
)  # fmt: skip
def test_an_operation_that_another_thread_finishes_ends_there(
    here: list[Event], there: list[Event], found: list[tuple[str, float, float]]
) -> None:
    assert of_threads(here, there) == found


def test_a_gpu_is_seen_by_its_streams_and_the_host_beside_it_is_not() -> None:
    gpu = "/device:GPU:1"
    lines = [
        Line(gpu, "Stream #13(Compute)", [plain("fusion_3", 0, 5)]),
        Line(gpu, "Stream #14(MemcpyH2D)", [plain("MemcpyH2D", 3, 8)]),
        Line(gpu, "XLA Ops", [plain("fusion.3", 0, 5)]),
        Line(gpu, "XLA Modules", [plain("jit_f", 0, 9)]),
        Line(HOST, "python", [op("fusion.3", 0, 1)]),
    ]
    assert operations(lines, hlo_operation) == (
        Interval("fusion_3", 0, 5, "gpu:1", "Stream #13(Compute)"),
        Interval("MemcpyH2D", 3, 8, "gpu:1", "Stream #14(MemcpyH2D)"),
    )


def test_a_tpu_is_seen_by_its_line_of_operations_without_their_text() -> None:
    """Such a line counts where the device has no streams, whatever others have."""
    tpu, gpu = "/device:TPU:0", "/device:GPU:0"
    lines = [
        Line(tpu, "XLA Modules", [plain("jit_f", 0, 9)]),
        Line(tpu, "XLA Ops", [plain("%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)", 0, 5)]),
        Line(gpu, "Stream #1", [plain("sine", 0, 1)]),
        Line(gpu, "XLA Ops", [plain("sine", 0, 1)]),
    ]
    assert rows(*lines) == [("fusion.3", 0, 5, "tpu:0"), ("sine", 0, 1, "gpu:0")]


def test_operations_of_one_program_can_be_left_out() -> None:
    events = [op("add", 0, 1, hlo_module="jit__canary"), op("dot", 1, 2, hlo_module="jit_f")]
    lines = [Line(HOST, "t", events)]
    assert [i.operation for i in operations(lines, hlo_operation, unseen="jit__canary")] == ["dot"]


@pytest.mark.parametrize(
    ("plane", "expected"),
    [(HOST, True), ("/device:GPU:0", True), ("/device:TPU:12", True),
     ("/device:TPU:0 SparseCore 0", False), ("/host:metadata", False)],
)  # fmt: skip
def test_planes_that_may_hold_operations(plane: str, expected: bool) -> None:
    assert may_hold_operations(plane) is expected


def fails(*_: Any) -> Any:
    raise RuntimeError("it cannot")


INTERVALS = (Interval("dot", 0, 1, "cpu:0", ""),)


def test_a_run_is_profiled_into_a_folder_that_is_removed() -> None:
    steps: list[str] = []
    folders: list[Path] = []

    def start(folder: str) -> None:
        folders.append(Path(folder))
        assert folders[0].is_dir()

    def read(folder: Path, _: object) -> Profile:
        assert [folder] == folders
        return Profile(INTERVALS)

    found = profile(lambda: steps.append("run"), start, lambda: steps.append("stop"), read)
    assert (found.intervals, found.reason, steps) == (INTERVALS, "", ["run", "stop"])
    assert not folders[0].exists()


@pytest.mark.parametrize(
    ("broken", "steps"), [("start", []), ("stop", ["run"]), ("read", ["run", "stop"])]
)
def test_why_a_run_cannot_be_profiled_is_said(broken: str, steps: list[str]) -> None:
    done: list[str] = []

    def step(name: str, value: Any = None) -> Callable[..., Any]:
        if name == broken:
            return fails
        return lambda *_: value if value is not None else done.append(name)

    seen = Profile(INTERVALS)
    found = profile(step("run"), step("start", 0), step("stop"), step("read", seen),
                    lambda e: f"as {e}")  # fmt: skip
    reason = "RuntimeError: it cannot" if broken == "read" else "as it cannot"
    assert (found.intervals, found.reason) == ((), reason)
    assert done == steps


def test_what_the_run_raises_is_raised_when_the_profiler_has_stopped() -> None:
    stopped: list[bool] = []
    with pytest.raises(RuntimeError, match="it cannot"):
        profile(fails, lambda _: None, lambda: stopped.append(True), lambda *_: Profile())
    assert stopped == [True]
