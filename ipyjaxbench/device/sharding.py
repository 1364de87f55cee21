"""How an array is sharded: which part is on which device, how often it is replicated."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipyjaxbench.device.device_names import name_holders
from ipyjaxbench.reports import Panel

#: Indices of one part along each axis, from and to.
Region = tuple[tuple[int, int], ...]
_WHOLE = (0, 1)  # stands for an axis that is not there
_MAX_PARTS, _MAX_TILES = 16, 64  # that are drawn, along an axis and in all
_NAMES = {1: ("elements",), 2: ("rows", "columns")}


@dataclass(frozen=True)
class Shard:
    """A part of an array on one device.

    Attributes:
        device: such as "cpu:3".
        region: the indices along each axis, from and to; empty for a number.
        rank: of the process that holds it; None where there is only one.
    """

    device: str
    region: Region
    rank: int | None = None


@dataclass(frozen=True)
class Sharding:
    """How an array is sharded.

    Attributes:
        shape: of the whole array.
        shards: one for each device, in the order of devices; those of other processes too.
        mesh: names and sizes of the mesh axes; empty without a mesh.
        spec: for each axis of the array the mesh axes that shard it.
        partial: mesh axes along which the array is a pending reduction, with the operation, as
            "sum".
        words: in the framework's own terms; may be empty.
        rank: of the process that was asked; None where it is the only one.
    """

    shape: tuple[int, ...]
    shards: tuple[Shard, ...]
    mesh: tuple[tuple[str, int], ...] = ()
    spec: tuple[tuple[str, ...], ...] = ()
    partial: tuple[tuple[str, str], ...] = ()
    words: str = ""
    rank: int | None = None

    def check(self) -> str | None:
        """Return why these facts contradict each other, for a record that was read."""
        named = {name for by in self.spec for name in by} | {name for name, _ in self.partial}
        if unknown := named - dict(self.mesh).keys():
            return f"the mesh has no axis {min(unknown)!r}"
        if not self.shards:
            return "an array has no shards"
        for shard in self.shards:
            if len(shard.region) != len(self.shape) or not all(
                0 <= start <= stop <= size
                for (start, stop), size in zip(shard.region, self.shape, strict=True)
            ):
                return f"the part on {shard.device} is outside of the array"
        return None

    @property
    def is_local(self) -> bool:
        """Whether the process that was asked holds all of it."""
        return all(shard.rank == self.rank for shard in self.shards)

    @property
    def ranks(self) -> dict[str, int | None]:
        """By device the rank of its process; empty where the one that was asked holds all."""
        return {} if self.is_local else {shard.device: shard.rank for shard in self.shards}

    @property
    def regions(self) -> dict[Region, list[str]]:
        """The parts, in order, each with the devices that hold it."""
        devices: dict[Region, list[str]] = {}
        for shard in sorted(self.shards, key=lambda s: s.region):
            devices.setdefault(shard.region, []).append(shard.device)
        return devices

    @property
    def copies(self) -> float:
        """On how many devices each element is, on average; partial sums do not count."""
        held = sum(_size(shard.region) for shard in self.shards)
        sizes = dict(self.mesh)
        terms = math.prod(sizes[name] for name, _ in self.partial)
        return held / max(math.prod(self.shape), 1) / terms

    @property
    def balance(self) -> float:
        """The largest share of a device relative to the mean: 1 for an even split."""
        held = [_size(shard.region) for shard in self.shards]
        return max(held) * len(held) / max(sum(held), 1)

    def largest(self, itemsize: int) -> int:
        """Return the bytes on the device that holds most."""
        return max((_size(shard.region) for shard in self.shards), default=0) * itemsize

    def bytes_on(self, nbytes: int) -> dict[str, int]:
        """Return the bytes on each device; ``nbytes`` are those of one copy of the whole array."""
        whole = max(math.prod(self.shape), 1)
        return {shard.device: nbytes * _size(shard.region) // whole for shard in self.shards}

    def cut(self) -> list[int]:
        """Return the axes of the array that are cut."""
        return [axis for axis in range(len(self.shape)) if self._parts(axis) > 1]

    def describe(self) -> str:
        """Return in words how it is sharded, such as "rows sharded over 'data' (2)".

        Example:
            >>> halves = (Shard("cpu:0", ((0, 2),)), Shard("cpu:1", ((2, 4),)))
            >>> Sharding((4,), halves, (("data", 2),), (("data",),)).describe()
            "elements sharded over 'data' (2)"
        """
        sizes = dict(self.mesh)
        parts: list[str] = []
        for axis in self.cut():
            by = self.spec[axis] if axis < len(self.spec) else ()
            count = math.prod(sizes[name] for name in by)
            named = " and ".join(repr(name) for name in by)
            sharded = "" if parts else "sharded "
            parts.append(f"{self.axis(axis)} {sharded}over {named} ({count})" if named
                         else f"{self.axis(axis)} in {self._parts(axis)} shards")  # fmt: skip
        parts += [f"partial {how} over {name!r} ({sizes[name]})" for name, how in self.partial]
        used = {name for by in self.spec for name in by} | {name for name, _ in self.partial}
        rest = [
            f"{name!r} ({size})" for name, size in sizes.items() if name not in used and size > 1
        ]
        if rest:
            parts.append(f"replicated over {', '.join(rest)}")
        elif not parts and len(self.shards) > 1:
            parts.append(f"replicated on {len(self.shards)} devices")
        return ", ".join(parts) or "on one device"

    def _parts(self, axis: int) -> int:
        return len({shard.region[axis] for shard in self.shards})

    def axis(self, axis: int) -> str:
        """Return what an axis is called."""
        names = _NAMES.get(len(self.shape), ())
        return names[axis] if axis < len(names) else f"axis {axis}"

    def panels(self, name: str, most: int = _MAX_PARTS) -> Iterator[Panel]:
        """Yield pictures of two axes each, that show which devices hold which part.

        These are the last two axes that are cut; each part of the others has a panel of its own.
        Along an axis the first ``most`` parts are drawn.
        """
        axes = self.cut()
        down, across = self._plane(axes)
        leading = [axis for axis in axes if axis not in (down, across)]
        used = [axis for axis in (*leading, down, across) if axis is not None]
        holders: dict[Region, list[str]] = {}
        for region, devices in self.regions.items():
            holders.setdefault(tuple(region[axis] for axis in used), []).extend(devices)
        rows, columns = self._regions_of(down), self._regions_of(across)
        ranks = self.ranks
        right = columns[: min(max(_MAX_TILES // len(rows), _MAX_PARTS // 2), most)]
        below = rows[: min(_MAX_TILES // len(right), most)]
        shown, parts = len(below) * len(right), len(rows) * len(columns)
        some = f", {shown} of {parts:,} shards" if shown < parts else ""
        for chosen in itertools.product(*(self._regions_of(axis) for axis in leading)):
            fixed = itertools.starmap(self._spell_range, zip(leading, chosen, strict=True))
            yield Panel(
                ", ".join([name, *fixed]) + some,
                tuple(self._name_part(down, row, axes) for row in below),
                tuple(self._name_part(across, column, axes) for column in right),
                tuple(
                    tuple(name_holders(holders.get((*chosen, *row, *column), ()), ranks)
                          for column in _keys(across, right))
                    for row in _keys(down, below)
                ),
            )  # fmt: skip

    def _plane(self, axes: Sequence[int]) -> tuple[int | None, int | None]:
        """Return the axes that go down and across, those that are not cut where these are few."""
        others = [axis for axis in range(len(self.shape)) if axis not in axes]
        chosen = sorted([*others, *axes][-2:])
        across = chosen.pop() if chosen else None
        return chosen.pop() if chosen else None, across

    def _regions_of(self, axis: int | None) -> list[tuple[int, int]]:
        """Return the parts along an axis in their order; one for an axis that is not there."""
        return [_WHOLE] if axis is None else sorted({shard.region[axis] for shard in self.shards})

    def _name_part(
        self, axis: int | None, part: tuple[int, int], axes: Sequence[int]
    ) -> tuple[str, int]:
        """Return a part's name, where its axis is one of those that are cut, and its length."""
        return self._spell_range(axis, part) if axis in axes else "", part[1] - part[0]

    def parts_by_device(self) -> dict[str, str]:
        """Return which part each device holds, in words.

        Example:
            >>> halves = (Shard("cpu:0", ((0, 2),)), Shard("cpu:1", ((2, 4),)))
            >>> Sharding((4,), halves).parts_by_device()
            {'cpu:0': 'elements 0-1', 'cpu:1': 'elements 2-3'}
        """
        axes = self.cut()
        return {shard.device: self._part(shard.region, axes) for shard in self.shards}

    def _part(self, region: Region, axes: Sequence[int]) -> str:
        part = ", ".join(self._spell_range(axis, region[axis]) for axis in axes)
        if self.partial:
            return f"partial result of {part}" if part else "partial result"
        return part or "all of it"

    def _spell_range(self, axis: int | None, part: tuple[int, int]) -> str:
        if axis is None:
            return ""
        start, stop = part
        if start == stop:
            return f"no {self.axis(axis)}"
        name = self.axis(axis)
        name = name.removesuffix("s") if stop - start == 1 else name
        join = ": " if name[-1:].isdigit() else " "
        return f"{name}{join}{start}" + (f"-{stop - 1}" if stop - start > 1 else "")


def _keys(axis: int | None, parts: Sequence[tuple[int, int]]) -> list[Region]:
    """Return what each part adds to the key of its holders: nothing, where there is no axis."""
    return [() if axis is None else (part,) for part in parts]


def _size(region: Region) -> int:
    return math.prod(stop - start for start, stop in region)
