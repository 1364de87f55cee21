"""One rank of a job of two, of which it is known what our report should say.

``python -m tests.accuracy.ranks_job FRAMEWORK ROUNDS RANK SIZE PORT``; rank 0 prints as JSON what
was found by case. Each case of a round is made several times.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from ipyjaxbench import stats
from ipyjaxbench.cluster import JobMeasurement, RankMeasurement, join, measure_rank
from ipyjaxbench.cluster.measure import _gather
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework, Job, find_job
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode import Snippet, Source
from tests.cluster.engines import be_rank

SLEEP, LATE = 0.05, 0.02  # seconds
MANY = 1000  # ranks
_PER_ROUND = 7
_SECONDS = 60


class Wrapped(Job):
    """A rank over the store of a job that is there."""

    def __init__(self, job: Job, rank: int, size: int) -> None:
        self._job, self.rank, self.size = job, rank, size

    def put(self, key: str, value: bytes) -> None:
        """As the job does."""
        self._job.put(key, value)

    def get(self, key: str, milliseconds: int) -> bytes | None:
        """As the job does."""
        return self._job.get(key, milliseconds)

    def peek(self, key: str) -> bytes | None:
        """As the job does."""
        return self._job.peek(key)

    def add(self, key: str, more: int = 1) -> int:
        """As the job does."""
        return self._job.add(key, more)


class Late(Wrapped):
    """A rank that each release reaches late."""

    def get(self, key: str, milliseconds: int) -> bytes | None:
        """Return a value, some time after it came."""
        found = super().get(key, milliseconds)
        if "/go/" in key:
            time.sleep(LATE)
        return found


class Rank:
    """This process, and what it measures in step with the other one."""

    def __init__(self, framework: Framework, job: Job, compute: Callable[[Any], Any]) -> None:
        self.framework, self.job, self._compute = framework, job, compute
        self.sleep = 0.0
        # When each call began, in nanoseconds: a list would be put back after the measurement.
        self._entries = tempfile.TemporaryFile("w+")  # noqa: SIM115  until the process ends
        self._truths = 0

    def step(self, x: Any) -> Any:
        """What is timed."""
        print(time.perf_counter_ns(), file=self._entries)
        if self.sleep:
            time.sleep(self.sleep)
        return self._compute(x)

    def measure(self, code: str, names: dict[str, Any], job: Job | None = None) -> JobMeasurement:
        """Time code; in rank 1 the return value is meaningless."""
        self._entries.seek(0)
        self._entries.truncate()
        with join(self.framework, job or self.job, _SECONDS, Clock.elapsed()) as rendezvous:
            found = measure_rank(Snippet(Source.plain(code), names), TimeOptions(), rendezvous)
        return found or JobMeasurement(code, ())

    def skew(self, found: JobMeasurement) -> float:
        """The same as found.skew, from the entries into calls that both ranks wrote down."""
        self._truths += 1
        key = f"truth/{self._truths}"
        self._entries.seek(0)
        own = [int(line) for line in self._entries]
        if self.job.rank:
            self.job.put(key, json.dumps(own).encode())
            return 0.0
        entries = [own, json.loads(self.job.get(key, _SECONDS * 1000) or b"[]")]
        firsts = [
            [min(entry for entry in calls if entry >= start) for start in each.started]
            for each, calls in zip(found.ranks, entries, strict=True)
        ]
        return stats.median([abs(a - b) for a, b in zip(*firsts, strict=True)]) * 1e-9


def compare(rank: Rank, x: Any, found: dict[str, list[Any]]) -> None:
    """One of each case."""
    names = {"step": rank.step, "x": x}
    even = rank.measure("step(x)", names)
    slow = len(found["slow"]) % 2
    rank.sleep = SLEEP if rank.job.rank == slow else 0.0
    behind = rank.measure("step(x)", names)
    rank.sleep = 0.0
    late = rank.measure("step(x)", names, Late(rank.job, 1, 2) if rank.job.rank else None)
    truth = rank.skew(late)
    found["even"].append(even.slowest if even.ranks else None)
    found["even lost"].append(even.lost if even.ranks else None)
    found["slow"].append(behind.slowest == slow if behind.ranks else None)
    found["waits"].append(max(behind.waits, default=0.0) / SLEEP)
    found["skew"].append([late.skew if late.ranks else None, truth])


def gather(rank: Rank, run: int, like: JobMeasurement) -> float:
    """Seconds until rank 0 holds and shows what many ranks measured."""

    def meet(number: int) -> Rendezvous:
        job = Wrapped(rank.job, number, MANY)
        return Rendezvous(job, rank.framework, f"many-{run}", _SECONDS, Clock.elapsed())

    key = f"many/{run}"
    if rank.job.rank:
        text = rank.job.get(key, _SECONDS * 1000) or b""
        one = msgspec.json.decode(text, type=RankMeasurement)
        for number in range(1, MANY):
            _gather("step(x)", replace(one, rank=number), meet(number))
        return 0.0
    rank.job.put(key, msgspec.json.encode(like.ranks[1]))
    start = time.perf_counter()
    found = _gather("step(x)", like.ranks[0], meet(0))
    lines = str(found).splitlines()
    seconds = time.perf_counter() - start
    assert len(lines) < 60, len(lines)
    return seconds


def tell(number: int, found: object) -> None:
    """End this rank; rank 0 prints what was found."""
    if number == 0:
        print("found", json.dumps(found), flush=True)
    time.sleep(1)
    os._exit(0)  # a job that ends in order waits for ranks that have gone


def main(framework: str, rounds: int, number: int, size: int, port: int) -> None:
    """Be one rank of ``size``."""
    compute, x = be_rank(framework, number, size, port)
    job = find_job()
    assert job is not None
    rank = Rank(*job, compute)
    found: dict[str, list[Any]] = {
        name: [] for name in ("first", "even", "even lost", "slow", "waits", "skew", "gather")
    }
    begun = time.perf_counter()
    first = rank.measure("step(x)", {"step": rank.step, "x": x})
    found["first"].append(time.perf_counter() - begun)
    if size == 2:
        for run in range(rounds):
            for _ in range(_PER_ROUND):
                compare(rank, x, found)
            found["gather"].append(gather(rank, run, first))
    tell(number, found)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
