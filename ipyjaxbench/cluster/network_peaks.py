"""How fast the network of a job is, as measured: collectives over the sizes of their data."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench.cluster.bandwidth import algorithm_bandwidth, bus_bandwidth
from ipyjaxbench.frameworks import COLLECTIVES
from ipyjaxbench.record_types import (
    Moment,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class CollectiveTime:
    """What one collective takes at one size.

    Attributes:
        kind: "all-reduce", "all-gather", "reduce-scatter" or "broadcast".
        nbytes: bytes of its data, as nccl-tests counts them.
        seconds: per call, for each rank.
    """

    kind: str
    nbytes: PositiveInt
    seconds: tuple[PositiveFloat, ...]

    @property
    def slowest(self) -> float:
        """Seconds until it is done in all ranks."""
        return max(self.seconds)

    @property
    def mean(self) -> float:
        """Seconds, the mean over ranks."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def algbw(self) -> float:
        """Its bytes per second, for the slowest rank."""
        return algorithm_bandwidth(self.nbytes, self.slowest)


@dataclass(frozen=True)
class NetworkPeaks(Result):
    """How fast the processes of a job exchange data.

    Attributes:
        framework: the framework whose collectives were measured.
        version: its version.
        transport: what carries the data, such as "gloo".
        hosts: the machine of each rank.
        participants: devices, or processes if each has one; 0 if unknown.
        times: what each collective takes at each size.
        missing: collectives that were not measured, and why.
        seconds: how long measuring took.
        taken: time of the measurement, in seconds since 1970.
        now: time of this report.
        stored: whether it was measured before.
        words: what could not be read or saved.
    """

    kind: ClassVar[str] = "network"

    framework: str
    version: str
    transport: str
    hosts: tuple[str, ...]
    participants: NonNegativeInt
    times: tuple[CollectiveTime, ...]
    missing: dict[str, str]
    seconds: NonNegativeFloat
    taken: Moment
    now: Moment
    stored: bool = False
    words: tuple[str, ...] = ()

    def check(self) -> str | None:
        """Return why these facts contradict each other."""
        if any(each.kind not in COLLECTIVES for each in self.times):
            return "a collective is of no known kind"
        if any(not each.seconds or len(each.seconds) != len(self.hosts) for each in self.times):
            return "some ranks have no time"
        if self.times and self.participants < 2:
            return "one participant has no network"
        if not all(0 < self.busbw(each) < math.inf for each in self.times):
            return "a bandwidth is infinite"
        return None

    def busbw(self, time: CollectiveTime) -> float:
        """Return what a link carries in a second, as nccl-tests defines it."""
        return bus_bandwidth(time.kind, self.participants, time.nbytes, time.slowest)

    @cached_property
    def best(self) -> CollectiveTime | None:
        """Where the most was carried; None where nothing was measured."""
        return max(self.times, key=self.busbw, default=None)

    def at(self, kind: str, nbytes: float) -> CollectiveTime | None:
        """Return the measurement whose size is the nearest, as a ratio; None if there is none."""
        near = (each for each in self.times if each.kind == kind)
        return min(
            near, key=lambda each: max(each.nbytes, nbytes) / min(each.nbytes, nbytes), default=None
        )

    def time_of(self, kind: str, nbytes: int) -> float | None:
        """Return seconds that a collective takes at the busbw of the nearest size; None if unknown.

        One that is smaller than all takes what the smallest takes: that is latency.
        """
        near = self.at(kind, max(nbytes, 1))
        if near is None:
            return None
        smallest = min(each.nbytes for each in self.times if each.kind == kind)
        return near.slowest * max(nbytes, smallest) / near.nbytes

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each collective and size."""
        return [
            {
                "collective": each.kind, "nbytes": each.nbytes, "least_s": min(each.seconds),
                "mean_s": each.mean, "slowest_s": each.slowest,
                "algbw_bytes_per_s": each.algbw, "busbw_bytes_per_s": self.busbw(each),
            }
            for each in self.times
        ]  # fmt: skip
