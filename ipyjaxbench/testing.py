"""Test doubles that are public, so that the author of an adapter can test without waiting.

A `FakeClock` stands still until told otherwise; `FakeArray` is computed some nanoseconds after it
was asked for; `FakeFramework` is an adapter for such arrays.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
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
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import Interval, Profile, Profiler


class FakeClock(Clock):
    """A clock that only moves when told to, and by ``step`` at each reading.

    Args:
        step: nanoseconds that every reading takes.

    Example:
        >>> clock = FakeClock()
        >>> clock.advance(5)
        >>> clock.now()
        5
    """

    def __init__(self, step: int = 0) -> None:
        moment, others = [0], [0]

        def read() -> int:
            moment[0] += step
            return moment[0]

        def sleep(seconds: float) -> None:
            moment[0] += int(seconds * 1e9)

        super().__init__(read, read, sleep, lambda: moment[0] - others[0])
        object.__setattr__(self, "_moment", moment)
        object.__setattr__(self, "_others", others)

    def advance(self, nanoseconds: int) -> None:
        """Let time pass."""
        moment: list[int] = vars(self)["_moment"]
        moment[0] += nanoseconds

    def disturb(self, nanoseconds: int) -> None:
        """Let time pass in which other programs have the CPU."""
        others: list[int] = vars(self)["_others"]
        others[0] += nanoseconds
        self.advance(nanoseconds)


@dataclass(eq=False)
class FakeArray:
    """An array that is ready at some moment of its device's clock."""

    device: "FakeDevice"
    ready_at: int
    deleted: bool = False
    version: int = 0

    def wait(self) -> None:
        """Stand until it is computed."""
        self.device.wait_until(self.ready_at)


@dataclass(eq=False)
class FakeDevice:
    """A device that works through what it was given, one thing after another.

    Example:
        >>> device = FakeDevice(FakeClock())
        >>> array = device.start(dispatch=10, work=100)
        >>> device.clock.now(), array.ready_at
        (10, 110)
    """

    clock: FakeClock
    busy_until: int = 0
    compilations: int = 0
    compile_seconds: float = 0.0
    waits: int = field(default=0)
    cold: bool = False
    programs: list[Program] = field(default_factory=list)
    worked: list[tuple[int, int]] = field(default_factory=list)

    def start(self, *, dispatch: int, work: int) -> FakeArray:
        """Spend ``dispatch`` nanoseconds here and queue ``work`` nanoseconds there."""
        self.clock.advance(dispatch)
        begin = max(self.busy_until, self.clock.now())
        self.busy_until = begin + work
        self.worked.append((begin, self.busy_until))
        return FakeArray(self, self.busy_until)

    def compile(self, nanoseconds: int, name: str = "program") -> None:
        """Compile a program, which keeps the caller waiting."""
        self.clock.advance(nanoseconds)
        self.compilations += 1
        self.compile_seconds += nanoseconds * 1e-9
        self.programs.append(Program(name, nanoseconds * 1e-9, "compiled", "fake"))

    def wait_until(self, moment: int) -> None:
        """Let time pass until then."""
        self.waits += 1
        self.clock.advance(max(moment - self.clock.now(), 0))


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

    def nothing(self) -> Run:
        """A microsecond."""
        return self._taking(1e-6)

    def _taking(self, seconds: float) -> Run:
        return lambda: self._device.clock.advance(round(seconds * 1e9))


class FakeFramework(Framework):
    """An adapter for `FakeArray` on one `FakeDevice`."""

    name = "fake"
    module = "ipyjaxbench.testing"
    capabilities: ClassVar = {
        "Compilation": "ipyjaxbench.testing:FakeCompilation",
        "DeviceInventory": "ipyjaxbench.testing:FakeInventory",
        "MutableState": "ipyjaxbench.testing:FakeState",
        "Profiler": "ipyjaxbench.testing:FakeProfiler",
    }

    def __init__(self, device: FakeDevice | None = None) -> None:
        self.device = device or FakeDevice(FakeClock())
        self.random = 0
        self.probes: dict[str, Probe] = {}

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

    def placement(self, array: Any) -> Placement:  # noqa: ARG002
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


class FakeCompilation(Compilation):
    """What a `FakeDevice` compiles."""

    def compiles(self, value: object) -> bool:
        """The device's own method."""
        return getattr(value, "__func__", None) is FakeDevice.compile

    def original(self, function: object) -> object | None:
        """What a partial was made of."""
        return function.func if isinstance(function, partial) else None

    def watch(self, functions: Sequence[object]) -> CompilationWatch:  # noqa: ARG002
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

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:  # noqa: ARG002
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

    def profile(self, run: Callable[[], object]) -> Profile:
        """What the device worked on, each a "work"."""
        before = len(self.framework.device.worked)
        run()
        worked = self.framework.device.worked[before:]
        return Profile(tuple(Interval("work", start, end, "fake:0") for start, end in worked))


class FakeInventory(DeviceInventory):
    """The probes that a test has put there."""

    def probe(self, device: str) -> Probe | None:
        """The one that a test has put there."""
        probe: Probe | None = self.framework.probes.get(device)
        return probe
