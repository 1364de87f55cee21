"""What devices can do at most, as measured: products, memory, copies, starting work."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ipyjaxbench.record_types import Moment, NonNegativeFloat, PositiveFloat
from ipyjaxbench.reports import Note, Result

#: Share of the CPUs from which on other programs may have kept a device from its best.
BUSY = 0.1


@dataclass(frozen=True)
class Ceiling:
    """What one framework reaches on one device; rates are in a second.

    Attributes:
        framework: whose operations were measured.
        version: of the framework.
        device: its name.
        kind: what the device is.
        threads: that one operation uses on the CPU; None where it is not known.
        settings: those that change how fast it computes, in words.
        products: FLOP of matrix products, by dtype.
        bandwidth: bytes that operations read and write in the device's memory.
        beyond: bytes from which on what a call moves does not stay in a cache.
        upload: bytes from the host to the device; None where they share their memory.
        download: bytes from the device to the host; None as above.
        latency: seconds that the smallest operation takes, waited for.
        spread: how far the two best looks at a figure were apart at most, relative to it.
        others: share of all CPUs that other programs took meanwhile.
        seconds: that measuring took.
        taken: when, in seconds since 1970.
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

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs had the CPUs meanwhile: the host can do more than was measured."""
        return self.others > BUSY and self.device.startswith("cpu")

    def combine(self, other: "Ceiling") -> "Ceiling":
        """Return the better of both in each figure: nothing makes a device faster than it is."""
        rates = {name: _best(max, getattr(self, name), getattr(other, name)) for name in _RATES}
        products = {
            dtype: _best(max, self.products.get(dtype), other.products.get(dtype))
            for dtype in {**self.products, **other.products}
        }
        latency = _best(min, self.latency, other.latency)
        return replace(self, products=products, latency=latency, **rates)


_RATES = ("bandwidth", "upload", "download")


def _best(choose: Callable[..., float], *figures: float | None) -> Any:
    known = [figure for figure in figures if figure is not None]
    return choose(known) if known else None


@dataclass(frozen=True, repr=False)
class Ceilings(Result):
    """What devices can do at most.

    Attributes:
        found: a ceiling for each framework and sort of device.
        now: when they were asked for, in seconds since 1970.
        seconds: that measuring took; 0 where all were measured before.
        words: what could not be read or stored; sentences alone where an earlier version saved it.
    """

    kind: ClassVar[str] = "ceilings"

    found: tuple[Ceiling, ...]
    now: float
    seconds: float = 0.0
    words: tuple[Note | str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each framework on each kind of device; FLOP and bytes per second."""
        return [
            {
                "framework": each.framework,
                "device": each.device,
                **{f"{kind}_flop_per_s": rate for kind, rate in each.products.items()},
                "memory_bytes_per_s": each.bandwidth,
                "upload_bytes_per_s": each.upload,
                "download_bytes_per_s": each.download,
                "smallest_operation_s": each.latency,
            }
            for each in self.found
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Ceilings {len(self.found)} devices>"
