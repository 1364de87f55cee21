"""How two arms compare, from their interleaved samples: a ratio, its interval, one word.

Samples of one block were taken side by side, so that what slows the machine slows both, and the
logarithms of their ratios scatter less than the samples do.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from ipyjaxbench import stats, units

#: Logarithms of ratios: what is too small to matter, and what counts as the same.
ZONE, _SAME = math.log(1.01), math.log(1.03)
FEWEST = 20  # pairs: with fewer, code against itself is called different in one case of ten
# With 8 samples and more of two runs whose neighbours agree to 0.8, code against itself is called
# different in one case of 50 at most; with fewer there are no quarters, and it is in one of four.
_FEWEST_APART = 8
_WIDEST = 700.0  # a logarithm of about all that floating-point numbers reach
_LEVEL, _Z95 = 0.05, 1.96
_DRAWS, _VALUES = (1000, 10_000), 600_000  # resamples, and numbers in all of them together
_UNKNOWN = 100  # times the lower end: an interval that wide tells nothing
_DEPENDENT = 0.1  # autocorrelation of neighbours from which on blocks are drawn
_SEED = 20260101  # the same samples always give the same interval

EXPLAINED = {
    "FASTER": "by more than 1 %",
    "SLOWER": "by more than 1 %",
    "SAME": "within 3 %",
    "CAN'T TELL": "the interval is too wide for an answer",
}


@dataclass(frozen=True)
class Ratio:
    """How many times as long one arm takes as another.

    Attributes:
        value: of the middle pair; 2 is twice as long.
        low: lower end of its interval.
        high: upper end of it.
        pairs: how many pairs it is of.
        fewest: pairs below which it says nothing.
    """

    value: float
    low: float
    high: float
    pairs: int
    fewest: int = field(default=FEWEST, repr=False)

    @property
    def verdict(self) -> str:
        """One word of `EXPLAINED`."""
        low, high = math.log(self.low), math.log(self.high)
        if self.pairs < self.fewest:
            return "CAN'T TELL"
        if high < -ZONE:
            return "FASTER"
        if low > ZONE:
            return "SLOWER"
        return "SAME" if low > -_SAME and high < _SAME else "CAN'T TELL"

    def covers_one(self) -> bool:
        """Whether nothing speaks against the two being equal."""
        return self.low <= 1 <= self.high

    def words(self, more: int = 0) -> str:
        """The ratio, with so many decimals as its interval gives reason for, and some more."""
        return self._digits(self.value, more) if self._is_known else units.number(self.value, 1)

    def interval(self, more: int = 0) -> str:
        """The interval, with as many decimals as the ratio; ``[?]`` where nothing is known."""
        if not self._is_known:
            return "[?]"
        return f"[{self._digits(self.low, more)}, {self._digits(self.high, more)}]"

    @property
    def _is_known(self) -> bool:
        return self.high <= _UNKNOWN * self.low

    def _digits(self, value: float, more: int) -> str:
        """0.958, or 12; never nothing but zeros."""
        half = max((self.high - self.low) / 2, 1e-4 * self.value)
        decimals = -math.floor(math.log10(half)) + more
        decimals = max(decimals, -math.floor(math.log10(min(self.low, value))))
        return f"{value:.{min(max(decimals, 0), 9)}f}"

    def needed(self, spent: float) -> float:
        """Seconds of measuring in all after which there may be an answer.

        The interval narrows with the root of time, and has to clear 1 % or to fit into 3 %.

        Args:
            spent: seconds that were spent on these pairs.
        """
        centre = math.log(self.value)
        below, above = centre - math.log(self.low), math.log(self.high) - centre
        off = abs(centre)
        inward = below if centre > 0 else above  # the side on which 1 lies
        times = [inward / (off - ZONE)] if off > ZONE else []
        times += [max(below, above) / (_SAME - off)] if off < _SAME else []
        return max(spent * max(min(times), 1.0) ** 2, spent * FEWEST / self.pairs)


def log_ratios(base: Sequence[float], other: Sequence[float]) -> list[float]:
    """Logarithm of each pair's ratio; pairs in which a clock read 0 are left out."""
    pairs = zip(base, other, strict=False)  # an arm that failed has fewer
    return [math.log(theirs / ours) for ours, theirs in pairs if ours > 0 and theirs > 0]


def ratio(logs: Sequence[float], against: int = 1) -> Ratio | None:
    """The ratio in the middle, with a bootstrap interval.

    Percentiles of the medians of resampled pairs (Efron 1987), in circular blocks of n^(1/3)
    where neighbours depend on each other (Politis and Romano 1992). Of several comparisons with
    one baseline each gets its share of the 5 % in which an interval may miss (Bonferroni).

    Args:
        logs: logarithms of the pairs' ratios, in the order in which they were taken.
        against: how many comparisons are made together.

    Returns:
        The ratio; None without pairs.

    Example:
        >>> ratio([0.0] * 20)
        Ratio(value=1.0, low=1.0, high=1.0, pairs=20)
    """
    n = len(logs)
    if not n:
        return None
    block = round(n ** (1 / 3)) if _neighbours_agree(logs) else 1
    draws = min(max(_VALUES // n, _DRAWS[0]), _DRAWS[1])
    rng = random.Random(_SEED)
    medians = sorted(_resampled_median(logs, block, rng) for _ in range(draws))
    tail = _LEVEL / max(against, 1) / 2
    low, high = stats.quantile(medians, tail), stats.quantile(medians, 1 - tail)
    return Ratio(math.exp(stats.median(logs)), math.exp(low), math.exp(high), n)


def _resampled_median(logs: Sequence[float], block: int, rng: random.Random) -> float:
    n = len(logs)
    if block == 1:
        drawn = rng.choices(logs, k=n)
    else:
        starts = rng.choices(range(n), k=math.ceil(n / block))
        drawn = [logs[(start + i) % n] for start in starts for i in range(block)][:n]
    return stats.median(drawn)


def _neighbours_agree(logs: Sequence[float]) -> bool:
    n = len(logs)
    mean = math.fsum(logs) / n
    centred = [x - mean for x in logs]
    variance = math.fsum(x * x for x in centred)
    if n < 4 or variance == 0:
        return False
    return math.fsum(map(float.__mul__, centred, centred[1:])) > _DEPENDENT * variance


def against_itself(samples: Sequence[float]) -> Ratio | None:
    """The samples of one arm, every second one against the one before it: that should be 1."""
    return ratio(log_ratios(samples[:-1:2], samples[1::2]))


def floor(itself: Ratio) -> float:
    """The largest difference, as a logarithm, that code may show against itself.

    Args:
        itself: from `against_itself`.

    Returns:
        Half the width of the interval, or twice the difference where it does not cover 1.
    """
    half = (math.log(itself.high) - math.log(itself.low)) / 2
    return half if itself.covers_one() else max(half, 2 * abs(math.log(itself.value)))


def apart(
    base: tuple[float, float], other: tuple[float, float], pairs: int, among: int = 1
) -> Ratio:
    """The ratio of two figures that were not measured side by side: as sure as both together.

    Args:
        base: the median and its relative half width.
        other: the same.
        pairs: samples of the one that has fewer.
        among: how many such ratios are asked for together; each gets its share of the 5 % in
            which an interval may miss (Bonferroni).
    """
    wider = 1.0
    if among > 1:
        from statistics import NormalDist  # takes a while to import

        wider = NormalDist().inv_cdf(1 - _LEVEL / among / 2) / _Z95
    reach = min(wider * math.hypot(base[1], other[1]), _WIDEST)
    value = other[0] / base[0]
    return Ratio(value, value * math.exp(-reach), value * math.exp(reach), pairs, _FEWEST_APART)
