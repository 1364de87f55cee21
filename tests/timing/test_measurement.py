"""The result of timing one piece of code."""

import dataclasses
import math

import pytest
from IPython.core.magics.execution import TimeitResult

from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.reports.blocks import Distribution, Facts, Headline, Notes
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.measurement import Measurement, median_with_interval
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import STEADY, headline, measured, rows

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


def test_one_sample_has_no_interval() -> None:
    m = measured([5000])
    assert m.median == pytest.approx(5e-6)
    assert m.interval == (0.0, math.inf)
    assert m.verdict == "ONCE"


def test_the_interval_lies_around_the_median() -> None:
    m = measured([1000 + i % 7 for i in range(100)])
    low, high = m.interval
    assert low < m.median < high
    assert (high - low) / 2 / m.median == pytest.approx(m.half_width)


def test_the_interval_never_holds_negative_times() -> None:
    m = measured([1, 1000], rounds=(1, 1))
    assert m.half_width > 1
    assert m.interval[0] == 0.0


MOVED = [1000 + 30 * (i // 10 % 2) for i in range(100)]
SHIFTED = [1000 + 500 * (i // 10 % 2) for i in range(100)]
TAIL = [100_000 if i % 10 == 0 else 120_000 + i * 7919 % 101 for i in range(200)]


@pytest.mark.parametrize(
    ("nanoseconds", "changes", "verdict"),
    [
        (STEADY, {}, "QUIET"),
        (MOVED, {}, "OK"),
        (SHIFTED, {}, "NOISY"),
        (TAIL, {}, "OK"),
        ([1000], {}, "ONCE"),
        ([1000] * 3, {"rounds": (1, 1, 1)}, "FEW"),
        ([1000] * 5, {"rounds": (1,) * 5}, "FEW"),
        ([1000] * 6, {"rounds": (1,) * 6}, "QUIET"),
        ([], {}, "ONCE"),
        (STEADY, {"notes": (validity_notes.recompiles(60, 100, 0.1),)}, "RECOMPILES"),
        ([], {"notes": (validity_notes.recompiles(1, 1, None),)}, "RECOMPILES"),
        (STEADY, {"notes": (notes.compiled_late(1),)}, "QUIET"),
        ([0] * 30, {}, "NOISY"),
    ],
)
def test_the_verdict_says_how_far_the_figure_can_be_believed(
    nanoseconds: list[int], changes: dict, verdict: str
) -> None:
    assert measured(nanoseconds, **changes).verdict == verdict


def test_a_median_far_above_the_fastest_is_not_quiet_though_it_is_known_well() -> None:
    assert measured(TAIL).half_width <= 0.03


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
    "exact, one call": (measured([], exact=True), 1, [0.002]),
}


@pytest.mark.parametrize("case", RAW)
@pytest.mark.parametrize("name", RESULT)
def test_code_written_for_timeit_goes_on_working(case: str, name: str) -> None:
    m, calls, runs = RAW[case]
    m = dataclasses.replace(m, compile_time=0.25)
    best, worst = min(runs) / calls, max(runs) / calls
    theirs = TimeitResult(calls, len(runs), best, worst, runs, 0.25, 3)
    assert getattr(m, name) == pytest.approx(getattr(theirs, name))
    assert m.repeat == theirs.repeat


def test_the_only_call_of_many_that_were_asked_for_is_not_divided_by_their_number() -> None:
    stopped = measured([], exact=True, loops=5)
    assert stopped.timings == [stopped.first_call]


# What is reported


def test_a_report_is_a_headline_and_facts_and_notes_with_the_weightiest_first() -> None:
    late, off, hidden = notes.compiled_late(1), notes.unsynchronised(1, 2), notes.output_hidden(1)
    report = measured(STEADY, notes=(late, off, hidden)).report()
    assert [type(block) for block in report.blocks] == [Headline, Facts, Notes]
    assert report.blocks[2] == Notes((off, late, hidden))


@pytest.mark.parametrize(
    ("nanoseconds", "changes", "figure", "detail"),
    [
        (STEADY, {}, "1.00 µs ± 2.5 %", "per call"),
        (STEADY, {"waited": True, "precision": 5}, "1.0010 µs ± 2.5 %", "per call, waited for"),
        ([1, 1000], {"rounds": (1, 1)}, "1.00 ns", "at its fastest, per call, 2 samples"),
        ([1000] * 3, {"rounds": (1, 1, 1)}, "1.00 µs ± 2.5 %", "per call, 3 samples"),
        ([1000], {}, "1.00 µs", "one warm call"),
        ([], {}, "2.00 ms", "one call"),
        ([], {"phases": {"compile": 0.001}}, "2.00 ms", "one call, compilation included"),
    ],
)
def test_the_headline_says_what_the_number_means(
    nanoseconds: list[int], changes: dict, figure: str, detail: str
) -> None:
    found = headline(measured(nanoseconds, **changes))
    assert found.figure == figure
    assert found.detail == detail


def test_the_title_is_the_first_line_of_the_code() -> None:
    titles = [headline(measured(STEADY, code=code)).title for code in ("f(x)", "a\nb", "")]
    assert titles == ["f(x)", "a …", ""]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"first_call": 1.5e-6}, None),
        ({"first_call": 90e-6}, None),
        ({"first_call": 0.0}, None),
        ({"first_call": 0.012}, "12.0 ms"),
        ({"first_call": 1e-6, "compilations": 0}, "1.00 µs, already compiled (in memory)"),
        (
            {"first_call": 0.1, "phases": {"trace": 0.01, "compile": 0.07}, "compilations": 1},
            "100 ms = trace 10 ms + compile 70 ms + run 20 ms",
        ),
        (
            {"first_call": 0.1, "phases": {"trace": 0.2}, "compilations": 1},
            "100 ms = trace 200 ms + run 0 ns",
        ),
        (
            {"first_call": 0.1, "phases": {"compile": None}, "compilations": 1},
            "100 ms, with a compile whose time is not told",
        ),
    ],
)
def test_the_first_call_is_told_where_it_differs(changes: dict, words: str | None) -> None:
    assert rows(measured(STEADY, **changes)).get("first call") == words


def test_the_line_of_the_samples_says_how_many_calls_and_how_long() -> None:
    assert rows(measured(STEADY))["fastest"] == "1.00 µs · 100 samples"
    m = dataclasses.replace(AUTO, elapsed=1.06)
    assert rows(m)["fastest"] == "30.0 ns · 3 samples of 10 calls in 1.1 s"
    assert "fastest" not in rows(measured([]))


def test_the_line_of_places_names_four_arrays_and_counts_the_rest() -> None:
    places = [Placement(n, "jax", 1, "int8", (2,), ("cpu:0",), 2) for n in "abcdef"]
    m = measured(STEADY, inputs=tuple(places), outputs=(places[0],))
    told = "a i8[2] cpu:0, b i8[2] cpu:0, c i8[2] cpu:0, d i8[2] cpu:0, and 2 more → a i8[2] cpu:0"
    assert rows(m)["where"] == told
    assert rows(measured(STEADY)).get("where") is None
    assert rows(m)["with"] == "python 3.12"


def test_a_result_is_shown_in_one_line_inside_of_other_values() -> None:
    shown = [repr(measured([1000] * 30)), repr(measured([], code="a = 1\nb = 2"))]
    assert shown[0] == "<Measurement f(x): 1.00 µs ± 2.5 %, QUIET>"
    assert shown[1] == "<Measurement a = 1 …: 2.00 ms, ONCE>"


# Three times


@pytest.mark.parametrize(
    ("throughput", "dispatch", "detail", "shown"),
    [
        (0.8e-6, 0.1e-6, "latency: call and wait", {"throughput", "dispatch"}),
        (0.8e-6, 0.95e-6, "latency: call and wait", {"throughput"}),
        (0.95e-6, 0.1e-6, "latency: call and wait", {"dispatch"}),
        (0.95e-6, 0.95e-6, "per call, waited for", set()),
    ],
)
def test_throughput_and_dispatch_are_shown_where_they_differ_from_latency(
    throughput: float, dispatch: float, detail: str, shown: set[str]
) -> None:
    m = measured(STEADY, waited=True, throughputs=(throughput,) * 3, dispatches=(dispatch,) * 3)
    assert headline(m).detail == detail
    assert {"throughput", "dispatch"} & rows(m).keys() == shown


def test_throughput_and_dispatch_are_medians_of_their_looks() -> None:
    m = measured(STEADY, throughputs=(1e-7, 5e-7, 2e-7), dispatches=(3e-8, 1e-8, 2e-8))
    assert (m.throughput, m.dispatch) == (2e-7, 2e-8)
    late = measured(STEADY, throughputs=(2e-6,), dispatches=(3e-6,))
    assert late.throughput == late.dispatch == late.median  # no part is slower than the call


def test_where_the_fastest_leads_the_fastest_look_is_told_too() -> None:
    m = measured(SHIFTED, throughputs=(1e-7, 5e-7, 2e-7), dispatches=(3e-8, 1e-8, 2e-8))
    assert m.leading == m.floor
    assert (m.throughput, m.dispatch) == (1e-7, 1e-8)
    assert (measured(STEADY).throughput, measured(STEADY).dispatch) == (None, None)


def test_the_lines_of_throughput_and_dispatch_say_what_they_mean() -> None:
    lines = rows(measured(STEADY, waited=True, throughputs=(5e-7,), dispatches=(1e-7,)))
    assert lines["throughput"] == "500 ns a call, when many are queued and waited for once"
    assert lines["dispatch"] == "100 ns until Python goes on"


# Noise

SCATTERED = [1000 + 700 * (i % 2) + i * 7919 % 31 for i in range(60)]


def test_when_the_samples_scatter_the_fastest_leads() -> None:
    m = measured(SCATTERED)
    assert m.verdict == "NOISY"
    found, lines = headline(m), rows(m)
    assert (found.figure, found.detail) == ("1.00 µs", "at its fastest, per call")
    assert lines["median"] == median_with_interval(m) == "1.37 µs ± over 100 %"
    assert lines["samples"] == "60 samples · this run ± 25 %"
    assert "fastest" not in lines


def test_a_cause_is_named_where_the_figure_is_not_quiet() -> None:
    assert rows(measured(SCATTERED))["because"] == "it runs at two speeds, 1.02 µs and 1.71 µs"
    assert "because" not in rows(measured(STEADY))


def test_samples_are_pictured_when_they_are_not_one_narrow_peak() -> None:
    def pictures(m: Measurement) -> list[Distribution]:
        return [block for block in m.report().blocks if isinstance(block, Distribution)]

    assert pictures(measured(STEADY)) == []
    assert pictures(measured(SCATTERED[:19])) == []
    (picture,) = pictures(measured(SCATTERED))
    assert (picture.low, picture.high, picture.beyond) == ("1.00 µs", "1.72 µs", "")
    assert sum(picture.counts) == 60
    (tail,) = pictures(measured([*SCATTERED, 90_000]))
    assert (tail.high, tail.beyond) == ("1.73 µs", ", slowest 90.0 µs")


def test_what_the_machine_did_is_a_cause_of_noise_only() -> None:
    busy = Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, busy=4.0, waited=0.9)
    words = "other programs kept 1.5 of 2 CPUs busy (waited 47 % of the time for one)"
    found = measured(SCATTERED, conditions=busy)
    assert found.causes == ("it runs at two speeds, 1.02 µs and 1.71 µs", words)
    assert rows(found)["because"] == "; ".join(found.causes)
    assert measured(STEADY, conditions=busy).causes == ()
    wrong = dataclasses.replace(busy, cpu=-1.0)
    assert measured(STEADY, conditions=wrong).check() is not None
