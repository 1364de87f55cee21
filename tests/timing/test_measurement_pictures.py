"""The pictures in the report of a measurement."""

import dataclasses
import math
from typing import Any

import pytest

from ipyjaxbench.reports import Chart, Details, Distribution, Segment, Stack
from ipyjaxbench.timing.compile_cost import ColdCallResult
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import STEADY, measured, rows

PHASES = {"compile": 0.07, "trace": 0.01}
ROOF = Roofline("matmul peak", 100e9, 200e9, 8.0, 200e9, 50e9)


def pictures(m: Measurement, kind: type) -> list[Any]:
    return [block for block in m.report().blocks if isinstance(block, kind)]


def test_the_first_call_is_one_bar_above_a_later_one() -> None:
    m = measured(STEADY, first_call=0.1, phases=PHASES, compilations=1)
    (stack,) = pictures(m, Stack)
    first, later = stack.rows
    assert first[0::2] == ("first call", "100 ms")
    assert [segment.kind for segment in first[1]] == ["trace", "compile", "run"]
    assert math.fsum(segment.seconds for segment in first[1]) == pytest.approx(0.1)
    assert later == ("later calls", (Segment("run", m.median),), "1.00 µs")
    assert "first call" not in rows(m)


def test_phases_that_take_longer_than_the_call_leave_nothing_to_run() -> None:
    (stack,) = pictures(measured(STEADY, first_call=0.05, phases=PHASES), Stack)
    assert stack.rows[0][1][-1] == Segment("run", 0.0)


@pytest.mark.parametrize("phases", [{}, {"compile": None}, {"trace": 0.1, "compile": None}])
def test_a_call_whose_parts_are_not_known_is_not_drawn(phases: dict) -> None:
    assert pictures(measured(STEADY, first_call=0.2, phases=phases), Stack) == []


def test_the_cold_call_is_drawn_where_the_first_one_compiled_nothing() -> None:
    cold = ColdCallResult(0.1, PHASES)
    (stack,) = pictures(measured(STEADY, fresh=cold, compilations=0), Stack)
    assert [name for name, _, _ in stack.rows] == ["cold call", "later calls"]
    both = measured(STEADY, fresh=cold, first_call=0.1, phases=PHASES)
    assert [name for name, _, _ in pictures(both, Stack)[0].rows] == ["first call", "later calls"]
    assert pictures(measured(STEADY, fresh=ColdCallResult(None, {})), Stack) == []


def test_later_calls_that_compile_are_not_drawn_as_running() -> None:
    note = validity_notes.recompiles(60, 60, 0.1)
    m = measured(STEADY, first_call=0.1, phases=PHASES, notes=(note,))
    assert [name for name, _, _ in pictures(m, Stack)[0].rows] == ["first call"]
    alone = measured([], first_call=0.1, phases=PHASES)
    assert [name for name, _, _ in pictures(alone, Stack)[0].rows] == ["first call"]


def test_a_roofline_has_a_dot_for_the_call_below_the_measured_peaks() -> None:
    (chart,) = pictures(measured(STEADY, roof=ROOF), Chart)
    dot, limit = chart.series
    assert (dot.label, dot.line) == ("f(x)", False)
    assert dot.points[0][:2] == (8.0, 100e9)
    assert limit.limit
    assert limit.label == "peak 200 GFLOP/s"
    assert [point[:2] for point in limit.points] == [(1.0, 50e9), (4.0, 200e9), (32.0, 200e9)]
    assert [(mark.x, mark.words) for mark in chart.marks] == [(4.0, "compute-bound →")]
    assert chart.x.name == "FLOP per byte (memory: 50.0 GB/s)"


def test_what_memory_binds_is_a_dot_at_its_flop() -> None:
    slow = dataclasses.replace(ROOF, of="memory bandwidth", speed=25e9, ceiling=50e9, intensity=2.0)
    (chart,) = pictures(measured(STEADY, roof=slow), Chart)
    assert chart.series[0].points[0][:2] == (2.0, 50e9)


@pytest.mark.parametrize("missing", ["intensity", "peak", "bandwidth"])
def test_a_roofline_without_one_of_its_peaks_is_a_line_of_words(missing: str) -> None:
    m = measured(STEADY, roof=dataclasses.replace(ROOF, **{missing: None}))
    assert pictures(m, Chart) == []
    assert rows(m)["roofline"].startswith("compute-bound, 50 % of this device's peak")


def test_no_picture_is_drawn_of_samples_that_are_alike() -> None:
    assert pictures(measured(STEADY), Distribution) == []


def test_samples_that_are_alike_are_folded_and_can_be_plotted() -> None:
    report = measured(STEADY).report()
    (folded,) = [block for block in report.blocks if isinstance(block, Details)]
    assert (folded.summary, folded.printed) == ("100 samples", False)
    assert [type(picture) for picture in report.pictures()] == [Distribution]
    assert measured([1000]).report().pictures() == []
