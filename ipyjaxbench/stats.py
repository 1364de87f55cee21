"""Pure functions of samples. Each cites its source.

Samples are seconds per call in the order in which they were taken.
"""

import itertools
import math
from collections.abc import Sequence

# Two-sided 95 % points of Student's t by degrees of freedom; beyond 30 the normal is near.
_T95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_Z95 = 1.96
_MAX_LAG = 40
_QUARTERS = 4
# What one run cannot see of the next one: measured on shared machines (tests/accuracy/sections/
# coverage.py), where figures of runs a minute apart differ by 1 to 5 %.
_BETWEEN_RUNS = 0.025
#: Samples below which a 95 % interval of a median has no ends among them.
FEWEST = 6
#: Samples below which 5 % of them are none.
FEW = 20


def quantile(samples: Sequence[float], p: float) -> float:
    """Return the ``p``-quantile by linear interpolation (Hyndman and Fan 1996, type 7).

    >>> quantile([4.0, 1.0, 2.0], 0.5)
    2.0
    """
    ordered = sorted(samples)
    position = p * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def median(samples: Sequence[float]) -> float:
    """Return the middle of the samples.

    >>> median([3.0, 1.0, 2.0, 10.0])
    2.5
    """
    return quantile(samples, 0.5)


def floor(samples: Sequence[float]) -> float:
    """Return what undisturbed code takes: the 5 % quantile, or the minimum below 20 samples.

    Noise only ever adds time, so the low end is the steadiest part of the distribution
    (Chen and Revels 2016, "Robust benchmarking in noisy environments").
    """
    return min(samples) if len(samples) < FEW else quantile(samples, 0.05)


def autocorrelation_time(samples: Sequence[float]) -> float:
    """Return how many neighbouring samples say the same thing: 1 when they are independent.

    1 + 2·Σρ(lag) of the ranks, up to the first ρ under 0.05, at most a sixth of the samples
    (the integrated autocorrelation time; Geyer 1992). Ranks, so that one outlier does not hide it.
    """
    n = len(samples)
    if n < 12:
        return 1.0
    ranks = _centred_ranks(samples)
    variance = math.fsum(r * r for r in ranks)
    if variance == 0:
        return 1.0
    tau = 1.0
    for lag in range(1, min(n // 4, _MAX_LAG)):
        rho = math.fsum(map(float.__mul__, ranks, ranks[lag:])) / variance
        if rho < 0.05:
            break
        tau += 2 * rho
    return min(tau, n / 6)


def _centred_ranks(samples: Sequence[float]) -> list[float]:
    """Return ranks around 0; equal samples, as of a coarse clock, share their mean rank."""
    ranks: dict[float, float] = {}
    start = 0
    for sample, group in itertools.groupby(sorted(samples)):
        count = len(list(group))
        ranks[sample] = start + (count - len(samples)) / 2
        start += count
    return [ranks[sample] for sample in samples]


def trend(samples: Sequence[float]) -> float:
    """Return how well later samples are larger: from -1 to 1, 0 without order (Spearman 1904).

    >>> round(trend([1.0, 2.0, 4.0, 3.0]), 3), trend([1.0, 1.0])
    (0.8, 0.0)
    """
    n = len(samples)
    ranks = _centred_ranks(samples)
    places = [index - (n - 1) / 2 for index in range(n)]
    spread = math.sqrt(math.fsum(r * r for r in ranks) * math.fsum(t * t for t in places))
    if spread == 0:
        return 0.0
    return math.fsum(r * t for r, t in zip(ranks, places, strict=True)) / spread


def _rank_half_width(samples: Sequence[float], centre: float) -> float:
    """Return the relative half width of the 95 % interval between order statistics.

    Ranks n/2 ± z·√(n·τ)/2 (Le Boudec, *Performance Evaluation*, 2.2; τ widens it for dependence).
    """
    n = len(samples)
    ordered = sorted(samples)
    reach = _Z95 * math.sqrt(n * autocorrelation_time(samples)) / 2
    low = ordered[max(math.floor(n / 2 - reach) - 1, 0)]
    high = ordered[min(math.ceil(n / 2 + reach), n - 1)]
    return (high - low) / 2 / centre


def _round_half_width(samples: Sequence[float], rounds: Sequence[int]) -> float:
    """Return the relative half width of 95 % t intervals over medians of rounds and quarters.

    Rounds see changes that are slower than a sample, quarters those that are slower than a round
    (Kalibera and Jones 2013).
    """
    ends = itertools.pairwise(itertools.accumulate(rounds, initial=0))
    logs = [math.log(median(samples[start:end])) for start, end in ends if start < end]
    if len(logs) < 2:
        return math.inf
    quarter = len(logs) // _QUARTERS
    if quarter < 2:
        return _t_half_width(logs)
    starts = range(0, _QUARTERS * quarter, quarter)
    quarters = [median(logs[first : first + quarter]) for first in starts]
    return max(_t_half_width(logs), _t_half_width(quarters))


def _t_half_width(logs: Sequence[float]) -> float:
    """Return half the width of the 95 % t interval of the mean (Student 1908)."""
    r = len(logs)
    mean = math.fsum(logs) / r
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in logs) / (r - 1))
    t = _T95[r - 2] if r - 2 < len(_T95) else _Z95
    return t * deviation / math.sqrt(r)


def half_width(samples: Sequence[float], rounds: Sequence[int]) -> float:
    """Return the relative half width of the interval of the median: the wider of two estimates.

    It is infinite for fewer than two samples or rounds; ``rounds`` are consecutive samples in each.

    Example:
        >>> half_width([1.0] * 10, [5, 5])
        0.0
    """
    if len(samples) < 2 or min(samples) <= 0:
        return math.inf
    return max(_rank_half_width(samples, median(samples)), _round_half_width(samples, rounds))


def repeatability(samples: Sequence[float], rounds: Sequence[int]) -> float:
    """Return the relative half width of an interval for what another such run will find.

    A machine's speed wanders on all scales of time, so that more samples narrow what is known of
    this run and not of the next one. A run is to this one as its parts are to each other: the
    95 % prediction interval of a further part (Hahn and Meeker 1991, 4.7), from quarters and from
    eighths, at least `half_width`, and beside it what differs between runs alone. It is infinite
    for fewer than `FEWEST` samples.

    Example:
        >>> repeatability([1.0] * 10, [5, 5])
        0.025
    """
    if len(samples) < FEWEST:
        return math.inf
    within = half_width(samples, rounds)
    for count in (4, 8):
        logs = [math.log(part) for part in parts(samples, count)] if math.isfinite(within) else []
        # Of the mean of n it is s·t/√n, of one more s·t·√(1 + 1/n).
        within = max(within, math.sqrt(count + 1) * _t_half_width(logs) if logs else 0.0)
    return math.hypot(within, _BETWEEN_RUNS)


def parts(samples: Sequence[float], count: int) -> list[float]:
    """Return the medians of ``count`` parts of the samples; none below two samples for each."""
    size = len(samples) // count
    starts = range(0, count * size, size) if size >= 2 else ()
    return [median(samples[start : start + size]) for start in starts]


def drift(samples: Sequence[float]) -> float:
    """Return how far samples moved from the first third to the last, as a share; 0 for noise.

    The logarithm of the ratio of the medians, where it is over 3 % and over three standard errors
    of itself (of medians: 1.25·s/√n, and s from the quartiles; n counts independent samples).
    """
    third = len(samples) // 3
    if third < 4 or min(samples) <= 0:
        return 0.0
    logs = [math.log(x) for x in samples]
    early, late = logs[:third], logs[-third:]
    moved = median(late) - median(early)
    own = autocorrelation_time([*early, *late])
    spread = max(quantile(part, 0.75) - quantile(part, 0.25) for part in (early, late)) / 1.35
    error = 1.25 * spread * math.sqrt(2 * own / third)
    return math.expm1(moved) if abs(moved) > max(0.03, 3 * error) else 0.0


def two_speeds(samples: Sequence[float]) -> tuple[float, float] | None:
    """Return the medians of two groups of samples with a gap between them; None without one.

    A gap of over 20 % with at least 15 % of the samples on either side.
    """
    ordered = sorted(samples)
    least = max(math.ceil(0.15 * len(ordered)), 3)
    splits = range(least, len(ordered) - least + 1)
    if not splits or ordered[0] <= 0:
        return None
    widest = max(splits, key=lambda i: ordered[i] / ordered[i - 1])
    if ordered[widest] <= 1.2 * ordered[widest - 1]:
        return None
    return median(ordered[:widest]), median(ordered[widest:])
