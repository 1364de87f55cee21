"""How two arms compare, from their interleaved samples: a ratio, its interval, one word.

Samples of one pass were taken side by side, so that what slows the machine slows both, and the
logarithms of their ratios scatter less than the samples do. Which of them is taken first is drawn
by lot: where two arms are the same code, each pair is as likely to be above 1 as below it, however
busy the machine is and however much a moment has of the one before. So ranks tell how sure a ratio
is, and nothing is assumed of how the noise is distributed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ipyjaxbench import stats, units

#: Logarithms of ratios: what is too small to matter, and what counts as the same.
ZONE, _SAME = math.log(1.01), math.log(1.03)
FEWEST = 20  # pairs: with fewer, code against itself is called different in one case of ten
# With 8 samples and more of two runs whose neighbours agree to 0.8, code against itself is called
# different in one case of 50 at most; with fewer there are no quarters, and it is in one of four.
_FEWEST_APART = 8
_WIDEST = 700.0  # a logarithm of about all that floating-point numbers reach
_LEVEL = 0.01  # in which an interval of pairs may miss: equal code is then called different
_APART, _Z95 = 0.05, 1.96
_UNKNOWN = 100  # times the lower end: an interval that wide tells nothing
_MORE = 1.5  # times: what did not suffice once will hardly suffice the next time
_DEPENDENT = 0.1  # autocorrelation of neighbours from which on they count less
_CLOSE = 0.1  # to 1: a third decimal is shown
_UNSURE_ALONE, _DOUBLE = math.log(1.2), math.log(2)
_EXACT = 500  # pairs up to which binomial probabilities are added up

EXPLAINED = {
    "FASTER": "by more than 1 %",
    "SLOWER": "by more than 1 %",
    "SAME": "within 3 %",
    "CAN'T TELL": "the interval is too wide for an answer",
}


@dataclass(frozen=True)
class Ratio:
    """How many times as long one arm takes as another."""

    value: float  # of the middle pair; 2 is twice as long
    low: float  # lower end of its interval
    high: float  # upper end of it
    pairs: int  # how many pairs it is of
    fewest: int = field(default=FEWEST, repr=False)  # pairs below which it says nothing
    # of the interval; None where low and high are the ends of all pairs, which are too few for one
    coverage: float | None = field(default=1 - _LEVEL, repr=False)

    @property
    def verdict(self) -> str:
        """One word of `EXPLAINED`."""
        low, high = math.log(self.low), math.log(self.high)
        if self.pairs < self.fewest or self.coverage is None:
            return "CAN'T TELL"
        if high < -ZONE:
            return "FASTER"
        if low > ZONE:
            return "SLOWER"
        return "SAME" if low > -_SAME and high < _SAME else "CAN'T TELL"

    def verdict_above(self, floor: float) -> str:
        """Return its verdict where code against itself may differ by ``floor``, a logarithm."""
        is_hidden = self.verdict != "SAME" and abs(math.log(self.value)) < floor
        return "CAN'T TELL" if is_hidden else self.verdict

    def covers_one(self) -> bool:
        """Whether nothing speaks against the two being equal."""
        return self.coverage is None or self.low <= 1 <= self.high

    def words(self, more: int = 0) -> str:
        """Return the ratio with as many decimals as its interval justifies, and some more."""
        return self._digits(self.value, more) if self.is_known else units.number(self.value, 1)

    def interval(self, more: int = 0) -> str:
        """Return the interval with as many decimals as the ratio; ``[?]`` where unknown."""
        if not self.is_known:
            return "[?]"
        return f"[{self._digits(self.low, more)}, {self._digits(self.high, more)}]"

    @property
    def inverse(self) -> "Ratio":
        """The ratio the other way round: how many times as long the other one takes."""
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low)

    def factor(self) -> str:
        """Return the ratio as people say it: three digits at most, fewer where it is not sure.

        Example:
            >>> Ratio(3.751, 3.66, 3.83, 20).factor(), Ratio(1.0434, 1.04, 1.05, 20).factor()
            ('3.8×', '1.04×')
        """
        return f"{self._short(self.value)}×"

    def span(self) -> str:
        """Return its interval with as many digits; "" where that says no more than the factor.

        Example:
            >>> Ratio(3.751, 3.66, 3.83, 20).span(), Ratio(7.1, 2.4, 14.3, 20).span()
            ('3.7–3.8×', '2–14×')
            >>> Ratio(2.02, 1.21, 2.93, 20).span()
            '1.2–2.9×'
        """
        if not self.is_known:
            return ""
        low, high = self._short(self.low), self._short(self.high)
        return "" if low == high else f"{low}–{high}×"

    def kind(self) -> str:
        """Return what its interval is.

        Example:
            >>> ratio([0.0] * 20).kind(), ratio([0.0] * 3).kind()
            ('99 % CI', 'range of 3 pairs')
        """
        if self.coverage is None:
            return f"range of {units.count(self.pairs, 'pair')}"
        return f"{100 * self.coverage:.0f} % CI"

    def sure(self) -> str:
        """Return its interval with what it is; "" where that says no more than the factor."""
        span = self.span()
        return f"{self.kind()} {span}" if span else ""

    def versus(self, other: str) -> str:
        """Return what it says of this arm beside another one, as people say it.

        Example:
            >>> Ratio(0.266, 0.26, 0.27, 40).versus("eager")
            '3.8× faster than eager (99 % CI 3.7–3.8×)'
            >>> Ratio(1.0, 0.98, 1.02, 40).versus("eager")
            'as fast as eager (within 3 %)'
        """
        if self.verdict == "SAME":
            return f"as fast as {other} (within 3 %)"
        if self.verdict == "CAN'T TELL":
            known = f" ({self.sure() or self.factor()})" if self.is_known else ""
            return f"no clear difference from {other}{known}"
        way, shown = ("faster", self.inverse) if self.verdict == "FASTER" else ("slower", self)
        between = f" ({shown.sure()})" if shown.span() else ""
        return f"{shown.factor()} {way} than {other}{between}"

    def _short(self, value: float) -> str:
        wide = self.high - self.low if self.is_known else self.value
        most = 3 if abs(self.value - 1) < _CLOSE else 2 - math.floor(math.log10(value))
        decimals = min(math.ceil(-math.log10(wide)) if wide > 0 else most, most)
        least = self.low if self.is_known else value
        decimals = max(decimals, -math.floor(math.log10(least)), 0)
        # No end beside 1 reads as 1: whether it is beyond is the answer.
        ends = (self.low, self.high) if self.is_known else ()
        while decimals < most and any(end != 1 and round(end, decimals) == 1 for end in ends):
            decimals += 1
        return f"{value:.{decimals}f}"

    @property
    def is_known(self) -> bool:
        """Whether its interval says anything."""
        return self.high <= _UNKNOWN * self.low

    def _digits(self, value: float, more: int) -> str:
        """Return 0.958, or 12; never nothing but zeros."""
        half = max((self.high - self.low) / 2, 1e-4 * self.value)
        decimals = -math.floor(math.log10(half)) + more
        decimals = max(decimals, -math.floor(math.log10(min(self.low, value))))
        return f"{value:.{min(max(decimals, 0), 9)}f}"

    def needed(self, spent: float, floor: float = 0.0) -> float:
        """Return the seconds of measuring, in all, after which there may be an answer.

        The interval narrows with the root of time, and has to clear 1 % or to fit into 3 %. So
        does what code shows against itself, ``floor``, which has to fall below the difference.
        ``spent`` are the seconds that these pairs took.
        """
        centre = math.log(self.value)
        below, above = centre - math.log(self.low), math.log(self.high) - centre
        off = abs(centre)
        inward = below if centre > 0 else above  # the side on which 1 lies
        times = [max(inward / (off - ZONE), floor / off)] if off > ZONE else []
        times += [max(below, above) / (_SAME - off)] if off < _SAME else []
        return max(spent * max(min(times) ** 2, _MORE), spent * FEWEST / self.pairs)


def log_ratios(base: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the logarithm of each pair's ratio, but of those in which a clock read 0."""
    pairs = zip(base, other, strict=False)  # an arm that failed has fewer
    return [math.log(theirs / ours) for ours, theirs in pairs if ours > 0 and theirs > 0]


def ratio(logs: Sequence[float], against: int = 1, level: float = _LEVEL) -> Ratio | None:
    """Return the middle ratio with the interval of the sign test (Hodges and Lehmann's ranks).

    Where neighbours lie on the same side of the middle more often than by chance, as many pairs
    are counted as would tell as much if they were independent. Of several comparisons with one
    baseline each gets its share of the level (Bonferroni). Where even all pairs together miss in
    more cases than that, as 7 do, there is no interval: it has the range of all, no ``coverage``.
    The ``logs`` are those of the pairs' ratios, in the order in which they were taken; the
    interval may miss in ``level`` of cases.

    Example:
        >>> ratio([0.0] * 20)
        Ratio(value=1.0, low=1.0, high=1.0, pairs=20)
    """
    n = len(logs)
    if not n:
        return None
    ordered, middle = sorted(logs), stats.median(logs)
    alike = _neighbours_agree([x - middle for x in logs])
    telling = max(round(n * (1 - alike) / (1 + alike)), 1)
    beyond = max(_rank(telling, level / against), 0) * n // telling
    low, high = ordered[beyond], ordered[n - 1 - beyond]
    coverage = None if _rank(n, level / against) < 0 else 1 - level
    return Ratio(math.exp(middle), math.exp(low), math.exp(high), n, coverage=coverage)


def _rank(n: int, level: float) -> int:
    """Return how many of n values may lie beyond each end of an interval of their median.

    It is -1 where an interval from the least to the largest misses in more cases than ``level``.
    """
    if n > _EXACT:
        from statistics import NormalDist  # takes a while to import

        return int(n / 2 + NormalDist().inv_cdf(level / 2) * math.sqrt(n) / 2 - 1)
    allowed, rank, missed = level / 2 * 2**n, -1, 1
    while missed <= allowed:
        rank += 1
        missed += math.comb(n, rank + 1)
    return rank


def _neighbours_agree(off: Sequence[float]) -> float:
    """Return how much more often than by chance neighbours lie on one side of 0; from 0 to 1."""
    sides = [math.copysign(1, x) for x in off if x]
    if len(sides) < 4:
        return 0.0
    alike = math.fsum(map(float.__mul__, sides, sides[1:])) / (len(sides) - 1)
    return alike if alike > _DEPENDENT else 0.0


def against_itself(samples: Sequence[float]) -> Ratio | None:
    """Return the ratio of every second sample to the one before it, which should be 1."""
    return ratio(log_ratios(samples[:-1:2], samples[1::2]), level=_APART)


def floor(itself: Ratio) -> float:
    """Return the largest difference, as a logarithm, that code may show `against_itself`.

    It is half the width of the interval, or twice the difference where that does not cover 1.
    """
    half = (math.log(itself.high) - math.log(itself.low)) / 2
    return half if itself.covers_one() else max(half, 2 * abs(math.log(itself.value)))


def contradicts(alone: float, interleaved: Ratio) -> bool:
    """Return whether code that is measured alone gives another answer than interleaved code.

    It does where the ratio of times alone lies outside of the interval, and either on the other
    side of 1 or more than twice as far. Alone there are few samples, so that less than a fifth
    may be noise. Too few pairs say nothing that could be contradicted.

    Example:
        >>> contradicts(0.9, Ratio(0.05, 0.04, 0.06, 40)), contradicts(1.1, Ratio(0.9, 0.8, 1, 40))
        (True, True)
        >>> contradicts(0.4, Ratio(0.5, 0.45, 0.55, 40))
        False
    """
    if interleaved.pairs < interleaved.fewest or interleaved.low <= alone <= interleaved.high:
        return False
    off, other = math.log(alone), math.log(interleaved.value)
    turned = off * other < 0 or abs(off) < ZONE < abs(other)
    return abs(off - other) > (_UNSURE_ALONE if turned else _DOUBLE)


def unpaired(
    base: tuple[float, float], other: tuple[float, float], pairs: int, among: int = 1
) -> Ratio:
    """Return the ratio of figures that were not measured side by side: as sure as both together.

    ``base`` and ``other`` are medians with their relative half widths, ``pairs`` the samples of the
    one that has fewer. Of ``among`` ratios that are asked for together each gets its share of the
    5 % in which an interval may miss (Bonferroni).
    """
    wider = 1.0
    if among > 1:
        from statistics import NormalDist  # takes a while to import

        wider = NormalDist().inv_cdf(1 - _APART / among / 2) / _Z95
    reach = min(wider * math.hypot(base[1], other[1]), _WIDEST)
    value = other[0] / base[0]
    low, high = value * math.exp(-reach), value * math.exp(reach)
    return Ratio(value, low, high, pairs, _FEWEST_APART, 1 - _APART)
