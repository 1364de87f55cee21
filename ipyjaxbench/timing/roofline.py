"""How near a call comes to what its device can do at most."""

from dataclasses import dataclass
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.record_types import PositiveFloat


@dataclass(frozen=True)
class Roofline:
    """The ceiling that binds a call, and how much of it is reached."""

    of: str  # "matmul peak" or "memory bandwidth"
    speed: PositiveFloat  # FLOP or bytes in a second that the call does, as it is written
    ceiling: PositiveFloat  # that the device does at most, as it was measured

    def words(self) -> str:
        """Return the row of a report.

        Example:
            >>> Roofline("matmul peak", 310e9, 500e9).words()
            "62 % of this device's measured matmul peak (310 of 500 GFLOP/s)"
        """
        rate = partial(units.flops, per="/s") if self.of == "matmul peak" else units.bandwidth
        speed, ceiling = rate(self.speed), rate(self.ceiling)
        number, unit = speed.split()
        same = ceiling.endswith(f" {unit}")
        both = f"{number if same else speed} of {ceiling}"
        return f"{self.share:.0%} of this device's measured {self.of} ({both})".replace("%", " %")

    @property
    def share(self) -> float:
        """The part of the ceiling that is reached."""
        return self.speed / self.ceiling
