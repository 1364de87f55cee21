"""Test doubles that are public, so that the author of an adapter can test without waiting.

A `FakeClock` moves only when a test moves it; a `FakeArray` is computed some nanoseconds after it
was asked of a `FakeDevice`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ipyjaxbench.frameworks import Program
from ipyjaxbench.host import Clock


class FakeClock(Clock):
    """A clock that moves only by `advance`, by ``step`` at each reading and ``per_call`` in calls.

    Args:
        step: nanoseconds that every reading takes.
        per_call: nanoseconds that every call takes which is timed with it, whatever it does; what
            `advance` adds meanwhile comes on top.

    Example:
        >>> clock = FakeClock()
        >>> clock.advance(5)
        >>> clock.now()
        5
    """

    def __init__(self, step: int = 0, per_call: int = 0) -> None:
        moment, others = [0], [0]

        def read() -> int:
            moment[0] += step
            return moment[0]

        def sleep(seconds: float) -> None:
            moment[0] += int(seconds * 1e9)

        def spent() -> int:
            return moment[0] - others[0]

        super().__init__(read, read, sleep, spent, spent, lambda: others[0])
        object.__setattr__(self, "_moment", moment)
        object.__setattr__(self, "_others", others)
        object.__setattr__(self, "_per_call", per_call)

    def advance(self, nanoseconds: int) -> None:
        """Let time pass."""
        moment: list[int] = vars(self)["_moment"]
        moment[0] += nanoseconds

    def turns(self, calls: int) -> Iterator[None]:
        """Give a loop so many turns, each of which takes ``per_call``."""
        return _Turns(self, calls, vars(self)["_per_call"])

    def spin(self, nanoseconds: int) -> None:
        """Let time pass."""
        self.advance(nanoseconds)

    def disturb(self, nanoseconds: int) -> None:
        """Let time pass in which other programs have the CPU."""
        others: list[int] = vars(self)["_others"]
        others[0] += nanoseconds
        self.advance(nanoseconds)


class _Turns(Iterator[None]):
    """Turns of a loop, in each of which a clock moves; `operator.length_hint` counts those left."""

    def __init__(self, clock: FakeClock, turns: int, takes: int) -> None:
        self._clock, self._left, self._takes = clock, turns, takes

    def __next__(self) -> None:
        if not self._left:
            raise StopIteration
        self._left -= 1
        self._clock.advance(self._takes)

    def __length_hint__(self) -> int:
        return self._left


@dataclass(eq=False)
class FakeArray:
    """An array that is ready at some moment of its device's clock."""

    device: "FakeDevice"
    ready_at: int
    deleted: bool = False
    version: int = 0

    def wait(self) -> None:
        """Let time pass until it is computed."""
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
