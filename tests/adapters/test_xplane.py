"""Which events of a profile are operations, from lines made by hand as XLA writes them."""

import pytest

from ipyjaxbench.adapters.shared.xplane import (
    HOST,
    Event,
    Line,
    hlo_operation,
    may_hold_operations,
    operations,
)
from ipyjaxbench.timing.device_time import Interval


def op(name: str, start: float, end: float, **stats: object) -> Event:
    """An operation on the host, as XLA marks it."""
    return Event(name, start, end, {"hlo_op": name, "device_ordinal": 0, **stats})


def plain(name: str, start: float, end: float, **stats: object) -> Event:
    """Any other event."""
    return Event(name, start, end, stats)


def seen(*lines: Line) -> list[tuple[str, float, float, str]]:
    """What ran where."""
    return [i[:4] for i in operations(lines, hlo_operation)]


def test_bookkeeping_on_the_host_is_no_operation() -> None:
    events = [
        plain("PjitFunction(f)", 0, 9),
        plain("ThreadpoolListener::StartRegion", 1, 1),
        op("dot.1", 2, 5),
        plain("ThunkExecutor::Execute (wait for completion)", 5, 9),
    ]
    assert seen(Line(HOST, "python", events)) == [("dot.1", 2, 5, "cpu:0")]


def test_devices_of_the_host_are_told_apart() -> None:
    events = [op("a", 0, 1, device_ordinal=3), op("b", 1, 2, device_ordinal=-1)]
    assert [device for *_, device in seen(Line(HOST, "t", events))] == ["cpu:3", "cpu:0"]


def test_an_operation_that_another_thread_finishes_ends_there() -> None:
    here = [op("sine", 0, 4, _p=7)]
    there = [plain("end: sine", 9, 10, _c=7)]
    assert seen(Line(HOST, "a", here), Line(HOST, "b", there)) == [("sine", 0, 10, "cpu:0")]


def test_an_end_that_is_told_after_the_next_operation_is_when_that_one_began() -> None:
    here = [op("sine", 0, 4, _p=7)]
    there = [op("dot", 6, 9), plain("end: sine", 9, 10, _c=7)]
    assert seen(Line(HOST, "a", here), Line(HOST, "b", there)) == [
        ("sine", 0, 6, "cpu:0"),
        ("dot", 6, 9, "cpu:0"),
    ]


def test_a_loop_does_not_last_until_its_last_operation_elsewhere() -> None:
    here = [op("while", 0, 4, _p=7), op("dot", 1, 3)]
    there = [plain("end: while", 99, 100, _c=7)]
    assert seen(Line(HOST, "a", here), Line(HOST, "b", there))[0] == ("while", 0, 4, "cpu:0")


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
    events = [plain("%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)", 0, 5)]
    lines = [
        Line("/device:TPU:0", "XLA Modules", [plain("jit_f", 0, 9)]),
        Line("/device:TPU:0", "XLA Ops", events),
    ]
    assert seen(*lines) == [("fusion.3", 0, 5, "tpu:0")]


def test_operations_of_one_program_can_be_left_out() -> None:
    events = [op("add", 0, 1, hlo_module="jit__canary"), op("dot", 1, 2, hlo_module="jit_f")]
    lines = [Line(HOST, "t", events)]
    assert [i.operation for i in operations(lines, hlo_operation, unseen="jit__canary")] == ["dot"]


@pytest.mark.parametrize(
    ("plane", "expected"),
    [
        (HOST, True),
        ("/device:GPU:0", True),
        ("/device:TPU:12", True),
        ("/device:TPU:0 SparseCore 0", False),
        ("/host:metadata", False),
        ("Task Environment", False),
    ],
)
def test_planes_that_may_hold_operations(plane: str, expected: bool) -> None:
    assert may_hold_operations(plane) is expected
