"""What a profiled pass did, on one clock: our phases, the user's lines, and operations."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import Wait
from ipyjaxbench.timing.device_time import Interval, Profile
from ipyjaxbench.timing.perfetto.line_recorder import LineRecorder, LineSpan


class CallSpan(NamedTuple):
    """One call of the pass, in nanoseconds on the wall."""

    begun: int
    returned: int  # when Python went on to wait
    ended: int


@dataclass(frozen=True)
class Stretch:
    """Calls in a row, to the end of what they had left running."""

    begun: int
    calls: tuple[CallSpan, ...]
    ended: int
    lines: tuple[LineSpan, ...]
    lines_reason: str  # why lines are missing, in words; "" where none are


@dataclass(frozen=True)
class TimedSession:
    """One session of one framework's profiler."""

    framework: str
    stretches: tuple[Stretch, ...]
    intervals: tuple[Interval, ...]  # nanoseconds on the profiler's clock
    offset: float | None  # what such a time lacks to one on our clock; None if unknown


class Timeline:
    """Collects sessions while a pass is made.

    Args:
        wall: reads nanoseconds.

    Attributes:
        sessions: those that were collected.
    """

    def __init__(self, wall: Callable[[], int]) -> None:
        self.sessions: list[TimedSession] = []
        self._wall = wall
        self._lines = LineRecorder(wall)
        self._calls: list[CallSpan] = []
        self._stretches: list[Stretch] = []
        self._reached = 0

    def begin_run(self) -> None:
        """Say that a run under a profiler begins."""
        self._stretches = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls of a stretch, and lines."""
        __tracebackhide__ = True
        self._calls = []
        self._lines.clear()
        with self._lines.on():
            yield

    def end_stretch(self, begun: int, elapsed: int) -> None:
        """Keep what was recorded of a stretch: when it began, and how long it took."""
        calls = [call._replace(begun=begun) for call in self._calls[:1]] + self._calls[1:]
        ended = max(begun + elapsed, self._reached)
        lines, why = tuple(self._lines.spans), self._lines.reason
        self._stretches.append(Stretch(begun, tuple(calls), ended, lines, why))

    def observe(self, wait: Wait) -> Wait:
        """Return what waits for a call and records it."""
        wall, calls = self._wall, self._calls

        def wait_and_record(value: Any) -> None:
            returned = wall()
            wait(value)
            ended = wall()
            calls.append(CallSpan(self._reached, returned, ended))
            self._reached = ended

        self._reached = wall()
        return wait_and_record

    def keep(self, framework: str, profile: Profile, stretches: int) -> None:
        """Keep the last stretches of the run, with what a profiler saw of them."""
        last = tuple(self._stretches[-stretches:])
        self.sessions.append(TimedSession(framework, last, profile.intervals, profile.offset))
