"""A statistic of samples with its interval, which says what it is an interval of.

There are two kinds. A prediction interval says what another run will read, and is shown as ``±``
or with the word "rerun". Percentiles say how the samples of this run scatter, and are shown with
"(5–95 %)", or "(min–max)" where there are too few samples for that.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ipyjaxbench import stats, units
from ipyjaxbench.record_types import NonNegativeFloat

#: Names what stands in a column of `Estimate.cell` of medians.
MEDIAN_AND_RERUN = "median ± rerun"
_NO_COMMON_NAME = "time"  # of a column in which each cell names its own
_SYMMETRIC = 0.1  # half width up to which both ends are as far from the value, to two digits

Statistic = Literal["median", "5th percentile", "minimum", "one sample", "first call"]


@dataclass(frozen=True)
class Estimate:
    """A statistic, in seconds, and an interval.

    Attributes:
        value: the statistic.
        low: the lower end of the interval; None if it is unknown.
        high: the upper end of it; None if it is unknown.
        statistic: which one; that of a single time says what was timed.
        of: "rerun" for a prediction interval of the statistic of another run; "samples" for
            percentiles of the samples of this run.
        coverage: the share that it is to contain: of other runs, or of the samples.
    """

    value: NonNegativeFloat
    low: NonNegativeFloat | None
    high: NonNegativeFloat | None
    statistic: Statistic = "median"
    of: Literal["rerun", "samples"] = "rerun"
    coverage: NonNegativeFloat = 0.95

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, as pictures draw them; the value twice if they are unknown."""
        if self.low is None or self.high is None:
            return self.value, self.value
        return self.low, self.high

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None and self.high is not None

    @property
    def name(self) -> str:
        """What it is, as the head of a column says it: the statistic and the kind of interval."""
        if self.statistic == "median":
            return MEDIAN_AND_RERUN
        return f"{self.statistic} ({self._range})" if self.of == "samples" else self.statistic

    def apart(self, digits: int = 3) -> tuple[str, str]:
        """Return the figure that a report leads with, and what that is, for two places.

        Example:
            >>> predict(0.00212, 0.013).apart(), predict(0.00212, 0.5).apart()
            (('2.12 ms ± 1.3 %', 'median ± rerun'), ('2.12 ms', 'median, rerun 1.4–3.2 ms'))
        """
        if self.has_plus_minus():
            return self.cell(digits), self.name
        span = self.span() if self.statistic == "median" else ""
        return units.duration(self.value, digits), ", ".join(filter(None, (self.statistic, span)))

    def has_plus_minus(self) -> bool:
        """Whether ``±`` says the same as the two ends do."""
        return self.is_known and self.of == "rerun" and round(self._half_width, 9) <= _SYMMETRIC

    def span(self, digits: int = 2) -> str:
        """Return the interval with the words for what it is; "" if it is unknown.

        Example:
            >>> predict(0.00212, 0.5).span(), spread([0.0012] * 10 + [0.0014] * 10).span()
            ('rerun 1.4–3.2 ms', '1.2–1.4 ms (5–95 %)')
        """
        if not self.is_known:
            return ""
        ends = units.span(*self.ends, digits)
        if self.of == "rerun":
            return f"rerun {ends}"
        return f"{ends} ({self._range})"

    @property
    def _range(self) -> str:
        """What the interval of samples reaches from and to."""
        return "min–max" if self.coverage == 1 else "5–95 %"

    def words(self, digits: int = 3) -> str:
        """Return a median with its interval, and another statistic with its name.

        Example:
            >>> predict(0.00212, 0.013).words(), predict(0.00212, 0.5).words()
            ('2.12 ms ± 1.3 %', '2.12 ms (rerun 1.4–3.2 ms)')
            >>> low_end(spread([0.0012] * 10 + [0.0014] * 10)).words()
            '1.20 ms (5th percentile)'
        """
        shown = units.duration(self.value, digits)
        if self.statistic != "median":
            return f"{shown} ({self.statistic})"
        if self.has_plus_minus() or not self.is_known:
            return self.cell(digits)
        return f"{shown} ({self.span()})"

    def cell(self, digits: int = 3, head: str = "") -> str:
        """Return the same for a table whose ``head`` is the `name`, as it is if none is given.

        Under another head it says which statistic it is.

        Example:
            >>> predict(0.00212, 0.5).cell(), predict(0.00212, None).cell()
            ('2.12 ms (1.4–3.2 ms)', '2.12 ms')
        """
        if head and head != self.name:
            return self.words(digits)
        shown = units.duration(self.value, digits)
        if not self.is_known:
            return shown
        if self.has_plus_minus():
            return f"{shown} ± {units.percent(self._half_width)}"
        return f"{shown} ({units.span(*self.ends)})"

    @property
    def _half_width(self) -> float:
        return self.ends[1] / self.value - 1 if self.value else 0.0


def name_column(estimates: Iterable[Estimate]) -> str:
    """Return the head of a column of estimates: what those are whose `Estimate.cell` names none."""
    # A first call has a column of its own.
    names = {each.name for each in estimates if each.statistic != "first call"}
    if MEDIAN_AND_RERUN in names or not names:
        return MEDIAN_AND_RERUN
    return names.pop() if len(names) == 1 else _NO_COMMON_NAME


def predict(median: float, half_width: float | None, samples: int = stats.FEWEST) -> Estimate:
    """Return a median with the interval for what another run will read.

    ``half_width`` is relative, and that of logarithms: 0.5 is from 2/3 to 3/2 of the median. The
    interval is unknown if that is None or infinite, and for too few ``samples``. One sample, or
    none beside the first call, is no median and is named as what it is.
    """
    if samples < 2:
        return Estimate(median, None, None, "one sample" if samples else "first call")
    if half_width is None or samples < stats.FEWEST or not math.isfinite(half_width):
        return Estimate(median, None, None)
    high = median * (1 + half_width)
    if math.isinf(high):  # of a forged record
        return Estimate(median, None, None)
    return Estimate(median, median / (1 + half_width), high)


def spread(samples: Sequence[float]) -> Estimate:
    """Return the median of samples, and between which times they lie: all, or 5 to 95 % of many."""
    middle = stats.median(samples)
    if len(samples) < stats.FEW:
        return Estimate(middle, min(samples), max(samples), of="samples", coverage=1.0)
    low, high = (stats.quantile(samples, p) for p in (0.05, 0.95))
    return Estimate(middle, low, high, of="samples", coverage=0.9)


def low_end(samples: Estimate) -> Estimate:
    """Return the low end of `spread` as the statistic, which is `stats.floor`, with the same ends.

    Of ends that were not kept the value is the low one.
    """
    statistic: Statistic = "minimum" if samples.coverage == 1 else "5th percentile"
    return replace(samples, value=samples.ends[0], statistic=statistic)
