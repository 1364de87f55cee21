"""What some code copied between host and devices, and which arrays it made and gave up."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ipyjaxbench.frameworks import ArrayInfo
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class Transfer:
    """Data that went from one place to another, once or several times at one place of the code.

    Attributes:
        framework: whose data it was.
        line: where the code stands that had it copied; 0 where that is not known.
        text: that code.
        function: in which it stands; empty outside of functions.
        source: "host", or devices such as "cpu:0".
        target: the same.
        dtype: of the data.
        shape: of the data.
        nbytes: of the data, all times together.
        asked: whether the code names the copy, as in ``np.asarray(x)``.
        free: why nothing was copied; empty where all was.
        seconds: that the copies took, once the data was computed; None where that is not known.
        waited: seconds before them, until the data was computed.
        times: how often it went.
    """

    framework: str
    line: int
    text: str
    function: str
    source: str
    target: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: NonNegativeInt
    asked: bool
    free: str = ""
    seconds: float | None = None
    waited: float = 0.0
    times: PositiveInt = 1

    @property
    def direction(self) -> str:
        """One of "to the host", "to devices" and "between devices"."""
        ends = {self.source: "to devices", self.target: "to the host"}
        if "host" in ends:
            return ends["host"]
        # Some frameworks call the host's memory a device; it is none beside a GPU.
        on_host = [place for place in (self.source, self.target) if place.startswith("cpu")]
        return ends[on_host[0]] if len(on_host) == 1 else "between devices"

    @property
    def copied(self) -> int:
        """Bytes that were really copied."""
        return 0 if self.free else self.nbytes


@dataclass(frozen=True, repr=False)
class Transfers(Result):
    """What some code copied between host and devices, made and gave up.

    Attributes:
        code: what was run.
        seconds: that it took, until all of its work was done.
        frameworks: versions of those in play.
        transfers: in the order in which they began.
        created: arrays that are there since, the largest first.
        freed: arrays that are there no longer, the largest first.
        memory: bytes in use on devices before and after, where devices tell.
        unseen: what was not looked at, in a few words each.
        error: what the code raised, in one line; empty where nothing.
    """

    kind: ClassVar[str] = "transfers"

    code: str
    seconds: NonNegativeFloat
    frameworks: Mapping[str, str] = field(default_factory=dict)
    transfers: tuple[Transfer, ...] = ()
    created: tuple[ArrayInfo, ...] = ()
    freed: tuple[ArrayInfo, ...] = ()
    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    error: str = ""

    @property
    def copied(self) -> int:
        """Bytes that were really copied."""
        return sum(each.copied for each in self.transfers)

    @property
    def copying(self) -> dict[str, float]:
        """Seconds that copies took, by their direction, as far as they are told."""
        seconds: dict[str, float] = {}
        for each in self.transfers:
            if not each.free and each.seconds is not None:
                seconds[each.direction] = seconds.get(each.direction, 0.0) + each.seconds
        return seconds

    @property
    def waiting(self) -> float:
        """Seconds until data was computed that was then copied or read."""
        return math.fsum(each.waited for each in self.transfers)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each place that copies; sizes in bytes, times in seconds."""
        return [
            {
                "line": each.line,
                "call": each.text,
                "framework": each.framework,
                "source": each.source,
                "target": each.target,
                "dtype": each.dtype,
                "shape": each.shape,
                "times": each.times,
                "copied_bytes": each.copied,
                "copy_s": each.seconds,
                "waited_s": each.waited,
                "explicit": each.asked,
            }
            for each in self.transfers
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Transfers {self.copied} bytes in {len(self.transfers)} places>"
