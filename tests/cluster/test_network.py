"""Network peaks: ranks make the same collectives, and bandwidths are those of nccl-tests."""

import dataclasses
import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ipyjaxbench.cluster import CollectiveTime, NetworkPeaks, RankError, join, measure_network
from ipyjaxbench.cluster.bandwidth import bus_bandwidth
from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks import COLLECTIVES, Collectives
from ipyjaxbench.host import Clock
from ipyjaxbench.testing import FakeClock, FakeDevice
from tests.cluster.threads import ThreadJob, run_ranks
from tests.fake_framework import FakeFramework

MIB = 2**20
_START, _PER_BYTE = 20_000, 1.0  # nanoseconds of the fake wire: 1 GB/s


class Wire(Collectives):
    """Collectives that take as long as their data is large, longer in later ranks."""

    def participants(self) -> int:
        return int(self.framework.size)

    def transport(self) -> str:
        return str(self.framework.wire)

    def make(self, kind: str, nbytes: int) -> Callable[[], object]:
        framework = self.framework
        framework.made.append((kind, nbytes))
        if kind == framework.lacks:
            raise NotImplementedError(kind)
        if kind == framework.breaks:
            raise MemoryError("no room\nfor it")
        slower = 1 + framework.rank / 10

        def run() -> None:
            framework.runs += 1
            framework.clock.advance(int((_START + nbytes * _PER_BYTE) * slower * framework.slow))

        return run


class Node(FakeFramework):
    """One rank's framework."""

    name = "fake"
    module = "tests"
    capabilities: ClassVar = {"Collectives": "tests.cluster.test_network:Wire"}
    lacks = ""
    breaks = ""
    wire = "string"
    slow = 1.0
    release = "1.0"

    def __init__(self, job: ThreadJob) -> None:
        self.clock = FakeClock()
        super().__init__(FakeDevice(self.clock))
        self.rank, self.size = job.rank, job.size
        self.made: list[tuple[str, int]] = []
        self.runs = 0

    def version(self) -> str:
        return self.release


@pytest.fixture(autouse=True)
def empty_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing was stored before."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return tmp_path


def measure(
    size: int = 2, *, seconds: float = 10.0, remeasure: bool = False, **facts: Any
) -> tuple[list[Any], list[Node]]:
    """Return what each rank returned or raised, and the frameworks of the ranks."""
    nodes: dict[int, Node] = {}

    def work(job: ThreadJob) -> NetworkPeaks | None:
        node = nodes[job.rank] = Node(job)
        for name, value in facts.items():
            setattr(node, name, value[job.rank] if isinstance(value, tuple) else value)
        with join(node, job, 10, Clock.elapsed()) as rendezvous:
            return measure_network(
                rendezvous, remeasure=remeasure, seconds=seconds, clock=node.clock
            )

    found = run_ranks(size, work)
    return found, [nodes[rank] for rank in range(size)]


def test_every_collective_is_timed_at_every_size_in_all_ranks() -> None:
    (peaks, *others), nodes = measure(3)
    assert others == [None, None]
    assert nodes[0].made == nodes[1].made == nodes[2].made
    assert nodes[0].runs == nodes[1].runs == nodes[2].runs
    assert len(peaks.times) == 8 * len(COLLECTIVES)
    assert {each.kind for each in peaks.times} == set(COLLECTIVES)
    for each in peaks.times:
        assert each.nbytes % (3 * 4) == 0  # each of three has as many float32 as the others
        alone = (_START + each.nbytes * _PER_BYTE) * 1e-9
        assert each.seconds == pytest.approx((alone, 1.1 * alone, 1.2 * alone), rel=1e-4)
        assert each.slowest == max(each.seconds)
        assert each.mean == pytest.approx(1.1 * alone, rel=1e-4)
    large = peaks.at("all-reduce", 64 * MIB)
    assert peaks.busbw(large) == pytest.approx(1e9 / 1.2 * 4 / 3, rel=0.01)
    (slow, _), _ = measure(slow=50.0)
    assert {each.kind for each in slow.times} == set(COLLECTIVES)  # each series ends early
    assert slow.at("broadcast", 64 * MIB).nbytes < 64 * MIB
    assert slow.seconds < 25
    # Of 4 participants, 64 MB in 32 ms: 2 GB/s, times 2 * 3/4, 3/4, 3/4 and 1.
    found = [bus_bandwidth(kind, 4, 64_000_000, 0.032) for kind in COLLECTIVES]
    assert found == pytest.approx([3e9, 1.5e9, 1.5e9, 2e9])


def test_what_a_transport_or_a_rank_lacks_is_said_and_the_others_are_measured() -> None:
    (peaks, _), _ = measure(lacks="reduce-scatter")
    assert peaks.missing == {"reduce-scatter": "not offered by string"}
    assert {each.kind for each in peaks.times} == set(COLLECTIVES) - {"reduce-scatter"}
    assert "not measured  reduce-scatter: not offered by string" in str(peaks)
    (peaks, _), nodes = measure(breaks=("", "all-gather"), remeasure=True)
    assert gc.isenabled()
    assert peaks.missing == {"all-gather": "MemoryError: no room"}
    assert nodes[0].runs == nodes[1].runs  # none enters the collective
    (peaks, _), _ = measure(capabilities={}, remeasure=True)
    assert (peaks.times, peaks.best) == ((), None)
    assert set(peaks.missing.values()) == {"not offered by fake"}
    assert str(peaks).startswith("network       not measured   no collective is offered")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"release": ("1.0", "2.0")}, "rank 1 has fake 2.0 over string, rank 0 has 1.0 over str"),
        ({"wire": ("string", "rope")}, "rank 1 has fake 1.0 over rope, rank 0 has 1.0 over string"),
    ],
)
def test_ranks_that_differ_are_refused_before_they_hang(facts: Any, words: str) -> None:
    outcomes, nodes = measure(**facts)
    for outcome in outcomes:
        assert isinstance(outcome, RankError)
        assert str(outcome).startswith(words)
    assert not any(node.runs for node in nodes)


def test_peaks_are_measured_once_for_the_same_hosts() -> None:
    (first, _), _ = measure()
    (again, other), nodes = measure()
    assert other is None
    assert [node.made for node in nodes] == [[], []]
    assert (again.stored, again.times) == (True, first.times)
    for other in ({"remeasure": True}, {"size": 3}, {"release": "1.1"}, {"wire": "rope"}):
        assert measure(**other)[1][0].runs > 0


def test_a_store_that_cannot_be_read_or_written_is_measured_anew(empty_store: Path) -> None:
    measure()
    (path,) = (empty_store / "ipyjaxbench" / "networks").iterdir()
    record = json.loads(path.read_text("utf-8"))
    assert path.stat().st_mode & 0o077 == 0
    record["facts"]["times"][0]["seconds"] = [-1.0, 2.0]
    for damaged in (json.dumps(record), "{", ""):
        path.write_text(damaged, "utf-8")
        assert measure()[1][0].runs > 0
    path.unlink()
    path.parent.rmdir()
    path.parent.touch()  # where the folder would be
    (peaks, _), _ = measure()
    assert peaks.times
    assert "not stored for other sessions" in str(peaks)


PEAKS = NetworkPeaks(
    framework="torch", version="2.13.0", transport="gloo", hosts=("a", "a", "b", "b"),
    participants=4, missing={"reduce-scatter": "not offered by gloo"}, seconds=9.1, taken=1.7e9,
    now=1.7e9 + 7200, stored=True,
    times=(
        CollectiveTime("all-reduce", 4096, (1e-4, 2e-4, 1e-4, 1e-4)),
        CollectiveTime("all-reduce", 64 * MIB, (0.050, 0.060, 0.055, 0.051)),
        CollectiveTime("broadcast", 4096, (1e-4, 1e-4, 1e-4, 1e-4)),
    ),
)  # fmt: skip


def test_the_report_fits_80_columns_and_its_record_gives_it_back() -> None:
    text = str(PEAKS)
    assert max(map(len, text.splitlines())) <= 80
    # 64 MiB in 60 ms, the slowest rank's, times 2 * 3/4
    assert text.startswith("network       1.68 GB/s   busbw of all-reduce at 64.0 MiB\n")
    assert "between       4 ranks, over gloo\n" in text
    assert "all-reduce: fastest 50.0 ms, mean 54.0 ms, slowest 60.0 ms" in text
    assert "measured      2 hours ago; `remeasure=True` measures again\n" in text
    assert text.endswith("2 hosts · torch 2.13.0")
    assert NetworkPeaks.from_dict(PEAKS.to_dict()) == PEAKS
    assert "fastest rank" in PEAKS._repr_mimebundle_()["text/html"]


def test_the_nearest_size_is_found_by_its_ratio() -> None:
    found = [PEAKS.at("all-reduce", nbytes) for nbytes in (1, 500_000, 530_000, 10**9)]
    assert [each and each.nbytes for each in found] == [4096, 4096, 64 * MIB, 64 * MIB]
    assert PEAKS.at("all-gather", 4096) is None
    assert [row["busbw_bytes_per_s"] for row in PEAKS.rows()][2] == pytest.approx(4.096e7)


@pytest.mark.parametrize("changed", [
    {"participants": 1},
    {"hosts": ("a",)},
    {"times": (CollectiveTime("gossip", 4096, (1.0,) * 4),)},
    {"times": (CollectiveTime("all-reduce", 4096, (5e-324,) * 4),)},
])  # fmt: skip
def test_facts_that_cannot_be_are_refused(changed: Any) -> None:
    with pytest.raises(RecordError, match="makes no sense"):
        NetworkPeaks.from_dict(dataclasses.replace(PEAKS, **changed).to_dict())
