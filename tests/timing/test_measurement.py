"""The result of timing one piece of code."""

import dataclasses
import math

import pytest
from IPython.core.magics.execution import TimeitResult

from ipyjaxbench import units
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.reports import Details, Distribution, Facts, Footer, Headline, Notes
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.figure_change import Against, Figure
from ipyjaxbench.timing.peak_share import Roofline
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import STEADY, footer, headline, measured, rows

# Figures


def test_samples_are_seconds_per_call() -> None:
    m = measured([], loops=1000, batches=((1000, 2_000_000), (1000, 4_000_000)), rounds=(1, 1))
    assert m.samples == pytest.approx((2e-6, 4e-6))
    assert m.median == pytest.approx(3e-6)
    assert m.floor == pytest.approx(2e-6)


def test_without_samples_the_first_call_is_the_figure() -> None:
    m = measured([])
    assert (m.samples, m.median, m.floor) == ((0.002,), 0.002, 0.002)
    assert m.interval == (0.0, math.inf)
    assert (m.compile_time, m.elapsed) == (0.0, 0.0)


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


@pytest.mark.parametrize(
    ("nanoseconds", "verdict"),
    [(STEADY, "QUIET"), (MOVED, "OK"), (SHIFTED, "NOISY"), ([], "ONCE"), ([0] * 30, "NOISY"),
     (TAIL, "OK")],  # a median far above the fastest is not quiet, though it is known well
)  # fmt: skip
def test_the_verdict_says_how_far_the_figure_can_be_believed(
    nanoseconds: list[int], verdict: str
) -> None:
    m = measured(nanoseconds)
    assert m.verdict == verdict
    assert measured(nanoseconds, notes=(notes.compiled_late(1),)).verdict == verdict
    compiling = measured(nanoseconds, notes=(validity_notes.recompiles(1, 1, None),))
    assert compiling.verdict == "RECOMPILES"
    if m.batches and m.median:
        wide = 1 + m.half_width
        assert m.interval == pytest.approx((m.median / wide, m.median * wide))


# What `%timeit -o` gives

AUTO = measured([], loops=10, batches=((10, 400), (10, 300), (10, 500)), rounds=(3,))
EXACT = dataclasses.replace(
    AUTO, exact=True, first_call=90e-9, batches=((9, 210), (10, 300), (10, 500)), rounds=(1, 1, 1)
)
ONE_EACH = measured([30, 50, 40], exact=True, first_call=20e-9)
RESULT = ("all_runs", "timings", "best", "worst", "average", "stdev", "compile_time", "loops")
# (calls of a sample, seconds of each sample) as %timeit itself would have read them.
RAW = {
    "auto": (AUTO, 10, [400e-9, 300e-9, 500e-9]),
    "exact": (EXACT, 10, [300e-9, 300e-9, 500e-9]),
    "exact, one call each": (ONE_EACH, 1, [20e-9, 30e-9, 50e-9, 40e-9]),
    "exact, one call of five": (measured([], exact=True, loops=5), 1, [0.002]),
}


@pytest.mark.parametrize("case", RAW)
@pytest.mark.parametrize("name", RESULT)
def test_code_written_for_timeit_goes_on_working(case: str, name: str) -> None:
    m, calls, runs = RAW[case]
    m = dataclasses.replace(m, compile_time=0.25)
    best, worst = min(runs) / calls, max(runs) / calls
    theirs = TimeitResult(m.loops if name == "loops" else calls, 3, best, worst, runs, 0.25, 3)
    assert getattr(m, name) == pytest.approx(getattr(theirs, name))
    assert m.repeat == len(runs)


# What is reported


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
        (STEADY, {"notes": (validity_notes.recompiles(60, 100, 0.1),), "waited": True},
         "1.00 µs ± 2.5 %", "median ± rerun, compiling"),
        ([], {}, "2.00 ms", "first call only"),
        ([], {"phases": {"compile": 0.001}}, "2.00 ms", "first call, including compilation"),
    ],
)  # fmt: skip
def test_the_headline_says_what_the_number_means(
    nanoseconds: list[int], changes: dict, figure: str, detail: str
) -> None:
    found = headline(measured(nanoseconds, **changes))
    assert (found.title, found.figure, found.detail) == ("f(x)", figure, detail)


TENS = [10_000_000] * 30


@pytest.mark.parametrize(
    ("samples", "changes", "words"),
    [
        (STEADY, {"first_call": 0.0}, None),
        (STEADY, {"first_call": 90e-6}, None),
        (STEADY, {"first_call": 102e-6}, "102 µs"),  # a tenth of a millisecond longer
        (TENS, {"first_call": 0.0149}, None),
        (TENS, {"first_call": 0.0151}, "15.1 ms"),  # half as long again
        (STEADY, {"first_call": 1e-6, "compilations": 0}, "1.00 µs, already compiled (in memory)"),
        (STEADY, {"first_call": 0.1, "phases": {"compile": None}, "compilations": 1},
         "100 ms, including compile (time unknown)"),
    ],
)  # fmt: skip
def test_the_first_call_is_told_where_it_differs(
    samples: list[int], changes: dict, words: str | None
) -> None:
    assert rows(measured(samples, **changes)).get("first call") == words


def test_the_line_of_the_samples_says_how_many_calls_and_how_long() -> None:
    assert rows(measured(STEADY))["samples"] == "100, 1.00 µs (5–95 %)"
    m = dataclasses.replace(AUTO, elapsed=1.06)
    assert rows(m)["samples"] == "3 of 10 calls each in 1.1 s, 30.0–50.0 ns (min–max)"
    assert "samples" not in rows(measured([]))
    assert rows(measured([5000]))["samples"] == "1"
    few = rows(measured([1, 1000], rounds=(1, 1)))["samples"]
    assert few == "2, 1.00 ns to 1.00 µs (min–max), median 500 ns"
    merged = measured([], loops=4, batches=((4, 4000), (5, 5000), (6, 6000)), rounds=(1,) * 3)
    assert rows(merged)["samples"] == "3 of 15 calls in all, 1.00 µs (min–max)"


@pytest.mark.parametrize(
    ("loops", "calls", "words"),
    [
        (20, (19,), "1 of 19 calls + first call"),  # -n 20 -r 1
        (20, (19, 20, 20), "1 of 19 calls + 2 of 20 calls + first call"),
        (2, (1, 2), "1 of 1 call + 1 of 2 calls + first call"),
        (1, (1, 1), "2 + first call"),  # -n 1 -r 3
    ],
)
def test_the_calls_that_were_asked_for_add_up(
    loops: int, calls: tuple[int, ...], words: str
) -> None:
    batches = tuple((n, 1000 * n) for n in calls)
    m = measured([], loops=loops, batches=batches, rounds=(len(calls),), exact=True)
    assert rows(m)["samples"].partition(",")[0] == words


WHERE = "a i8[2] cpu:0"


@pytest.mark.parametrize(
    ("read", "bound", "told"),
    [
        ("abcdef", "a", f"{WHERE}, {WHERE}, {WHERE}, {WHERE}, and 2 more → {WHERE}"),
        ("abcd", "", f"{WHERE}, {WHERE}, {WHERE}, {WHERE}"),
        ("", "a", f"→ {WHERE}"),
        ("", "", ""),
    ],
)
def test_four_arrays_are_named_and_the_rest_counted(read: str, bound: str, told: str) -> None:
    place = Placement("a", "jax", 1, "int8", (2,), ("cpu:0",), 2)
    m = measured(STEADY, inputs=(place,) * len(read), outputs=(place,) * len(bound))
    assert footer(m) == (told, "python 3.12")


def test_a_result_is_shown_in_one_line_inside_of_other_values() -> None:
    shown = [repr(measured([1000] * 30)), repr(measured([], code="a = 1\nb = 2"))]
    assert shown[0] == "<Measurement f(x): 1.00 µs ± 2.5 %, QUIET>"
    assert shown[1] == "<Measurement a = 1 …: 2.00 ms (first call), ONCE>"


# Three times


@pytest.mark.parametrize(
    ("throughput", "dispatch", "shown"),
    [(0.8e-6, 0.1e-6, {"throughput", "dispatch"}), (0.8e-6, 0.95e-6, {"throughput"}),
     (0.95e-6, 0.1e-6, {"dispatch"})],
)  # fmt: skip
def test_throughput_and_dispatch_are_shown_where_they_differ_from_latency(
    throughput: float, dispatch: float, shown: set[str]
) -> None:
    m = measured(STEADY, waited=True, throughputs=(throughput,) * 3, dispatches=(dispatch,) * 3)
    words = {
        "throughput": "800 ns per call when many are queued before one wait",
        "dispatch": "returns after 100 ns, work still running",
    }
    assert {k: v for k, v in rows(m).items() if k in words} == {each: words[each] for each in shown}


def test_throughput_and_dispatch_are_what_the_headline_is_of_their_looks() -> None:
    looks = {"throughputs": (1e-7, 5e-7, 2e-7), "dispatches": (3e-8, 1e-8, 2e-8)}
    m, noisy = measured(STEADY, **looks), measured(SHIFTED, **looks)
    assert (m.throughput, m.dispatch) == (2e-7, 2e-8)
    assert (noisy.headline.value, noisy.throughput, noisy.dispatch) == (noisy.floor, 1e-7, 1e-8)
    late = measured(STEADY, throughputs=(2e-6,), dispatches=(3e-6,))
    assert late.throughput == late.dispatch == late.median  # no part is slower than the call
    assert (measured(STEADY).throughput, measured(STEADY).dispatch) == (None, None)


# What was kept before

KEPT = Figure(2e-6, 0.02, 100, "QUIET")


@pytest.mark.parametrize(
    ("against", "words", "took"),
    [
        (Against("last", KEPT), "2.0× faster than the last run (95 % CI 1.9–2.1×)",
         "2.00 µs ± 2.0 %, in this session"),
        (Against("best", dataclasses.replace(KEPT, median=0.5e-6), 7200.0),
         "2.0× slower than the best run (95 % CI 1.9–2.1×)", "500 ns ± 2.0 %, 2 hours ago"),
        (Against("before", dataclasses.replace(KEPT, half_width=None)),
         "no clear difference from 'before'", "2.00 µs, in this session"),
    ],
)  # fmt: skip
def test_a_result_is_held_against_one_that_was_kept(
    against: Against, words: str, took: str
) -> None:
    shown = rows(measured(STEADY, against=against))
    assert shown["compared"] == f"{words}; that took {took}"
    assert "changed" not in shown


def test_what_has_changed_since_is_told_and_why_there_is_nothing_to_compare() -> None:
    against = Against("last", KEPT, differs=("jax 0.10.1 → 0.10.2", "2 CPUs, not 4"))
    shown = rows(measured(STEADY, against=against))
    assert [*shown][:2] == ["compared", "changed"]
    assert shown["changed"] == "jax 0.10.1 → 0.10.2 · 2 CPUs, not 4"
    lazy = rows(measured(STEADY, against=against, notes=(validity_notes.lazy("map", ""),)))
    assert lazy["compared"].startswith("not with the last run, since this run is INVALID")
    none = rows(measured(STEADY, against=Against("last")))
    assert none["compared"] == "last: no earlier measurement of this code with such data"


# Noise


def test_when_the_samples_scatter_their_low_end_leads() -> None:
    m = measured(SCATTERED)
    assert m.verdict == "NOISY"
    assert repr(m) == "<Measurement f(x): 1.00 µs (5th percentile), NOISY>"
    assert rows(m)["samples"] == "60, 1.00–1.73 µs (5–95 %), median 1.37 µs"
    assert rows(m)["noise"] == "two speeds, 1.02 µs and 1.71 µs"


@pytest.mark.parametrize(
    ("samples", "is_pictured"),
    [
        (SCATTERED[:19], False),
        (SCATTERED[:20], True),
        ([1000 if i % 2 else 1190 for i in range(60)], False),
        ([1000 if i % 2 else 1210 for i in range(60)], True),  # they differ by a fifth
    ],
)
def test_samples_are_pictured_when_they_are_not_one_narrow_peak(
    samples: list[int], *, is_pictured: bool
) -> None:
    m = measured(samples)
    pictures = [block for block in m.report().blocks if isinstance(block, Distribution)]
    assert [picture.seconds for picture in pictures] == [m.samples] * is_pictured


def test_where_the_figure_cannot_be_believed_the_reason_comes_first() -> None:
    for note in (validity_notes.lazy("map", ""), validity_notes.recompiles(60, 60, 0.1)):
        blocks = measured(SCATTERED, notes=(note,)).report().blocks
        assert [type(block) for block in blocks] == [Headline, Notes, Facts, Footer]  # no picture
    blocks = measured(STEADY, notes=(notes.compiled_late(1),)).report().blocks
    assert [type(block) for block in blocks] == [Headline, Facts, Details, Notes, Footer]


def test_what_leaves_no_figure_is_the_first_of_the_notes() -> None:
    off, lazy = notes.unsynchronised(1, 2), validity_notes.lazy("map", "list(x)")
    longer = notes.needs_longer(0.3, 0.02, 2.0)
    report = measured(STEADY, notes=(notes.compiled_late(1), longer, off, lazy)).report()
    (shown,) = [block for block in report.blocks if isinstance(block, Notes)]
    codes = [note.code for note in shown.notes]
    assert codes == ["lazy", "unsynchronised", "needs-longer", "compiled-late"]


def test_what_the_machine_did_is_a_cause_of_noise_only() -> None:
    busy = Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, busy=4.0, waited=0.9)
    words = "other programs kept 1.5 of 2 CPUs busy (the code waited for a CPU 47 % of the time)"
    found = measured(SCATTERED, conditions=busy)
    assert found.causes == ("two speeds, 1.02 µs and 1.71 µs", words)
    assert rows(found)["noise"] == "; ".join(found.causes)
    assert measured(STEADY, conditions=busy).causes == ()
    assert measured(MOVED, conditions=busy).causes == measured(MOVED).causes
    wrong = dataclasses.replace(busy, cpu=-1.0)
    assert measured(STEADY, conditions=wrong).check() is not None
    assert measured(STEADY).check() is None
    wrong = "the rounds do not add up to the samples"
    assert measured(STEADY, rounds=(10,) * 9).check() == wrong


@pytest.mark.parametrize(
    ("roof", "share", "rated"),
    [
        (Roofline("matmul peak", 310e9, 500e9),
         "compute-bound, 62 % of this device's peak (310 of 500 GFLOP/s)", ""),
        (Roofline("matmul peak", 900e6, 100e9),
         "compute-bound, 1 % of this device's peak (900 MFLOP/s of 100 GFLOP/s)", ""),
        (Roofline("memory bandwidth", 3e12, 3e12, rated=3.35e12, chip="H100 memory"),
         "memory-bound, 100 % of this device's peak (3.00 of 3.00 TB/s)",
         "; 90 % of the datasheet's (H100 memory: 3.35 TB/s)"),
        (Roofline("matmul peak", 405e12, 700e12, rated=989e12, chip="H100 bfloat16"),
         "compute-bound, 58 % of this device's peak (405 of 700 TFLOP/s)",
         "; 41 % of the datasheet's (H100 bfloat16: 989 TFLOP/s, dense)"),
        (Roofline("matmul peak", 400e12, 700e12, rated=1e15, chip="H100", recomputed=1e14, mfu=0.3),
         "compute-bound, 57 % of this device's peak (400 of 700 TFLOP/s, 100 TFLOP/s of it",
         " recomputed); HFU 40 %, MFU 30 % of the datasheet's (H100: 1.00 PFLOP/s, dense)"),
    ],
)  # fmt: skip
def test_the_share_of_a_peak_is_told_in_its_unit(roof: Roofline, share: str, rated: str) -> None:
    assert rows(measured(STEADY, roof=roof))["roofline"] == share + rated


def test_where_another_run_may_find_twice_the_median_a_range_stands_for_the_interval() -> None:
    wild = [1000 * (1 + 3 * (i // 30)) for i in range(60)]
    m = measured(wild, notes=(notes.calls_differ(1e-6, 4e-6, 0.5),))
    assert m.half_width > 1
    low, high = m.interval
    detail = f"median, rerun {units.span(low, high)}, per call"
    assert (headline(m).figure, headline(m).detail) == ("2.50 µs", detail)
    assert rows(m)["samples"] == "60, 1.00–4.00 µs (5–95 %)"
