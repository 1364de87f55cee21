"""Which collectives a call makes, and how near to the network's peak: by hand-made numbers."""

import dataclasses

import pytest

from ipyjaxbench.cluster import CollectiveTime, JobMeasurement, NetworkPeaks, RankMeasurement
from ipyjaxbench.cluster.exchange import Exchange, add_peaks, count_exchanges, peak_share
from ipyjaxbench.timing import Exchanged, Interval
from tests.results import STEADY, measured, rows

REDUCE = Exchanged("all-reduce", 4096, of_all=True)
GATHER = Exchanged("all-gather", 2048, of_all=True)
PEAKS = NetworkPeaks(
    framework="torch", version="2.13.0", transport="gloo", hosts=("a", "b"), participants=2,
    times=(
        CollectiveTime("all-reduce", 4096, (1e-3, 2e-3)),
        CollectiveTime("all-reduce", 2**20, (0.010, 0.008)),
    ),
    missing={}, seconds=9.0, taken=1e9, now=1e9,
)  # fmt: skip


def ran(exchanged: Exchanged | None, start: float, end: float, device: str = "cpu:0") -> Interval:
    name = exchanged.kind if exchanged else "all-reduce"
    return Interval(name, start, end, device, "", exchanged)


def test_collectives_are_counted_for_each_call_and_device() -> None:
    one_call = [ran(REDUCE, 0, 1), ran(REDUCE, 2, 3), ran(GATHER, 4, 5)]
    calls = [i._replace(start=i.start + t, end=i.end + t) for i in one_call for t in (0, 10, 20)]
    both = [i._replace(device=device) for i in calls for device in ("cpu:0", "cpu:1")]
    expected = (
        Exchange("all-reduce", 2, 4096, alone=True),
        Exchange("all-gather", 1, 2048, alone=True),
    )
    matmul = Interval("dot.1", 0, 30, "cpu:0")
    assert count_exchanges([*calls, matmul], 3) == expected
    assert count_exchanges(both, 3) == expected


@pytest.mark.parametrize(
    "intervals",
    [
        [],
        [Interval("dot.1", 0, 1, "cpu:0")],
        [ran(REDUCE, 0, 1), ran(None, 1, 2)],  # of one nothing is known
        [ran(REDUCE, 0, 1), ran(REDUCE, 1, 2), ran(REDUCE, 2, 3)],  # three in two calls
        [ran(REDUCE, 0, 1), ran(GATHER, 1, 2)],  # calls that differ
    ],
)
def test_what_is_not_known_for_every_call_is_not_told(intervals: list[Interval]) -> None:
    assert count_exchanges(intervals, 2) == ()


def test_collectives_beside_each_other_of_some_ranks_or_unknown_have_no_peak() -> None:
    some = REDUCE._replace(of_all=False)
    for intervals in (
        [ran(REDUCE, 0, 10), ran(REDUCE, 5, 15)], [ran(some, 0, 1), ran(some, 2, 3)]
    ):  # fmt: skip
        (found,) = count_exchanges(intervals, 2)
        assert not found.alone
        assert add_peaks([found], PEAKS) == (found,)
    gather = Exchange("all-gather", 1, 2048, alone=True)  # which was not measured
    assert add_peaks([gather], PEAKS) == add_peaks([gather], None) == (gather,)


@pytest.mark.parametrize(
    ("nbytes", "seconds"),
    [(2**20, 0.010), (2**19, 0.005), (2**22, 0.040), (4096, 2e-3), (4, 2e-3), (8192, 4e-3)],
)
def test_the_peak_is_the_busbw_of_the_nearest_size(nbytes: int, seconds: float) -> None:
    (found,) = add_peaks([Exchange("all-reduce", 1, nbytes, alone=True)], PEAKS)
    assert found.at_peak == pytest.approx(seconds)


def test_the_share_counts_the_rank_that_waits_least_in_each_call() -> None:
    # 2 * 10 ms at the peak. The last rank to come is in them for 40, 50 and 25 ms: 40 is typical.
    exchanges = [Exchange("all-reduce", 2, 2**20, at_peak=0.010)]
    calls = [(0.040, 0.090, 0.025), (0.070, 0.050, 0.060)]
    assert peak_share(exchanges, calls) == pytest.approx(0.5)
    assert peak_share([*exchanges, Exchange("all-gather", 1, 8)], calls) is None
    assert peak_share(exchanges, [(), ()]) is None
    assert peak_share(exchanges, [(0.019,), (0.030,)]) is None  # faster than the peak
    assert peak_share([], calls) is None


def test_the_report_says_what_all_ranks_exchange() -> None:
    def job(*of_ranks: tuple[Exchange, ...]) -> JobMeasurement:
        ranks = (
            RankMeasurement(n, "a", n, measured(STEADY), (0.020, 0.020), (), each)
            for n, each in enumerate(of_ranks)
        )
        return JobMeasurement("step(x)", tuple(ranks))

    at_peak = Exchange("all-reduce", 2, 2**20, alone=True, at_peak=0.004)
    plain = dataclasses.replace(at_peak, at_peak=None)
    gather = Exchange("all-gather", 1, 2**19)
    line = "2 all-reduce 2.00 MiB per call; 40 % of the network's peak"
    assert rows(job((at_peak,), (plain,)))["exchanged"] == line
    both = job((at_peak, gather), (plain, gather))
    assert rows(both)["exchanged"] == "2 all-reduce 2.00 MiB, 1 all-gather 512 KiB per call"
    assert "exchanged" not in rows(job((), ())) | rows(job((plain,), (gather,)))
    assert JobMeasurement.from_dict(both.to_dict()) == both
