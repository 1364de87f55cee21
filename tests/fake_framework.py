"""An adapter for the arrays of a `FakeDevice`, with all that frameworks may be capable of."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, ClassVar

from ipyjaxbench.device import DeviceInventory, Probe, Run
from ipyjaxbench.frameworks import (
    ColdCall,
    Compilation,
    CompilationWatch,
    Framework,
    MutableState,
    Placement,
    Program,
    Restore,
    Wait,
)
from ipyjaxbench.reports import Note
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing import Caveats, CodeFacts, Interval, Profile, Profiler


class _FakeWatch(CompilationWatch):
    def __init__(self, device: FakeDevice) -> None:
        self._device = device
        self._before = (device.compilations, device.compile_seconds)

    def __exit__(self, *_: object) -> None:
        """Nothing was registered."""

    def compilations(self) -> int:
        return self._device.compilations - self._before[0]

    def phases(self) -> dict[str, float | None]:
        spent = self._device.compile_seconds - self._before[1]
        return {"compile": spent} if spent else {}

    def programs(self) -> list[Program]:
        return self._device.programs[self._before[0] :]


class FakeProbe(Probe):
    """Work that takes as long on a `FakeDevice` as rates say.

    Args:
        device: that works.
        products: FLOP in a second by dtype; others cannot be multiplied.
        memory: bytes in a second.
        copies: the same between host and device; None where they share their memory.

    Example:
        >>> device = FakeDevice(FakeClock())
        >>> FakeProbe(device, {"float32": 2e9}).product("float32", 1000)()
        >>> device.clock.now()
        1000000000
    """

    device = "cpu"

    def __init__(
        self,
        device: FakeDevice,
        products: Mapping[str, float],
        memory: float = 1e11,
        copies: float | None = None,
    ) -> None:
        self._device, self._products = device, products
        self._memory, self._copies = memory, copies or memory
        self.on_host = copies is None

    def product(self, dtype: str, n: int) -> Run:
        """At the rate of the dtype."""
        return self._taking(2 * n**3 / self._products[dtype])

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Two ways, of which the second is slower."""
        run = self._taking(2 * nbytes / self._memory)
        return (run, 2 * nbytes), (run, nbytes)

    def upload(self, nbytes: int) -> Run:
        """At the rate of copies."""
        return self._taking(nbytes / self._copies)

    def download(self, nbytes: int) -> Run:
        """At half of that rate."""
        return self._taking(2 * nbytes / self._copies)

    def smallest_operation(self) -> Run:
        """A microsecond."""
        return self._taking(1e-6)

    def _taking(self, seconds: float) -> Run:
        return lambda: self._device.clock.advance(round(seconds * 1e9))


class FakeFramework(Framework):
    """An adapter for `FakeArray` on one `FakeDevice`."""

    name = "fake"
    module = "tests.fake_framework"
    capabilities: ClassVar = {
        "Caveats": "tests.fake_framework:FakeCaveats",
        "Compilation": "tests.fake_framework:FakeCompilation",
        "DeviceInventory": "tests.fake_framework:FakeInventory",
        "MutableState": "tests.fake_framework:FakeState",
        "Profiler": "tests.fake_framework:FakeProfiler",
    }

    def __init__(self, device: FakeDevice | None = None) -> None:
        self.device = device or FakeDevice(FakeClock())
        self.random = 0
        self.probes: dict[str, Probe] = {}
        self.cautions: list[Note] = []

    def version(self) -> str:
        """A version."""
        return "1.0"

    def started(self) -> bool:
        """Always."""
        return True

    def owns(self, kind: type) -> bool:
        """Fake arrays."""
        return issubclass(kind, FakeArray)

    def parts(self, value: object) -> Iterable[object] | None:
        """A device has no arrays in it."""
        return () if isinstance(value, FakeDevice | FakeClock) else None

    def placement(self, array: Any) -> Placement:
        """One number on device 0."""
        return Placement("", self.name, 1, "float32", (), ("fake:0",), 4)

    def free_memory(self) -> int:
        """A million numbers."""
        return 4_000_000

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:
        """One array by itself, several by draining."""
        if len(arrays) == 1 and arrays[0] is value:
            return lambda array: array.wait()
        return lambda _: self.drain()

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def drain(self) -> None:
        """Wait until the device has nothing left to do."""
        self.device.wait_until(self.device.busy_until)

    def is_running(self) -> bool | None:
        """Whether the device is busy."""
        return self.device.busy_until > self.device.clock.now()

    def alive(self, array: Any) -> bool:
        """Whether the array was not deleted."""
        return not array.deleted


class FakeCaveats(Caveats):
    """The notes that a test has put there."""

    def caveats(self, code: CodeFacts) -> Iterable[Note]:
        """All of them, of any code."""
        return tuple(self.framework.cautions)


class FakeCompilation(Compilation):
    """What a `FakeDevice` compiles."""

    def compiles(self, value: object) -> bool:
        """The device's own method."""
        return getattr(value, "__func__", None) is FakeDevice.compile

    def original(self, function: object) -> object | None:
        """What a partial was made of."""
        return function.func if isinstance(function, partial) else None

    def watch(self, functions: Sequence[object]) -> CompilationWatch:
        """Watch the device."""
        return _FakeWatch(self.framework.device)

    def cold_call(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[ColdCall] | None:
        """The device is cold meanwhile, and the names stand for other objects."""
        return self._cold(named, unnamed) if named or unnamed else None

    @contextmanager
    def _cold(self, named: Mapping[str, Any], unnamed: Sequence[object]) -> Iterator[ColdCall]:
        self.framework.device.cold = True
        try:
            yield ColdCall({n: partial(f) for n, f in named.items()}, ["kept"] if unnamed else [])
        finally:
            self.framework.device.cold = False


class FakeState(MutableState):
    """One random number, and versions of arrays."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:
        """One number."""
        before = self.framework.random

        def restore() -> None:
            self.framework.random = before

        return restore

    def copy(self, value: Any) -> Any | None:
        """A new array like it."""
        return FakeArray(value.device, value.ready_at) if isinstance(value, FakeArray) else None

    def mutation_count(self, array: Any) -> int | None:
        """The array's version."""
        version: int = array.version
        return version


class FakeProfiler(Profiler):
    """What a `FakeDevice` worked on."""

    def profile(self, run: Callable[[], object], *, sources: bool = False) -> Profile:
        """What the device worked on, each a "work"."""
        before = len(self.framework.device.worked)
        run()
        worked = self.framework.device.worked[before:]
        return Profile(
            tuple(Interval("work", start, end, "fake:0") for start, end in worked), offset=0.0
        )


class FakeInventory(DeviceInventory):
    """The probes that a test has put there."""

    def probe(self, device: str) -> Probe | None:
        """The one that a test has put there."""
        probe: Probe | None = self.framework.probes.get(device)
        return probe
