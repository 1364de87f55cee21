"""What a sweep over numbers of engines brings: speed-up, efficiency, and how they are shown."""

from dataclasses import replace

import pytest

from ipyjaxbench import RecordError, Sweep
from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.comparison.scaling import Kind, Scaling, scale
from ipyjaxbench.comparison.sweep import Point
from ipyjaxbench.reports.blocks import Headline, Table
from ipyjaxbench.reports.pictures import Chart
from ipyjaxbench.timing.measurement import Measurement
from tests.comparison.made import only
from tests.results import headline, measured, rows

SECOND = 10**9
WEAK_ROW = "each engine does the same work: the code does not read engines; "


#: By number of engines, seconds in which all samples are alike, or other samples.
Times = dict[int, float | Measurement]


def steady(each: float | Measurement) -> Measurement:
    """Samples that are all alike: another run reads the same within 2.5 %."""
    return each if isinstance(each, Measurement) else measured([round(each * SECOND)] * 40)


def swept(
    times: dict[str, Times], kinds: dict[str, Kind], planned: int = 0, job: str = ""
) -> Sweep:
    """A sweep of arms with these seconds on each number of engines."""
    numbers = sorted({n for own in times.values() for n in own})
    points = []
    for n in numbers:
        sides = tuple(
            ArmResult(label, steady(own[n]) if n in own else None) for label, own in times.items()
        )
        points.append(Point((str(n),), Comparison(sides, next(iter(times)), interleaved=False)))
    reads = tuple(label for label, kind in kinds.items() if kind == "strong")
    return Sweep(
        ("engines",),
        tuple(times),
        tuple(points),
        planned=planned or len(numbers),
        scaling=Scaling(kinds, job, reads),
    )


@pytest.mark.parametrize(
    ("kind", "times", "speedups", "efficiencies"),
    [
        ("strong", {1: 1.0, 2: 0.5, 4: 0.4}, [1, 2, 2.5], [1, 1, 0.625]),
        ("weak", {1: 1.0, 2: 1.0, 4: 1.25}, [1, 2, 3.2], [1, 1, 0.8]),
        ("strong", {2: 1.0, 4: 0.8, 8: 0.2}, [1, 1.25, 5], [1, 0.625, 1.25]),
        ("weak", {2: 1.0, 8: 2.0}, [1, 2], [1, 0.5]),
        ("strong", {4: 0.4, 1: 1.0}, [1, 2.5], [1, 0.625]),
        ("strong", {1: 0.0, 2: 1.0, 4: 0.5}, [1, 2], [1, 1]),  # no time is known to be zero
    ],
)
def test_speed_up_and_efficiency_are_against_the_smallest_number(
    kind: Kind, times: dict[int, float], speedups: list[float], efficiencies: list[float]
) -> None:
    found = scale([(n, steady(seconds)) for n, seconds in times.items()], kind)
    assert [each.engines for each in found] == sorted(n for n, seconds in times.items() if seconds)
    assert [each.speedup.value for each in found] == pytest.approx(speedups)
    assert [each.efficiency for each in found] == pytest.approx(efficiencies)


def test_the_interval_is_that_of_both_times_and_of_all_numbers_together() -> None:
    # Each time is known to 2.5 %, their ratio to 2.5 % · √2; of three at 98.3 %: z 2.394, not 1.96.
    first, second, *_ = scale([(n, steady(1.0)) for n in (1, 2)], "strong")
    assert (first.speedup.low, first.speedup.high) == (1.0, 1.0)
    assert second.speedup.high == pytest.approx(1.0360, abs=2e-4)
    of_three = scale([(n, steady(1.0)) for n in (1, 2, 4, 8)], "strong")[1]
    assert of_three.speedup.high == pytest.approx(1.0441, abs=2e-4)
    _, near, far = scale([(1, steady(1.0)), (2, steady(0.51)), (4, steady(0.3))], "strong")
    assert (near.may_be_ideal(), far.may_be_ideal()) == (True, False)


def test_the_report_of_strong_scaling() -> None:
    s = swept({"allreduce": {1: 1.0, 2: 0.51, 4: 0.294}}, {"allreduce": "strong"}, job="jax")
    detail = "85 % efficiency, strong scaling: the same work is divided"
    assert headline(s) == Headline(
        "allreduce by engines", "3.4× faster on 4 engines", detail, "FASTER", ""
    )
    assert only(s, Table).rows == (
        ("1", "1.00 s ± 2.5 %", "baseline", "", ""),
        ("2", "510 ms ± 2.5 %", "2.0×", "1.9–2.0×", "94–102 %"),
        ("4", "294 ms ± 2.5 %", "3.4×", "3.3–3.5×", "85 %"),
    )
    assert rows(s) == {
        "strong": "the same work is divided: the code reads engines;"
        " speed-up T(1)/T(n), efficiency T(1)/(n·T(n))",
        "job": "all ranks of one jax job take part in each call, at each number",
    }


def test_the_report_of_weak_scaling_from_two_engines_on() -> None:
    s = swept({"step": {2: 1.0, 4: 1.1, 8: 1.6}}, {"step": "weak"})
    assert headline(s).figure == "2.5× the throughput of 2 on 8 engines"
    assert headline(s).detail == "62 % efficiency, weak scaling: each engine does the same work"
    assert rows(s)["weak"] == f"{WEAK_ROW}speed-up n·T(2)/(2·T(n)), efficiency T(2)/T(n)"
    assert "job" not in rows(s)


@pytest.mark.parametrize(
    ("kind", "times", "figure", "detail", "verdict"),
    [
        ("strong", {1: 1.0, 4: 0.25}, "4.0× faster on 4 engines",
         "no clear difference from ideal (97–104 % efficiency)", "FASTER"),
        ("strong", {1: 1.0, 4: 2.0}, "2.0× slower on 4 engines", "12 % efficiency", "SLOWER"),
        ("strong", {2: 1.0, 4: 0.8}, "1.25× faster on 4 engines than on 2", "62 % efficiency",
         "FASTER"),
        ("strong", {1: 1.0, 2: 0.98}, "no clear speed-up on 2 engines", "51 % efficiency",
         "CAN'T TELL"),
        ("weak", {1: 1.0, 4: 8.0}, "0.50× the throughput on 4 engines", "12 % efficiency",
         "SLOWER"),
        ("weak", {1: 1e-3, 2: measured([10**5 if i % 2 else 10**8 for i in range(40)])},
         "no clear speed-up on 2 engines", "the samples scatter too much for a ratio",
         "CAN'T TELL"),
        ("weak", {1: 1e-3, 2: measured([10**6] * 3)},
         "no clear speed-up on 2 engines", "too few samples for a ratio", "CAN'T TELL"),
    ],
)  # fmt: skip
def test_the_headline_claims_what_the_intervals_allow(
    kind: Kind, times: Times, figure: str, detail: str, verdict: str
) -> None:
    s = swept({"a": times}, {"a": kind})
    found = headline(s)
    assert (found.figure, found.verdict) == (figure, verdict)
    assert found.detail.startswith(f"{detail}, {kind} scaling: ")
    assert (only(s, Table).rows[-1][-1] == "can't tell") is detail.endswith("for a ratio")


def test_several_arms_have_a_table_each_and_share_the_ideal() -> None:
    s = swept(
        {"a": {1: 1.0, 2: 0.5}, "b": {1: 1.0, 2: 1.25}}, {"a": "strong", "b": "weak"}, planned=3
    )
    assert headline(s).figure == "a 2.0× faster on 2 engines; b 1.6× the throughput on 2 engines"
    assert [table.caption for table in s.report().blocks if isinstance(table, Table)] == ["a", "b"]
    chart = only(s, Chart)
    assert [(each.label, each.limit) for each in chart.series] == [
        ("a", False), ("b", False), ("ideal", True),
    ]  # fmt: skip
    assert [point[:2] for point in chart.series[-1].points] == [(1, 1), (2, 2)]
    assert rows(s)["strong"].startswith("the same work is divided (a): the code reads engines; ")
    assert rows(s)["points"] == "2 of 3 measured"
    decided = replace(s, scaling=Scaling({"a": "weak", "b": "weak"}, reads=("a",)))
    assert ": the code" not in rows(decided)["weak"]  # but by the user


def test_an_arm_that_was_not_reached_is_left_out() -> None:
    s = swept({"a": {1: 1.0, 2: 0.8}, "b": {1: 1.0}}, {"a": "strong", "b": "strong"})
    tables = [block for block in s.report().blocks if isinstance(block, Table)]
    assert [len(table.rows) for table in tables] == [2, 1]
    assert headline(s).figure == "a 1.25× faster on 2 engines"
    assert "not run" not in str(s)
    *_, a, b = s.rows()
    assert (a["engines"], a["scaling"], b["speedup"]) == ("2", "strong", None)
    assert (a["speedup"], a["efficiency"]) == (pytest.approx(1.25), pytest.approx(0.625))


def test_one_number_of_engines_has_a_time_and_no_speed_up() -> None:
    s = swept({"a": {2: 1.0}}, {"a": "weak"}, planned=2)
    assert (headline(s).figure, headline(s).verdict) == ("1.00 s ± 2.5 %", "")
    assert headline(s).detail == "per call on 2 engines; a speed-up takes two numbers of engines"
    assert only(s, Table).rows == (("2", "1.00 s ± 2.5 %"),)
    assert not [block for block in s.report().blocks if isinstance(block, Chart)]


def test_a_record_reads_back_and_a_number_that_is_none_is_refused() -> None:
    s = swept({"a": {1: 1.0, 2: 0.8}}, {"a": "strong"}, job="torch")
    record = s.to_dict()
    assert Sweep.from_dict(record) == s
    for text in ("0", "two", "1" * 5000, "-1", "²"):
        record["facts"]["points"][0]["values"] = [text]
        with pytest.raises(RecordError, match="a point is of no number of engines"):
            Sweep.from_dict(record)
