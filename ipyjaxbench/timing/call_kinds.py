"""Calls of the same code that do different work, told from noise by the CPU time that they take.

Other programs make a call wait: it takes longer, and no more CPU time. A call that does more takes
more of both. Threads that spin while they wait, and caches that others share, can double the CPU
time of the same work, smoothly; so a gap of three times is asked for.
"""

import math
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ipyjaxbench import stats
from ipyjaxbench.timing.call_times import Sample

_CPU_TIME_RATIO = 3.0  # times as much CPU time
_TIME_RATIO = 1.5  # times as long, too
_MEAN_SHARE = 0.1  # by which the mean of all is over that of the fast ones
_ASKING_NS = 10_000  # of CPU time apart: less is what asking for it costs
_MIN_SAMPLES = 3  # samples, and so many that do more
_CALLS_OF_EACH_KIND = 20  # of each kind in a sample
_MIN_MERGED = 8  # are left at least, where each then holds some of both kinds
_MIN_SLOW_CALLS = 2


class Kinds(NamedTuple):
    """Two kinds of samples."""

    fast: float  # nanoseconds of a call of the one kind
    slow: float  # nanoseconds of a call of the other kind
    share: float  # of samples that are slow

    @property
    def samples_with_both(self) -> int:
        """How many samples hold enough calls of both kinds."""
        return math.ceil(_CALLS_OF_EACH_KIND / min(self.share, 1 - self.share))

    @property
    def samples_with_slow(self) -> int:
        """How many samples hold some slow calls, whatever time that takes."""
        return math.ceil(_MIN_SLOW_CALLS / self.share)


def find_kinds(samples: Sequence[Sample]) -> Kinds | None:
    """Return the kinds of calls among samples; None where all do the same work, as far as known."""
    count = len(samples)
    if count < _MIN_SAMPLES:
        return None
    # Some is spent around a sample; what is spent in it, no more than all CPUs can do meanwhile.
    cpus = os.cpu_count() or 1
    costs = sorted((min(s.spent, cpus * s.ns) / s.calls, s.ns / s.calls) for s in samples)
    floor = _ASKING_NS / max(sample.calls for sample in samples)
    gaps = [(more + floor) / (less + floor) for (less, _), (more, _) in pairwise(costs)]
    # The fastest figure is of those that do less only where they are among the fastest 5 %.
    first = math.floor(0.05 * (count - 1)) + 1
    splits = range(first, count - min(_MIN_SAMPLES, count // 3) + 1)
    split = max(splits, key=lambda i: gaps[i - 1])
    fast, slow = (stats.median([ns for _, ns in part]) for part in (costs[:split], costs[split:]))
    share = 1 - split / count
    if (
        gaps[split - 1] < _CPU_TIME_RATIO
        or slow < _TIME_RATIO * fast
        or share * (slow - fast) < _MEAN_SHARE * fast
    ):
        return None
    return Kinds(fast, slow, share)


def merge_neighbours(samples: Sequence[Sample], kinds: Kinds) -> list[Sample]:
    """Join neighbours, so that each sample holds enough calls of both kinds."""
    wanted, count = kinds.samples_with_both, len(samples)
    most = max(count // _MIN_MERGED, wanted * _MIN_SLOW_CALLS // _CALLS_OF_EACH_KIND)
    groups = count // min(wanted, most, count)
    ends = [index * count // groups for index in range(groups + 1)]
    return [join_samples(samples[start:end]) for start, end in pairwise(ends)]


def join_samples(parts: Sequence[Sample]) -> Sample:
    """Return several samples as one."""
    calls, ns, spent, compiled = zip(*parts, strict=True) if parts else ((), (), (), ())
    return Sample(sum(calls), sum(ns), sum(spent), compiled=any(compiled))
