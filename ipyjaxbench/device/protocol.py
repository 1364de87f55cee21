"""What a framework offers to those who look at devices, arrays and copies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from ipyjaxbench.device.copy_watch import CopyWatch
from ipyjaxbench.device.devices import Device, FrameworkDevices
from ipyjaxbench.device.memory_peak import MemoryPeak
from ipyjaxbench.device.memory_settings import MemoryRequest, MemorySetting
from ipyjaxbench.device.microbenchmarks import Probe
from ipyjaxbench.device.whereabouts import ArrayMemory, ArrayPlacement, Weight
from ipyjaxbench.frameworks import Capability
from ipyjaxbench.reports import Note


def name_of_chip(device: str) -> str:
    """Return the name of a device without what is the framework's own in it.

    >>> name_of_chip("cuda:1"), name_of_chip("cpu:3")
    ('gpu:1', 'cpu')
    """
    kind, _, index = device.partition(":")
    if kind == "cpu":
        return kind
    return f"{'gpu' if kind in ('cuda', 'rocm') else kind}:{index or 0}"


class DeviceInventory(Capability):
    """The framework's devices, their memory and threads.

    Attributes:
        has_devices: whether it has devices of its own, beside the host's memory.
    """

    has_devices: bool = False

    def devices(self) -> FrameworkDevices:
        """Return its devices and their memory; a framework that has not started stays so."""
        framework = self.framework
        return FrameworkDevices(framework.name, framework.version(), started=framework.started())

    def _started(
        self,
        answers: Sequence[tuple[Device, Sequence[Note]]],
        default: tuple[str, str],
        notes: Iterable[Note],
    ) -> FrameworkDevices:
        """Return devices with the notes on each and on all; and the default with its reason."""
        of_devices = (note for _, of_device in answers for note in of_device)
        return FrameworkDevices(
            framework=self.framework.name,
            version=self.framework.version(),
            started=True,
            devices=tuple(device for device, _ in answers),
            default=default[0],
            why=default[1],
            words=(*of_devices, *notes),
        )

    def start(self) -> bool:
        """Have it look for devices; return whether it has any now."""
        return bool(self.framework.started())

    def set_memory(self, request: MemoryRequest) -> Iterable[MemorySetting]:  # noqa: ARG002
        """Set what it may take of each GPU's memory; return what was set, or why it was not."""
        return ()

    def threads(self) -> int | None:
        """Return how many threads one operation may use on the CPU; None where not known."""
        return None

    def chip(self, device: str) -> str:
        """Return a name that a device has in all frameworks of this process, such as "gpu:0".

        The host is "cpu", however many devices a framework makes of it. A GPU has the number that
        its driver gives it here, which is the same for all: a visible part of one has its own.

        Args:
            device: its name in this framework, as placements have it.
        """
        return name_of_chip(device)

    def align_settings(self, threads: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Return a context in which settings are equal that other frameworks have too.

        Each operation on the CPU uses these threads, and matrix products use all bits of their
        numbers, as far as this can be set in a running process.
        """
        return nullcontext()

    def probe(self, device: str) -> Probe | None:  # noqa: ARG002
        """Return the work with which a device's peaks are measured; None where there is none.

        Args:
            device: its name, as `devices` gives it; "cpu" where there are none.
        """
        return None


class ArrayInspector(Capability):
    """Where the framework's arrays live, who made them, and their numbers on the host."""

    def locate(self, name: str, array: Any) -> ArrayPlacement:
        """Return where one array lives, and in which way; must not fail for a deleted one.

        Until it is a name, ``of`` is anything that tells its memory from that of others.
        """
        return self._make_placement(name, array)

    def _make_placement(self, name: str, array: Any, **facts: Any) -> ArrayPlacement:
        """Return what the framework says of an array; facts add to that, or stand in its place."""
        place = self.framework.placement(array)
        known: dict[str, Any] = {
            "framework": place.framework,
            "dtype": place.dtype,
            "shape": place.shape or (),
            "nbytes": place.nbytes,
            "devices": place.devices,
            "of": f"{place.framework} {id(array)}",
        }
        return ArrayPlacement(name, **known | facts)

    def weight(self, array: Any) -> Weight | None:
        """Return fast what one of many arrays takes; None where it holds no numbers."""
        placed = self.locate("", array)
        return Weight(placed.devices, 0 if placed.deleted else placed.nbytes, placed.sharding)

    def live_arrays(self) -> Sequence[Any]:
        """Return its arrays that are in memory, as far as it knows them."""
        return ()

    def base_array(self, array: Any) -> object:
        """Return the array that holds its memory among `live_arrays`: itself, or what it wraps."""
        return array

    def memory(self, array: Any) -> ArrayMemory | None:
        """Return the memory that an array keeps, all of it where it is a view; None without any."""
        placed = self.locate("", array)
        if placed.deleted or placed.dtype == "object":
            return None
        key = placed.of or f"{placed.framework} {id(array)}"
        return ArrayMemory(key, sum(placed.on_devices().values()), placed.devices)

    def attached(self, array: Any) -> Iterable[tuple[Literal["graph", "gradient"], object, str]]:  # noqa: ARG002
        """Yield what an array keeps beside its numbers: the kind, the value, how to let go of it.

        In the words that say how to let go, ``{}`` stands for the array's name.
        """
        return ()

    def is_optimizer(self, value: object) -> bool:  # noqa: ARG002
        """Whether a value is one of the framework's optimizers, whose state is arrays."""
        return False

    def keeps_unseen(self, value: object) -> bool:  # noqa: ARG002
        """Whether a value keeps arrays where Python cannot see them."""
        return False

    def creation_frames(self, array: Any) -> Sequence[tuple[str, str, int]]:  # noqa: ARG002
        """Return the calls that made it, innermost first: file, function, line; or nothing."""
        return ()

    def describe(self, value: object) -> str:  # noqa: ARG002
        """Return what a value that holds no array is, such as a mesh; empty for others' values."""
        return ""

    def to_numpy(self, array: Any) -> Any | None:  # noqa: ARG002
        """Return the numbers of an array that is alive, of a dtype that NumPy computes with."""
        return None

    def conversion(self, array: Any) -> tuple[float, float] | None:  # noqa: ARG002
        """Measure how long an array takes to become a NumPy array, where it keeps that copy.

        Returns:
            Seconds for a new array, and for one that was converted before; None where nothing is
            kept or there is no room for more.
        """
        return None


class TransferWatch(Capability):
    """What the framework reports of copies between host and devices.

    Attributes:
        copies: makes a context that reports them; None where there are none.
    """

    copies: type[CopyWatch] | None = None


class MemoryMeter(Capability):
    """What the framework tells of the memory that a call needs."""

    def measure(self, call: Callable[[], object]) -> Sequence[MemoryPeak] | None:  # noqa: ARG002
        """Make two calls and count what the second needs on each device, without lost counters.

        Args:
            call: makes a call and returns what it leaves in use, which is held until counted.

        Returns:
            A peak for each device; None where the framework counts nothing.
        """
        return None

    def plan(
        self,
        function: object,  # noqa: ARG002
        args: Sequence[object],  # noqa: ARG002
        kwargs: Mapping[str, object],  # noqa: ARG002
    ) -> MemoryPeak | None:
        """Return what the compiler planned for a call of its function, beyond the arguments.

        Nothing is compiled for that; None where it has no program for these arguments.
        """
        return None
