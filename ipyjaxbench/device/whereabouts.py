"""Where values live: array by array, over which devices, in which memory."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ipyjaxbench.device.devices import FrameworkDevices
from ipyjaxbench.device.sharding import Sharding
from ipyjaxbench.frameworks import ArrayInfo
from ipyjaxbench.record_types import NonNegativeInt, PositiveInt
from ipyjaxbench.reports import Result


@dataclass(frozen=True)
class ArrayPlacement(ArrayInfo):
    """One array, or several under one name: where it lives and how it is stored.

    Attributes:
        memory: the kind of memory; empty if the device has only one.
        weak: whether its dtype is a weak type.
        gradients: whether PyTorch's autograd tracks it.
        committed: whether it is committed to its devices; None if the framework does not say.
        deleted: whether its buffer was donated or deleted.
        of: the array whose memory it shares; empty if it owns its memory.
        layout: its memory layout, if it is not the default one.
        sharding: how it is sharded; None for one device, and for several arrays.
        parts: bytes on each device, for several arrays on several devices.
        arrays: the number of arrays.
    """

    nbytes: NonNegativeInt
    memory: str = ""
    weak: bool = False
    gradients: bool = False
    committed: bool | None = None
    deleted: bool = False
    of: str = ""
    layout: str = ""
    sharding: Sharding | None = None
    parts: tuple[int, ...] = ()
    arrays: PositiveInt = 1

    def on_devices(self) -> dict[str, int]:
        """Return the bytes on each device; a replicated array counts in full on each.

        Example:
            >>> ArrayPlacement("x", "jax", "int8", (4,), 4, ("cpu:0", "cpu:1")).on_devices()
            {'cpu:0': 4, 'cpu:1': 4}
        """
        if self.parts:
            return dict(zip(self.devices, self.parts, strict=True))
        if self.sharding is not None:
            return self.sharding.bytes_on(self.nbytes)
        return dict.fromkeys(self.devices, self.nbytes)


class Weight(NamedTuple):
    """What one array takes, of many that are shown together.

    Attributes:
        devices: that hold a part of it.
        nbytes: that it takes, one copy of it; none where its memory was given away.
        sharding: how it is cut; None where it lies on one device.
    """

    devices: tuple[str, ...]
    nbytes: int
    sharding: Sharding | None = None


class ArrayMemory(NamedTuple):
    """Memory that an array keeps.

    Attributes:
        key: tells it from other memory.
        nbytes: that it has on all devices together.
        devices: that hold a part of it.
    """

    key: str
    nbytes: int
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Process:
    """One process of a job of several.

    Attributes:
        rank: its number in the job, from 0.
        size: how many processes the job has.
        host: the name of its machine.
        pid: its process ID there.
    """

    rank: NonNegativeInt
    size: PositiveInt
    host: str
    pid: int


@dataclass(frozen=True, repr=False)
class Whereabouts(Result):
    """Devices, and where values live.

    Attributes:
        asked: the expressions shown; empty if everything is.
        homes: the frameworks, with their devices.
        arrays: the arrays of the expressions, or of all variables.
        unnamed: count and bytes of live arrays without a name, by framework.
        largest: the largest unnamed array of each framework, with the line that created it.
        process: the process that this is about, if it is one of several; otherwise None.
    """

    kind: ClassVar[str] = "whereabouts"

    asked: tuple[str, ...]
    homes: tuple[FrameworkDevices, ...]
    arrays: tuple[ArrayPlacement, ...]
    unnamed: Mapping[str, tuple[int, int]]
    largest: tuple[ArrayPlacement, ...] = ()
    process: Process | None = None

    def check(self) -> str | None:
        """Return why these facts contradict each other."""
        cut = (each.sharding for each in self.arrays if each.sharding is not None)
        return next(filter(None, (sharding.check() for sharding in cut)), None)

    def by_device(self, framework: str = "") -> dict[str, tuple[int, int]]:
        """Return the number of arrays and bytes on each device; shared memory counts once.

        Those of one framework, if it is named: several have a device of the same name.
        """
        count: Counter[str] = Counter()
        nbytes: Counter[str] = Counter()
        for each in self.arrays:
            is_other = framework and each.framework != framework
            if each.deleted or each.of or not each.framework or is_other:
                continue
            count.update(dict.fromkeys(each.devices, each.arrays))
            nbytes.update(each.on_devices())
        return {device: (count[device], nbytes[device]) for device in count}

    def here(self, array: ArrayPlacement) -> dict[str, int]:
        """Return the bytes of an array on each device of this process."""
        return {
            device: nbytes
            for device, nbytes in array.on_devices().items()
            if self._is_here(device, array.framework)
        }

    def _is_here(self, device: str, framework: str) -> bool:
        """Whether a device is of this process: others are named by rank, or are in no list."""
        platform, _, number = device.partition(":")
        homes = (home for home in self.homes if home.framework == framework)
        known = {own.name for home in homes for own in home.devices}
        is_listed = any(own.partition(":")[0] == platform and ":" in own for own in known)
        return platform != "rank" and (device in known or not (number and is_listed))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each array with a name; sizes in bytes."""
        return [
            {
                "name": array.name,
                "framework": array.framework,
                "dtype": array.dtype,
                "shape": array.shape,
                "size_bytes": array.nbytes,
                "devices": ", ".join(array.devices),
                "committed": array.committed,
            }
            for array in self.arrays
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Whereabouts {len(self.arrays)} values>"
