"""Peak rates of devices, as measured: matmuls, memory, transfers, the smallest operation."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ipyjaxbench.record_types import Moment, NonNegativeFloat, PositiveFloat
from ipyjaxbench.reports import Note, Result

#: Share of the CPUs from which on other programs may have kept a device from its best.
BUSY = 0.1


@dataclass(frozen=True)
class DevicePeaks:
    """The peak rates of one framework on one device, per second.

    Attributes:
        framework: the framework whose operations were measured.
        version: its version.
        device: the name of the device.
        kind: its model or platform.
        threads: threads per operation on a CPU; None if unknown.
        settings: settings that affect its speed.
        products: FLOP/s of matrix products, by dtype.
        bandwidth: bytes/s that operations read and write in device memory.
        beyond: bytes above which a call's data no longer fits in a cache.
        upload: bytes/s from host to device; None if they share memory.
        download: bytes/s from device to host; None if they share memory.
        latency: seconds for the smallest operation, including the wait.
        spread: the largest of the spreads.
        others: the share of all CPUs that other programs used meanwhile.
        seconds: how long measuring took.
        taken: time of the measurement, in seconds since 1970.
        spreads: how far apart the best three samples of each figure are, relative; 1 if there is
            one sample. Empty if an earlier version measured. Figures are named by their dtype, or
            "memory", "upload", "download" and "latency".
        missing: figures that there was no time for; the next look measures them.
    """

    framework: str
    version: str
    device: str
    kind: str
    threads: int | None
    settings: str
    products: dict[str, PositiveFloat]
    bandwidth: PositiveFloat | None
    beyond: int
    upload: PositiveFloat | None
    download: PositiveFloat | None
    latency: PositiveFloat | None
    spread: NonNegativeFloat
    others: NonNegativeFloat
    seconds: float
    taken: Moment
    spreads: dict[str, NonNegativeFloat] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def rates(self) -> dict[str, float]:
        """Return the known figures; of the smallest operation, how many fit into a second."""
        latency = None if self.latency is None else 1 / self.latency
        others = {"memory": self.bandwidth, "upload": self.upload, "download": self.download,
                  "latency": latency}  # fmt: skip
        return {**self.products, **{name: rate for name, rate in others.items() if rate}}

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs kept the CPUs busy, so that the true peak may be higher."""
        return self.others > BUSY and self.device.startswith("cpu")

    def combine(self, other: "DevicePeaks") -> "DevicePeaks":
        """Return the better of both in each figure: nothing makes a device faster than it is."""
        rates = {name: _best(max, getattr(self, name), getattr(other, name)) for name in _RATES}
        products = {
            dtype: _best(max, self.products.get(dtype), other.products.get(dtype))
            for dtype in {**self.products, **other.products}
        }
        latency = _best(min, self.latency, other.latency)
        mine, theirs = self.rates(), other.rates()
        better = {name: self if mine.get(name, 0.0) >= theirs.get(name, 0.0) else other
                  for name in {**theirs, **mine}}  # fmt: skip
        spreads = {name: of.spreads[name] for name, of in better.items() if name in of.spreads}
        missing = dict.fromkeys((*self.missing, *other.missing))
        return replace(
            self,
            products=products,
            latency=latency,
            # What the other look alone has was measured beside its programs.
            others=max(self.others, other.others if theirs.keys() - mine.keys() else 0.0),
            spread=max(spreads.values(), default=self.spread),
            spreads=spreads,
            missing=tuple(name for name in missing if name not in better),
            **rates,
        )


_RATES = ("bandwidth", "upload", "download")


def _best(choose: Callable[..., float], *figures: float | None) -> Any:
    known = [figure for figure in figures if figure is not None]
    return choose(known) if known else None


def peak_row(peaks: DevicePeaks) -> dict[str, Any]:
    """Return the figures of one framework on one device; FLOP and bytes per second."""
    return {
        "framework": peaks.framework,
        "device": peaks.device,
        **{f"{dtype}_flop_per_s": rate for dtype, rate in peaks.products.items()},
        "memory_bytes_per_s": peaks.bandwidth,
        "upload_bytes_per_s": peaks.upload,
        "download_bytes_per_s": peaks.download,
        "smallest_operation_s": peaks.latency,
    }


@dataclass(frozen=True, repr=False)
class Peaks(Result):
    """The measured peak rates of devices.

    Attributes:
        found: the peaks of each framework and kind of device.
        now: time of this report, in seconds since 1970.
        seconds: how long measuring took; 0 if all were measured before.
        words: what could not be read or saved.
    """

    kind: ClassVar[str] = "ceilings"  # what records are called since version 0.1

    found: tuple[DevicePeaks, ...]
    now: float
    seconds: float = 0.0
    words: tuple[Note | str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each framework on each kind of device; FLOP and bytes per second."""
        return [peak_row(each) for each in self.found]

    def __repr__(self) -> str:
        """One line."""
        return f"<Peaks {len(self.found)} devices>"
