"""Which collectives a call makes, with their bytes, and how near to the network's peak they are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ipyjaxbench import stats, units
from ipyjaxbench.cluster.collectives import is_collective
from ipyjaxbench.cluster.network_peaks import NetworkPeaks
from ipyjaxbench.record_types import NonNegativeInt, PositiveFloat, PositiveInt
from ipyjaxbench.timing import Interval, union

_MAX_OVERLAP = 0.02  # of the time in collectives: with more, each has only a part of the network


@dataclass(frozen=True)
class Exchange:
    """Collectives of one kind and size that each call makes.

    Attributes:
        kind: as XLA calls it, such as "all-reduce".
        count: how many each call makes.
        nbytes: of each, as nccl-tests counts it.
        alone: whether all ranks take part, and none runs beside another.
        at_peak: seconds that each takes at the network's measured peak; None if unknown.
    """

    kind: str
    count: PositiveInt
    nbytes: NonNegativeInt
    alone: bool = False
    at_peak: PositiveFloat | None = None


def count_exchanges(intervals: Sequence[Interval], calls: int) -> tuple[Exchange, ...]:
    """Return what each call exchanges, that with most bytes first; empty where not all is known.

    Example:
        >>> from ipyjaxbench.timing import Exchanged
        >>> reduce = Exchanged("all-reduce", 4096, True)
        >>> times = [Interval("all-reduce.1", n, n + 1, "cpu:0", "", reduce) for n in (1, 3)]
        >>> count_exchanges(times, 2)
        (Exchange(kind='all-reduce', count=1, nbytes=4096, alone=True, at_peak=None),)
    """
    found = [each for each in intervals if is_collective(each)]
    known = [each.exchanged for each in found if each.exchanged is not None]
    devices = {each.device for each in found}
    times = Counter(known)
    if len(known) < len(found) or any(n % (calls * len(devices)) for n in times.values()):
        return ()
    alone = all(_one_by_one([i for i in found if i.device == device]) for device in devices)
    exchanges = [
        Exchange(each.kind, number // (calls * len(devices)), each.nbytes, alone and each.of_all)
        for each, number in times.items()
    ]
    return tuple(sorted(exchanges, key=lambda each: (-each.nbytes * each.count, each.kind)))


def _one_by_one(intervals: Iterable[Interval]) -> bool:
    times = [*intervals]
    return union(times) >= (1 - _MAX_OVERLAP) * sum(each.end - each.start for each in times)


def add_peaks(exchanges: Sequence[Exchange], peaks: NetworkPeaks | None) -> tuple[Exchange, ...]:
    """Return the same with the time that each takes at a network's peak, where that is known."""
    return tuple(
        replace(each, at_peak=peaks.time_of(each.kind, each.nbytes))
        if peaks is not None and each.alone
        else each
        for each in exchanges
    )


def peak_share(
    exchanges: Sequence[Exchange], collectives: Sequence[Sequence[float]]
) -> float | None:
    """Return which part of the network's peak a call's collectives reach; None if unknown.

    Args:
        exchanges: those of one call.
        collectives: for each rank, the seconds in collectives of each call. In a call, the rank
            with the least waits for no other.

    Returns:
        Seconds that they take at the peak, over those that they took, 0 to 1; None also where
        they were faster than what was measured as the peak.
    """
    known = [each.count * each.at_peak for each in exchanges if each.at_peak is not None]
    calls = [min(call) for call in zip(*collectives, strict=False)]
    if not known or len(known) < len(exchanges) or not calls:
        return None
    taken = stats.median(calls)
    return sum(known) / taken if sum(known) <= taken else None


def describe(exchanges: Sequence[Exchange]) -> str:
    """Return a call's exchanges in words, kinds with their bytes together.

    Example:
        >>> describe([Exchange("all-reduce", 2, 2048), Exchange("all-reduce", 1, 1024)])
        '3 all-reduce 5.00 KiB per call'
    """
    count, moved = Counter[str](), Counter[str]()
    for each in exchanges:
        count[each.kind] += each.count
        moved[each.kind] += each.count * each.nbytes
    parts = (f"{n} {kind} {units.size(moved[kind])}" for kind, n in count.items())
    return f"{', '.join(parts)} per call"
