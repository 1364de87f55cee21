"""What is left of a measurement without its samples, to hold another one against it."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ipyjaxbench import ratios
from ipyjaxbench.graphs import ProgramComparison
from ipyjaxbench.ratios import Ratio
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt
from ipyjaxbench.timing.estimate import Estimate, predict
from ipyjaxbench.timing.verdict import NO_FIGURE


@dataclass(frozen=True)
class Figure:
    """A median with how sure it is, and what leads."""

    median: NonNegativeFloat  # seconds per call
    # of its interval for another run, relative to it; None where not known
    half_width: NonNegativeFloat | None
    samples: NonNegativeInt  # that it is the median of; 0 where there was one call only
    verdict: str  # on the measurement
    # what its report leads with; None where an earlier version did not keep that
    leads: Estimate | Literal["median"] | None = None

    @property
    def headline(self) -> Estimate:
        """What is said of the run wherever it is shown: the figure of its report."""
        return self.leads if isinstance(self.leads, Estimate) else self.estimate

    @property
    def estimate(self) -> Estimate:
        """The median with its interval for another run: what two runs are held against by."""
        return predict(self.median, self.half_width, self.samples)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the median of another such run will be; (0, inf) where that is not known."""
        found = self.estimate
        return found.ends if found.is_known else (0.0, math.inf)


_MAX_RATIO = 1e12  # more is no change of code but a damaged record


@dataclass(frozen=True)
class Change:
    """One figure held against another that was measured at another time.

    A difference counts by the rule of ``%fwcompare before after``: the interval of the ratio,
    which is as wide as those of both figures together, lies beyond 1 % on one side.
    """

    base: Figure  # the figure of before
    now: Figure  # the one that is held against it
    among: int = 1  # how many are asked together; an interval may miss in 5 % of them all

    @cached_property
    def ratio(self) -> Ratio | None:
        """How many times as long it takes now; None where one of them has no figure."""
        both = (self.base, self.now)
        if any(each.half_width is None or each.median <= 0 for each in both):
            return None
        first, second = ((each.median, each.half_width or 0.0) for each in both)
        pairs = min(each.samples for each in both)
        found = ratios.unpaired(first, second, pairs, self.among)
        is_possible = found.low > 1 / _MAX_RATIO and found.high < _MAX_RATIO
        return found if is_possible else None

    @property
    def shows_others(self) -> bool:
        """Whether a run is shown by another statistic than the median, which the ratio is of."""
        return any(each.headline.statistic != "median" for each in (self.base, self.now))

    @property
    def verdict(self) -> str:
        """FASTER, SLOWER, SAME or CAN'T TELL; INVALID or ONCE where it has no figure now."""
        if self.now.verdict in NO_FIGURE:
            return self.now.verdict
        if self.ratio is None or self.base.verdict in NO_FIGURE:
            return "CAN'T TELL"
        return self.ratio.verdict


@dataclass(frozen=True)
class Against:
    """A measurement that was kept, to hold the new one against."""

    name: str  # what was asked for: a name, "last" or "best"
    base: Figure | None = None  # what it found; None where nothing is kept yet
    age: float | None = None  # seconds since then; None where it was kept in this session
    differs: tuple[str, ...] = ()  # what is not the same now, in words
    picoseconds: tuple[NonNegativeInt, ...] = ()  # its samples, per call; evenly taken of many
    programs: tuple[ProgramComparison, ...] = ()  # its compiled programs, and those of now
    programs_unknown: str = ""  # why they are not compared, in words; empty where they are
