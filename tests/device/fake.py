"""A framework whose arrays are what a test says that they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ipyjaxbench.device import (
    ArrayInspector,
    ArrayPlacement,
    CopyWatch,
    Device,
    DeviceInventory,
    FrameworkDevices,
    Sharding,
    Weight,
)
from ipyjaxbench.device.protocol import TransferWatch
from ipyjaxbench.frameworks import Compilation, Placement
from ipyjaxbench.testing import FakeDevice
from tests.fake_framework import FakeFramework


@dataclass(eq=False)
class Array:
    """An array."""

    nbytes: int = 4
    dtype: str = "int8"
    devices: tuple[str, ...] = ("fake:0",)
    base: Any = None  # the array that holds its memory
    deleted: bool = False
    sharding: Sharding | None = None
    view: bool = False
    made: Sequence[tuple[str, str, int]] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.nbytes,)


class Unreferred:
    """An array of which nothing tells when it is gone."""

    __slots__ = ()
    nbytes, dtype, devices, view, deleted = 4, "int8", ("fake:0",), False, False
    base = sharding = None


class Mesh:
    """A value of the framework's that holds no array."""


class Inspector(ArrayInspector):
    """Says what the arrays are."""

    def locate(self, name: str, array: Any) -> ArrayPlacement:
        facts: dict[str, Any] = {"deleted": array.deleted, "sharding": array.sharding}
        if array.base is not None:
            facts["of"] = f"{self.framework.name} {id(array.base)}"
        return self._make_placement(name, array, **facts)

    def weight(self, array: Any) -> Weight | None:
        return None if array.dtype == "object" else super().weight(array)

    def live_arrays(self) -> Sequence[Any]:
        return list(self.framework.live)

    def base_array(self, array: Any) -> object:
        return array if array.base is None else array.base

    def creation_frames(self, array: Any) -> Sequence[tuple[str, str, int]]:
        frames: Sequence[tuple[str, str, int]] = array.made
        return frames

    def describe(self, value: object) -> str:
        return "a mesh" if type(value) is Mesh else ""


class Inventory(DeviceInventory):
    """Two devices, once it has started."""

    has_devices = True

    def devices(self) -> FrameworkDevices:
        framework = self.framework
        devices = (Device("fake:0", used=framework.used), Device("fake:1"))
        return FrameworkDevices(
            framework.name, "1.0", started=framework.has_started,
            devices=devices if framework.has_started else (),
        )  # fmt: skip

    def start(self) -> bool:
        self.framework.has_started = True
        return True


class Watch(CopyWatch):
    """Sees what `Library` copies, and each call of the user's."""

    gaps = ("what nobody sees",)

    def _listen(self) -> None:
        self._replace(Library, "copy", self._copy)

    def _copy(self, old: Callable[..., Any], library: "Library", array: Any) -> Any:
        result, waited, spent = self._time_copy(lambda: old(library, array), array)
        self._report("fake:0", "host", array, spent if library.is_timed else None, waited)
        return result

    def call(self, function: Any, arguments: Sequence[Any], make: Callable[[], Any]) -> Any:
        Library.calls.append((function, list(arguments)))
        return make()

    def _wait(self, values: Sequence[Any]) -> None:
        Library.clock.advance(1_000_000)

    def _dtype(self, array: Any) -> tuple[str, int]:
        return array.dtype, 1


class Transfers(TransferWatch):
    """The framework's copies."""

    copies = Watch


@dataclass(eq=False)
class Library:
    """Copies arrays, each in two milliseconds."""

    calls: ClassVar[list[tuple[Any, list[Any]]]] = []
    clock: ClassVar[Any] = None
    is_timed: bool = True

    def copy(self, array: Any) -> Any:
        Library.clock.advance(2_000_000)
        return array


class Readers(Compilation):
    """Compiles functions by reading their code, where a test has it do so."""

    builders = ((sorted, "jax.jit"),)

    @property
    def reads_code(self) -> bool:  # type: ignore[override]
        return bool(self.framework.reads)


class ArrayFramework(FakeFramework):
    """Owns `Array`; what is written in tests is its own code, not the user's."""

    name = "fake"
    module = "tests"
    capabilities: ClassVar = {
        "ArrayInspector": "tests.device.fake:Inspector",
        "Compilation": "tests.device.fake:Readers",
        "DeviceInventory": "tests.device.fake:Inventory",
        "TransferWatch": "tests.device.fake:Transfers",
    }

    def __init__(self, device: FakeDevice | None = None) -> None:
        super().__init__(device)
        self.live: list[Array] = []
        self.used: int | None = None
        self.has_started = True
        self.reads = False
        self.drains = 0

    def started(self) -> bool:
        return self.has_started

    def owns(self, kind: type) -> bool:
        return kind in (Array, Unreferred)

    def parts(self, value: object) -> None:
        return None

    def alive(self, array: Any) -> bool:
        return not array.deleted

    def drain(self) -> None:
        self.drains += 1
        super().drain()

    def placement(self, array: Any) -> Placement:
        return Placement("", self.name, 1, array.dtype, (array.nbytes,), array.devices,
                         array.nbytes, view=array.view)  # fmt: skip


@dataclass(eq=False)
class OtherArray:
    """An array of a framework that has no devices."""

    nbytes: int = 8
    view: bool = field(default=False)
    deleted: bool = False


class OtherFramework(FakeFramework):
    """Owns `OtherArray`."""

    name = "other"
    module = "tests_other"
    capabilities: ClassVar = {}

    def owns(self, kind: type) -> bool:
        return kind is OtherArray

    def parts(self, value: object) -> None:
        return None

    def placement(self, array: Any) -> Placement:
        return Placement("", self.name, 1, "int8", (array.nbytes,), (), array.nbytes)
