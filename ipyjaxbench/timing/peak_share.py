"""Which share of a device's peak a call reaches, and what its maker states beside it."""

from dataclasses import dataclass
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.record_types import NonNegativeFloat, PositiveFloat


@dataclass(frozen=True)
class Roofline:
    """The measured peak of the device that limits a call, and how much of it is reached.

    Of several devices, all figures are those of one: each does its share of the work.
    """

    of: str  # "matmul peak" or "memory bandwidth"
    speed: PositiveFloat  # FLOP or bytes in a second that the call does, as it is written
    ceiling: PositiveFloat  # the peak of it: what the device was measured to do at most
    # FLOP for each byte that is read or written; None where one of both is not known
    intensity: PositiveFloat | None = None
    peak: PositiveFloat | None = None  # FLOP in a second that the device does at most
    bandwidth: PositiveFloat | None = None  # bytes in a second that it moves at most
    rated: PositiveFloat | None = None  # what the chip's maker states instead of the ceiling
    chip: str = ""  # whose figure that is, with the dtype, such as "H100 bfloat16"
    recomputed: NonNegativeFloat = 0.0  # FLOP of ``speed`` that were done before
    mfu: PositiveFloat | None = None  # share of ``rated`` without them; None where there are none
    devices: int = 1  # that divide the work

    def words(self) -> str:
        """Return the row of a report.

        Where results are recomputed to save memory, hardware FLOP utilization (HFU) counts that,
        and model FLOP utilization (MFU) does not (Chowdhery et al.: PaLM, appendix B, 2022).

        Example:
            >>> Roofline("matmul peak", 310e9, 500e9).words()
            "compute-bound, 62 % of this device's peak (310 of 500 GFLOP/s)"
        """
        computes = self.of == "matmul peak"
        rate = partial(units.flops, per="/s") if computes else units.bandwidth
        speed, peak = rate(self.speed), rate(self.ceiling)
        number, unit = speed.split()
        same = peak.endswith(f" {unit}")
        both = f"{number if same else speed} of {peak}"
        if self.recomputed:
            both += f", {rate(self.recomputed)} of it recomputed"
        bound = "compute-bound" if computes else "memory-bound"
        whose = "this device's peak" if self.devices == 1 else f"the peak of {self.devices} devices"
        both += ", on each" if self.devices > 1 else ""
        found = f"{bound}, {100 * self.share:.0f} % of {whose} ({both})"
        if self.rated is None:
            return found
        dense = ", dense" if computes else ""
        share = f"{100 * self.speed / self.rated:.0f} %"
        if self.mfu is not None:
            share = f"HFU {share}, MFU {100 * self.mfu:.0f} %"
        return f"{found}; {share} of the datasheet's ({self.chip}: {rate(self.rated)}{dense})"

    @property
    def share(self) -> float:
        """The share of the peak that is reached."""
        return self.speed / self.ceiling
