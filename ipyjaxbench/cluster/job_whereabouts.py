"""Where values live over all ranks: one tree, with what each rank holds of each array."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench.device import ArrayPlacement, Sharding
from ipyjaxbench.record_types import NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class RankPlaces:
    """One rank that was asked.

    Attributes:
        label: its name, such as "rank 3".
        host: the name of its machine; empty if it did not answer.
        pid: its process ID there.
        devices: bytes of arrays on each of its devices.
        unnamed: count and bytes of live arrays without a name, by framework.
        failures: why expressions have no value there, by expression.
        silent: why it did not answer; empty if it did.
    """

    label: str
    host: str = ""
    pid: int = 0
    devices: Mapping[str, NonNegativeInt] = field(default_factory=dict)
    unnamed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    silent: str = ""


@dataclass(frozen=True)
class JobArray:
    """An array as some or all ranks have it, or several under one name.

    Attributes:
        array: the array in the first of these ranks, without its sharding and the devices of that.
        ranks: the ranks that have it like this, by their places in the job.
        held: bytes in each of these ranks.
        sharding: its number among the shardings of the job; None if it has none.
        is_global: whether these ranks have parts of one array; otherwise each has its own.
    """

    array: ArrayPlacement
    ranks: tuple[NonNegativeInt, ...]
    held: tuple[NonNegativeInt, ...]
    sharding: NonNegativeInt | None = None
    is_global: bool = False


@dataclass(frozen=True, repr=False)
class JobWhereabouts(Result):
    """Where values live over all ranks that were asked.

    Attributes:
        asked: the expressions shown; empty if everything is.
        ranks: the ranks that were asked, in order.
        size: how many ranks the job has.
        arrays: arrays of all ranks; one that differs between ranks has several entries.
        shardings: shardings of these; over all ranks if an array is global.
        frameworks: versions of the frameworks, by name.
    """

    kind: ClassVar[str] = "job-whereabouts"

    asked: tuple[str, ...]
    ranks: tuple[RankPlaces, ...]
    size: PositiveInt
    arrays: tuple[JobArray, ...]
    shardings: tuple[Sharding, ...]
    frameworks: Mapping[str, str]

    def check(self) -> str | None:
        """Return why these facts contradict each other."""
        for each in self.arrays:
            if len(each.ranks) != len(each.held):
                return f"{each.array.name} has not one size for each rank"
            if any(rank >= len(self.ranks) for rank in each.ranks):
                return f"{each.array.name} is in a rank that was not asked"
            if each.sharding is not None and each.sharding >= len(self.shardings):
                return f"the sharding of {each.array.name} is missing"
        return next(filter(None, (sharding.check() for sharding in self.shardings)), None)

    @property
    def member(self) -> str:
        """What each that was asked is: "rank" of a job, or "engine" or "worker"."""
        return self.ranks[0].label.partition(" ")[0] if self.ranks else "rank"

    @cached_property
    def answering(self) -> tuple[int, ...]:
        """The places of ranks that answered."""
        return tuple(place for place, rank in enumerate(self.ranks) if not rank.silent)

    @property
    def held(self) -> tuple[int, ...]:
        """Bytes in each rank that answered; memory that arrays share counts once."""
        return tuple(sum(self.ranks[place].devices.values()) for place in self.answering)

    @property
    def imbalance(self) -> float:
        """The bytes of the fullest rank relative to the mean: 1 for an even split."""
        held = self.held
        return max(held) * len(held) / sum(held) if sum(held) else 1.0

    @property
    def by_host(self) -> dict[str, int]:
        """Bytes on each host."""
        hosts: Counter[str] = Counter()
        for place, held in zip(self.answering, self.held, strict=True):
            hosts[self.ranks[place].host] += held
        return dict(hosts)

    @property
    def differing(self) -> tuple[JobArray, ...]:
        """Arrays that not all ranks have in the same way; failed expressions are told apart."""
        return tuple(each for each in self.arrays if self.lacking(each))

    def lacking(self, each: JobArray) -> list[int]:
        """Return the ranks that do not have an array so, though they have its expression."""
        name = each.array.name
        return [
            place
            for place in self.answering
            if place not in each.ranks
            and not any(_is_in(name, failed) for failed in self.ranks[place].failures)
        ]

    def placement(self, each: JobArray) -> ArrayPlacement:
        """Return an array with its sharding, over all ranks where it is global."""
        if each.sharding is None:
            return each.array
        sharding = self.shardings[each.sharding]
        devices = tuple(shard.device for shard in sharding.shards)
        return replace(each.array, sharding=sharding, devices=devices)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each array in each rank; sizes in bytes."""
        return [
            {
                "name": each.array.name,
                "framework": each.array.framework,
                "dtype": each.array.dtype,
                "shape": each.array.shape,
                "size_bytes": each.array.nbytes,
                "rank": self.ranks[place].label,
                "host": self.ranks[place].host,
                "held_bytes": held,
                "is_global": each.is_global,
            }
            for each in self.arrays
            for place, held in zip(each.ranks, each.held, strict=True)
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<JobWhereabouts {len(self.arrays)} values in {len(self.ranks)} {self.member}s>"


def _is_in(name: str, expression: str) -> bool:
    """Whether a name with its path belongs to an expression."""
    return name.startswith(expression) and name[len(expression) :][:1] in ("", ".", "[")
