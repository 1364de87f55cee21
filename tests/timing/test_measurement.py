"""The result of timing one piece of code: its figures, its headline, and the order of a report."""

import dataclasses
import math

import pytest
from IPython.core.magics.execution import TimeitResult

from ipyjaxbench import units
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.reports import (
    Chart,
    Details,
    Distribution,
    Facts,
    Footer,
    Headline,
    Notes,
    Segment,
    Stack,
)
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.compile_cost import ColdCallResult
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import STEADY, blocks, headline, measured, rows

# Figures


def test_samples_are_seconds_per_call_and_without_any_the_first_call_is() -> None:
    m = measured([], loops=1000, batches=((1000, 2_000_000), (1000, 4_000_000)), rounds=(1, 1))
    assert m.samples == pytest.approx((2e-6, 4e-6))
    assert (m.median, m.floor) == pytest.approx((3e-6, 2e-6))
    m = measured([])
    assert (m.samples, m.median, m.floor) == ((0.002,), 0.002, 0.002)
    assert m.interval == (0.0, math.inf)


@pytest.mark.parametrize(("count", "word"), [(1, "ONCE"), (2, "FEW"), (5, "FEW")])
def test_few_samples_have_no_interval_for_another_run(count: int, word: str) -> None:
    m = measured([5000 + 100 * i for i in range(count)], rounds=(1,) * count)
    assert m.interval == (0.0, math.inf)
    assert m.estimate.ends == (m.median, m.median)
    assert (m.rows()[0]["rerun_low_s"], m.rows()[0]["rerun_high_s"]) == (None, None)
    assert "±" not in headline(m).figure + headline(m).detail
    assert m.verdict == word


SCATTERED = [1000 + 700 * (i % 2) + i * 7919 % 31 for i in range(60)]
MOVED = [1000 + 30 * (i // 10 % 2) for i in range(100)]
SHIFTED = [1000 + 500 * (i // 10 % 2) for i in range(100)]
TAIL = [100_000 if i % 10 == 0 else 120_000 + i * 7919 % 101 for i in range(200)]
RECOMPILES = validity_notes.recompiles(60, 100, 0.1)


@pytest.mark.parametrize(
    ("nanoseconds", "verdict"),
    [(STEADY, "QUIET"), (MOVED, "OK"), (SHIFTED, "NOISY"), ([], "ONCE"), ([0] * 30, "NOISY"),
     (TAIL, "OK")],  # a median far above the fastest is not quiet, though it is known well
)  # fmt: skip
def test_the_verdict_says_how_far_to_believe_it(nanoseconds: list[int], verdict: str) -> None:
    m = measured(nanoseconds, notes=(notes.compiled_late(1),))
    assert m.verdict == verdict
    assert measured(nanoseconds, notes=(RECOMPILES,)).verdict == "RECOMPILES"
    if m.batches and m.median:
        wide = 1 + m.half_width
        assert m.interval == pytest.approx((m.median / wide, m.median * wide))


def test_throughput_and_dispatch_are_what_the_headline_is_of_their_looks() -> None:
    looks = {"throughputs": (1e-7, 5e-7, 2e-7), "dispatches": (3e-8, 1e-8, 2e-8)}
    m, noisy = measured(STEADY, **looks), measured(SHIFTED, **looks)
    assert (m.throughput, m.dispatch) == (2e-7, 2e-8)
    assert (noisy.headline.value, noisy.throughput, noisy.dispatch) == (noisy.floor, 1e-7, 1e-8)
    late = measured(STEADY, throughputs=(2e-6,), dispatches=(3e-6,))
    assert late.throughput == late.dispatch == late.median  # no part is slower than the call
    assert (measured(STEADY).throughput, measured(STEADY).dispatch) == (None, None)


def test_what_contradicts_itself_is_told() -> None:
    busy = Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, busy=4.0, waited=0.9)
    assert measured(STEADY, conditions=busy).check() is None
    assert measured(STEADY, conditions=dataclasses.replace(busy, cpu=-1.0)).check() is not None
    wrong = "the rounds do not add up to the samples"
    assert measured(STEADY, rounds=(10,) * 9).check() == wrong


# What `%timeit -o` gives

AUTO = measured([], loops=10, batches=((10, 400), (10, 300), (10, 500)), rounds=(3,))
EXACT = dataclasses.replace(
    AUTO, exact=True, first_call=90e-9, batches=((9, 210), (10, 300), (10, 500)), rounds=(1, 1, 1)
)
ONE_EACH = measured([30, 50, 40], exact=True, first_call=20e-9)
RESULT = ("all_runs", "timings", "best", "worst", "average", "stdev", "compile_time", "loops")


@pytest.mark.parametrize(
    ("m", "calls", "runs"),  # as %timeit itself would have read them: seconds of each sample
    [(AUTO, 10, [400e-9, 300e-9, 500e-9]), (EXACT, 10, [300e-9, 300e-9, 500e-9]),
     (ONE_EACH, 1, [20e-9, 30e-9, 50e-9, 40e-9]), (measured([], exact=True, loops=5), 1, [0.002])],
    ids=["auto", "exact", "exact, one call each", "exact, one call of five"],
)  # fmt: skip
def test_code_written_for_timeit_goes_on_working(m: Measurement, calls: int, runs: list) -> None:
    m = dataclasses.replace(m, compile_time=0.25)
    best, worst = min(runs) / calls, max(runs) / calls
    for name in RESULT:
        theirs = TimeitResult(m.loops if name == "loops" else calls, 3, best, worst, runs, 0.25, 3)
        assert getattr(m, name) == pytest.approx(getattr(theirs, name)), name
    assert m.repeat == len(runs)


# The headline


@pytest.mark.parametrize(
    ("nanoseconds", "changes", "figure", "detail"),
    [
        (STEADY, {}, "1.00 µs ± 2.5 %", "median ± rerun, per call"),
        (STEADY, {"waited": True, "precision": 5}, "1.0010 µs ± 2.5 %",
         "median ± rerun, including the wait"),
        ([1, 1000], {"rounds": (1, 1)}, "1.00 ns", "minimum, per call, 2 samples"),
        (SCATTERED, {}, "1.00 µs", "5th percentile, per call"),
        ([1000] * 3, {"rounds": (1, 1, 1)}, "1.00 µs", "median, per call, 3 samples"),
        ([1000], {}, "1.00 µs", "one sample, a warm call"),
        ([], {"batches": ((1500, 3_000_000),), "rounds": (1,), "loops": 1500}, "2.00 µs",
         "per call, one sample of 1,500 calls"),
        ([], {"batches": ((19, 38_000),), "rounds": (1,), "loops": 20, "exact": True}, "2.00 µs",
         "per call, one sample of 19 calls after the first"),
        (STEADY, {"clock": "cpu"}, "1.00 µs ± 2.5 %", "CPU time, median ± rerun, per call"),
        (STEADY, {"notes": (RECOMPILES,), "waited": True}, "1.00 µs ± 2.5 %",
         "median ± rerun, compiling"),
        ([], {}, "2.00 ms", "first call only"),
        ([], {"phases": {"compile": 0.001}}, "2.00 ms", "first call, including compilation"),
    ],
)  # fmt: skip
def test_what_the_number_means(
    nanoseconds: list[int], changes: dict, figure: str, detail: str
) -> None:
    found = headline(measured(nanoseconds, **changes))
    assert (found.title, found.figure, found.detail) == ("f(x)", figure, detail)


def test_where_another_run_may_find_twice_the_median_a_range_stands_for_the_interval() -> None:
    wild = [1000 * (1 + 3 * (i // 30)) for i in range(60)]
    m = measured(wild, notes=(notes.calls_differ(1e-6, 4e-6, 0.5),))
    assert m.half_width > 1
    detail = f"median, rerun {units.span(*m.interval)}, per call"
    assert (headline(m).figure, headline(m).detail) == ("2.50 µs", detail)
    assert rows(m)["samples"] == "60, 1.00–4.00 µs (5–95 %)"


def test_a_result_is_shown_in_one_line_inside_of_other_values() -> None:
    shown = [repr(m) for m in (measured([1000] * 30), measured(SCATTERED),
                               measured([], code="a = 1\nb = 2"))]  # fmt: skip
    assert shown == [
        "<Measurement f(x): 1.00 µs ± 2.5 %, QUIET>",
        "<Measurement f(x): 1.00 µs (5th percentile), NOISY>",
        "<Measurement a = 1 …: 2.00 ms (first call), ONCE>",
    ]


# What stands where


def test_where_the_figure_cannot_be_believed_the_reason_comes_first() -> None:
    for note in (validity_notes.lazy("map", ""), RECOMPILES):
        shown = measured(SCATTERED, notes=(note,)).report().blocks
        assert [type(block) for block in shown] == [Headline, Notes, Facts, Footer]  # no picture
    shown = measured(STEADY, notes=(notes.compiled_late(1),)).report().blocks
    assert [type(block) for block in shown] == [Headline, Facts, Details, Notes, Footer]


def test_what_leaves_no_figure_is_the_first_of_the_notes() -> None:
    off, lazy = notes.unsynchronised(1, 2), validity_notes.lazy("map", "list(x)")
    longer = notes.needs_longer(0.3, 0.02, 2.0)
    (shown,) = blocks(measured(STEADY, notes=(notes.compiled_late(1), longer, off, lazy)), Notes)
    codes = [note.code for note in shown.notes]
    assert codes == ["lazy", "unsynchronised", "needs-longer", "compiled-late"]


# Pictures


@pytest.mark.parametrize(
    ("samples", "is_pictured"),
    [(SCATTERED[:19], False), (SCATTERED[:20], True), (STEADY, False),
     ([1000 if i % 2 else 1190 for i in range(60)], False),
     ([1000 if i % 2 else 1210 for i in range(60)], True)],  # they differ by a fifth
)  # fmt: skip
def test_samples_are_pictured_when_they_are_not_one_narrow_peak_and_else_folded(
    samples: list[int], *, is_pictured: bool
) -> None:
    m = measured(samples)
    assert [each.seconds for each in blocks(m, Distribution)] == [m.samples] * is_pictured
    folded = [(each.summary, each.printed) for each in blocks(m, Details)]
    assert folded == [(f"{len(samples)} samples", False)] * (not is_pictured)
    assert [type(picture) for picture in m.report().pictures()] == [Distribution]
    assert measured([1000]).report().pictures() == []


PHASES = {"compile": 0.07, "trace": 0.01}


def test_the_first_call_is_one_bar_above_a_later_one() -> None:
    m = measured(STEADY, first_call=0.1, phases=PHASES, compilations=1)
    (stack,) = blocks(m, Stack)
    first, later = stack.rows
    assert first[0::2] == ("first call", "100 ms")
    assert [segment.kind for segment in first[1]] == ["trace", "compile", "run"]
    assert math.fsum(segment.seconds for segment in first[1]) == pytest.approx(0.1)
    assert later == ("later calls", (Segment("run", m.median),), "1.00 µs")
    assert "first call" not in rows(m)
    (stack,) = blocks(measured(STEADY, first_call=0.05, phases=PHASES), Stack)
    assert stack.rows[0][1][-1] == Segment("run", 0.0)  # they take longer than the call


COLD = ColdCallResult(0.1, PHASES)


@pytest.mark.parametrize(
    ("samples", "changes", "drawn"),
    [(STEADY, {}, []), (STEADY, {"phases": {"compile": None}}, []),
     (STEADY, {"phases": {"trace": 0.1, "compile": None}}, []),
     (STEADY, {"fresh": COLD, "compilations": 0}, ["cold call", "later calls"]),
     (STEADY, {"fresh": COLD, "phases": PHASES}, ["first call", "later calls"]),
     (STEADY, {"fresh": ColdCallResult(None, {})}, []),
     (STEADY, {"phases": PHASES, "notes": (RECOMPILES,)}, ["first call"]),
     ([], {"phases": PHASES}, ["first call"])],
)  # fmt: skip
def test_calls_of_known_parts_are_drawn(
    samples: list[int], changes: dict, drawn: list[str]
) -> None:
    stacks = blocks(measured(samples, first_call=0.2, **changes), Stack)
    assert [name for stack in stacks for name, _, _ in stack.rows] == drawn


ROOF = Roofline("matmul peak", 100e9, 200e9, 8.0, 200e9, 50e9)


def test_a_roofline_has_a_dot_for_the_call_below_the_measured_peaks() -> None:
    (chart,) = blocks(measured(STEADY, roof=ROOF), Chart)
    dot, limit = chart.series
    assert (dot.label, dot.line, dot.points[0][:2]) == ("f(x)", False, (8.0, 100e9))
    assert (limit.limit, limit.label) == (True, "peak 200 GFLOP/s")
    assert [point[:2] for point in limit.points] == [(1.0, 50e9), (4.0, 200e9), (32.0, 200e9)]
    assert [(mark.x, mark.words) for mark in chart.marks] == [(4.0, "compute-bound →")]
    assert chart.x.name == "FLOP per byte (memory: 50.0 GB/s)"
    slow = dataclasses.replace(ROOF, of="memory bandwidth", speed=25e9, ceiling=50e9, intensity=2.0)
    (chart,) = blocks(measured(STEADY, roof=slow), Chart)
    assert chart.series[0].points[0][:2] == (2.0, 50e9)
    for missing in ("intensity", "peak", "bandwidth"):  # then it is a line of words
        m = measured(STEADY, roof=dataclasses.replace(ROOF, **{missing: None}))
        assert blocks(m, Chart) == []
        assert rows(m)["roofline"].startswith("compute-bound, 50 % of this device's peak")
