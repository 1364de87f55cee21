"""What some code copied between host and devices, and which arrays it created and freed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ipyjaxbench.device.memory_peak import MemoryPeak
from ipyjaxbench.frameworks import ArrayInfo
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class Transfer:
    """Data copied from one place to another by one line of code, once or several times.

    Attributes:
        framework: the framework that owns the data.
        line: line number of the code that copied; 0 if unknown.
        text: source text of that code.
        function: the function around it; empty outside functions.
        source: "host", or devices such as "cpu:0".
        target: "host", or devices.
        dtype: dtype of the data.
        shape: shape of the data.
        nbytes: bytes of the data, all times together.
        asked: whether the copy is explicit, as in ``np.asarray(x)``.
        free: why nothing was copied; empty if it was.
        seconds: time of the copies, once the data was computed; None if unknown.
        waited: seconds spent waiting for the data to be computed.
        times: number of copies.
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
        """Bytes actually copied."""
        return 0 if self.free else self.nbytes


@dataclass(frozen=True, repr=False)
class Transfers(Result):
    """What some code copied between host and devices, and which arrays it created and freed.

    Attributes:
        code: the code that ran.
        seconds: its time, until all of its work was done.
        frameworks: versions of the frameworks involved.
        transfers: the copies, in the order in which they started.
        created: new arrays, largest first.
        freed: arrays that are gone, largest first.
        memory: bytes in use on devices before and after, where devices report them.
        peaks: the most memory that it needed: on devices that count it, and in the process.
        unseen: what was not watched.
        error: the exception that the code raised, in one line; empty if none.
    """

    kind: ClassVar[str] = "transfers"

    code: str
    seconds: NonNegativeFloat
    frameworks: Mapping[str, str] = field(default_factory=dict)
    transfers: tuple[Transfer, ...] = ()
    created: tuple[ArrayInfo, ...] = ()
    freed: tuple[ArrayInfo, ...] = ()
    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    peaks: tuple[MemoryPeak, ...] = ()
    unseen: tuple[str, ...] = ()
    error: str = ""

    @property
    def copied(self) -> int:
        """Bytes actually copied."""
        return sum(each.copied for each in self.transfers)

    @property
    def copying(self) -> dict[str, float]:
        """Seconds of the copies by direction, as far as known."""
        seconds: dict[str, float] = {}
        for each in self.transfers:
            if not each.free and each.seconds is not None:
                seconds[each.direction] = seconds.get(each.direction, 0.0) + each.seconds
        return seconds

    @property
    def waiting(self) -> float:
        """Seconds spent waiting for data to be computed before it was copied or read."""
        return math.fsum(each.waited for each in self.transfers)

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        return next((wrong for peak in self.peaks if (wrong := peak.check())), None)

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
