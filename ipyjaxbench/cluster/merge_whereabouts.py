"""Merges what ranks say of their values: parts of one array, and arrays of which each has one."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.job_whereabouts import JobArray, JobWhereabouts, RankPlaces
from ipyjaxbench.cluster.look_here import RankWhereabouts
from ipyjaxbench.device import ArrayPlacement, Shard, Sharding
from ipyjaxbench.errors import OptionError


def merge_whereabouts(answers: Sequence[tuple[str, Mapping[str, Any] | str]]) -> JobWhereabouts:
    """Merge where the values of several processes live into one tree.

    Args:
        answers: of each rank in order its label, as "rank 3", and what `locate_here` returned
            there; or, as a string, why it did not answer.

    Returns:
        The tree over all ranks. Ranks that failed or did not answer are named in it.

    Raises:
        OptionError: no rank has a value; the first reason is told.
        RankError: no rank answered.

    Example:
        >>> x = {"rank 0": {"x": 1}, "rank 1": {}}
        >>> from ipyjaxbench.cluster import locate_here
        >>> found = merge_whereabouts([(rank, locate_here("x", own)) for rank, own in x.items()])
        >>> found.ranks[1].failures
        {'x': "name 'x' is not defined."}
    """
    import msgspec

    found: dict[int, RankWhereabouts] = {}
    ranks: list[RankPlaces] = []
    for place, (label, answer) in enumerate(answers):
        if isinstance(answer, str):
            ranks.append(RankPlaces(label, silent=answer))
            continue
        own = found[place] = msgspec.convert(answer, RankWhereabouts)
        ranks.append(RankPlaces(label, own.host, own.pid, own.devices, own.unnamed, own.failures))
    _refuse_nothing(ranks, found)
    arrays, shardings = _merge(found)
    homes = [home for own in found.values() for home in own.homes]
    return JobWhereabouts(
        asked=next(iter(found.values())).asked,
        ranks=tuple(ranks),
        size=max([len(ranks), *(own.size for own in found.values())]),
        arrays=arrays,
        shardings=shardings,
        frameworks={home.framework: home.version for home in homes},
    )


def _refuse_nothing(ranks: Sequence[RankPlaces], found: Mapping[int, RankWhereabouts]) -> None:
    """Raise the first reason where no rank has a value to show."""
    if not found:
        raise RankError(". ".join(f"{rank.label} {rank.silent}" for rank in ranks) + ".")
    if all(own.failures and not own.arrays for own in found.values()):
        first = next(iter(found.values()))
        expression, reason = next(iter(first.failures.items()))
        raise OptionError(f"{expression}: {reason}")


@dataclass(frozen=True)
class _Alike:
    """One array as several ranks have it."""

    array: ArrayPlacement
    sharding: int | None
    is_global: bool
    held: dict[int, int] = field(default_factory=dict)


def _merge(
    found: Mapping[int, RankWhereabouts],
) -> tuple[tuple[JobArray, ...], tuple[Sharding, ...]]:
    """Return the arrays of all ranks, and the shardings to which they refer."""
    book = _Shardings(found.values())
    by_name: dict[str, dict[Hashable, _Alike]] = {}
    for place, own in found.items():
        seen: Counter[Hashable] = Counter()
        numbers = [book.number(cut, own.rank) for cut in own.shardings]
        for array, cut, held in zip(own.arrays, own.cuts, own.held, strict=True):
            number, is_global = book.alone(array, own.rank) if cut is None else numbers[cut]
            is_global = is_global or (cut is None and _has_parts_elsewhere(array, held))
            kind = _kind(array, number)
            key = (kind, seen[kind])  # what stands in a set has one name several times
            seen[kind] += 1
            alike = by_name.setdefault(array.name, {}).setdefault(
                key, _Alike(array, number, is_global)
            )
            alike.held[place] = held
    arrays = [
        JobArray(
            array=replace(each.array, devices=()) if each.sharding is not None else each.array,
            ranks=tuple(each.held),
            held=tuple(each.held.values()),
            sharding=each.sharding,
            is_global=each.is_global,
        )
        for variants in by_name.values()
        for each in variants.values()
    ]
    return tuple(arrays), book.shardings


class _Shardings:
    """The shardings of a job, each once: one over ranks, or one that each rank has for itself.

    Args:
        found: what the ranks say.
    """

    def __init__(self, found: Iterable[RankWhereabouts]) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._shardings: list[Sharding] = []
        self._across = {
            _over_ranks(cut, named=_names_ranks(cut))
            for own in found
            for cut in own.shardings
            if not cut.is_local
        }

    @property
    def shardings(self) -> tuple[Sharding, ...]:
        """In the order of their numbers."""
        return tuple(self._shardings)

    def number(self, sharding: Sharding, rank: int | None) -> tuple[int, bool]:
        """Return the number of a rank's sharding, and whether it is one over ranks."""
        if (shared := self._find_shared(sharding, rank)) is not None:
            return self._add(shared, shared), True
        regions = tuple(shard.region for shard in sharding.shards)
        platforms = frozenset(shard.device.partition(":")[0] for shard in sharding.shards)
        parts = (sharding.mesh, sharding.spec, sharding.partial, sharding.words)
        # Whatever its devices are called in this rank.
        return self._add((sharding.shape, regions, platforms, *parts), sharding), False

    def alone(self, array: ArrayPlacement, rank: int | None) -> tuple[int | None, bool]:
        """Return the number for an array on one device that other ranks know, too; or none."""
        if rank is None or array.arrays != 1 or len(array.devices) != 1 or not self._across:
            return None, False
        region = tuple((0, size) for size in array.shape)
        whole = Sharding(array.shape, (Shard(array.devices[0], region, rank),), rank=rank)
        shared = self._find_shared(whole, rank)
        return (None, False) if shared is None else (self._add(shared, shared), True)

    def _add(self, key: Hashable, sharding: Sharding) -> int:
        number = self._numbers.setdefault(key, len(self._shardings))
        if number == len(self._shardings):
            self._shardings.append(sharding)
        return number

    def _find_shared(self, sharding: Sharding, rank: int | None) -> Sharding | None:
        """Return a sharding as one over ranks, where any rank knows it to be that."""
        for named in (False, True) if rank is not None else ():
            if (shared := _over_ranks(sharding, named=named)) in self._across:
                return shared
        return None


def _names_ranks(sharding: Sharding) -> bool:
    """Whether the framework knows the ranks of others only, not their devices."""
    return any(shard.device == f"rank:{shard.rank}" for shard in sharding.shards)


def _over_ranks(sharding: Sharding, *, named: bool) -> Sharding:
    """Return a sharding as all ranks see it: none of them is the one that was asked."""
    shards = sharding.shards
    if named:
        shards = tuple(replace(shard, device=f"rank:{shard.rank}") for shard in shards)
    return replace(sharding, shards=shards, rank=None)


def _has_parts_elsewhere(array: ArrayPlacement, held: int) -> bool:
    """Whether several arrays that are shown together have parts in other ranks."""
    return not (array.of or array.deleted) and held < sum(array.on_devices().values())


def _kind(array: ArrayPlacement, sharding: int | None) -> Hashable:
    """Return what must be equal in all ranks for an array to be the same."""
    platforms = frozenset(device.partition(":")[0] for device in array.devices)
    return (
        *(array.framework, array.dtype, array.shape, array.nbytes, array.arrays, array.memory),
        *(array.weak, array.gradients, array.committed, array.deleted, array.of, array.layout),
        *((platforms,) if sharding is None else (sharding,)),
    )
