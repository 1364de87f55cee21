"""The memory of Python's objects and NumPy's arrays that a call needs, by tracemalloc."""

import tracemalloc
from collections.abc import Callable, Sequence
from types import FrameType

from ipyjaxbench.device import MemoryMeter, MemoryPeak
from ipyjaxbench.usercode import CodeLine, LineTrace, innermost_line

_IN_USE = "tracemalloc is on: tracemalloc.stop() first, since its peak would be reset"


class TracedMemory(MemoryMeter):
    """What `tracemalloc` counts: it is started for these calls alone, so its peak is nobody's."""

    def measure(self, call: Callable[[], object]) -> Sequence[MemoryPeak]:
        """Make two calls, the first so that what the second frees is known too."""
        __tracebackhide__ = True
        if tracemalloc.is_tracing():
            return (MemoryPeak("", "host", "tracemalloc", reason=_IN_USE),)
        tracemalloc.start(1)
        try:
            call()
            highest = _Highest()
            with LineTrace(highest.next_line):
                value = call()
                highest.next_line(None)
            left, _ = tracemalloc.get_traced_memory()
            del value
        finally:
            tracemalloc.stop()
        peak = max(highest.bytes - highest.before, 0)
        left = min(max(left - highest.before, 0), peak)
        return (MemoryPeak("", "host", "tracemalloc", peak, left, line=highest.line),)


class _Highest:
    """The highest peak of those that tracemalloc saw line by line, and its line."""

    def __init__(self) -> None:
        self._runs: CodeLine | None = None
        self._at: CodeLine | None = None
        self.before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        self.bytes = self.before

    def next_line(self, frame: FrameType | None) -> None:
        """Look at the peak of the line that has ended, and begin with the next one."""
        _, peak = tracemalloc.get_traced_memory()
        if peak > self.bytes:
            self.bytes, self._at = peak, self._runs
        self._runs = innermost_line(frame)
        tracemalloc.reset_peak()

    @property
    def line(self) -> str:
        """The line of the highest peak, in words; empty if no line was told."""
        return self._at.words() if self._at else ""
