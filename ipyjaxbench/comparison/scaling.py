"""How the time of arms changes with the number of engines that run them: speed-up, efficiency."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ipyjaxbench import ratios
from ipyjaxbench.ratios import Ratio
from ipyjaxbench.timing import Measurement

Kind = Literal["strong", "weak"]
KINDS: tuple[Kind, ...] = ("strong", "weak")


@dataclass(frozen=True)
class Scaling:
    """What a sweep over numbers of engines is of.

    Attributes:
        kinds: for each arm, "strong" if its work is divided among the engines, "weak" if each
            engine does all of it.
        job: the framework in whose job the engines are ranks; "" if each runs by itself.
        reads: labels of arms whose code reads the number of engines.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    job: str = ""
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scaled:
    """An arm on one number of engines, against the smallest number of its sweep.

    Attributes:
        engines: how many.
        measured: by the slowest of them.
        speedup: how many times as much work is done per second, with its 95 % interval.
        ideal: what that would be if nothing were lost.
    """

    engines: int
    measured: Measurement
    speedup: Ratio
    ideal: float

    @property
    def efficiency(self) -> float:
        """The share of the ideal speed-up that is reached; 1 is all of it."""
        return self.speedup.value / self.ideal

    @property
    def efficiency_ends(self) -> tuple[float, float]:
        """Between which shares `efficiency` is."""
        return self.speedup.low / self.ideal, self.speedup.high / self.ideal

    def may_be_ideal(self) -> bool:
        """Return whether nothing speaks against an efficiency of 1."""
        low, high = self.efficiency_ends
        return low <= 1 <= high


def scale(measured: Sequence[tuple[int, Measurement]], kind: Kind) -> list[Scaled]:
    """Return what numbers of engines bring, the smallest first.

    With T(n) the median on n engines and b the smallest number, the speed-up is T(b)/T(n) in
    strong scaling and n·T(b)/(b·T(n)) in weak scaling; the efficiency is b/n of it.

    Args:
        measured: numbers of engines, with the measurement of the slowest.
        kind: "strong" or "weak".
    """
    known = sorted((each for each in measured if each[1].median > 0), key=lambda each: each[0])
    found: list[Scaled] = []
    for engines, m in known:
        least, base = known[0]
        ideal = engines / least
        work = ideal if kind == "weak" else 1.0
        speedup = Ratio(1.0, 1.0, 1.0, len(m.samples))
        if found:
            speedup = _compare(m, base, among=len(known) - 1)
        more = {end: getattr(speedup, end) * work for end in ("value", "low", "high")}
        found.append(Scaled(engines, m, replace(speedup, **more), ideal))
    return found


def _compare(m: Measurement, base: Measurement, among: int) -> Ratio:
    """Return how many times as long as a measurement the first one took."""
    own, first = ((each.median, each.half_width) for each in (m, base))
    return ratios.unpaired(own, first, min(len(m.samples), len(base.samples)), among)
