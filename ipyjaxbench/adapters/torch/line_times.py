"""When which line of the user's code ran, on the clock of PyTorch's profiler."""

from bisect import bisect
from collections.abc import Iterable
from types import FrameType

import torch

from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import CodeLine, LineTrace, innermost_line

_MAX_LINES = 500_000  # recorded at most; longer calls have no line


class LineTimes:
    """Records when lines begin while it is open; `align` learns how the profiler's clock differs.

    That clock is computed from a counter of the CPU, and may be off by more than a line takes.
    """

    def __init__(self) -> None:
        self._now = Clock.calendar().now
        self._begun: list[int] = []
        self._lines: list[CodeLine | None] = []
        self._trace = LineTrace(self._next_line)
        self._least, self._most = 1, 0  # by how much the profiler's clock is ahead of ours

    def __enter__(self) -> "LineTimes":
        self._trace.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._trace.__exit__()

    def mark(self, name: str) -> range:
        """Let the profiler record a moment; return it by our clock."""
        start = self._now()
        with torch.autograd.profiler.record_function(name):
            end = self._now()
        return range(start, end + 1)

    def align(self, marks: Iterable[tuple[range, int]]) -> None:
        """Learn how far apart the clocks are, from moments by ours and by the profiler's."""
        known = [*marks]
        self._least = max(theirs - ours.stop for ours, theirs in known)
        self._most = min(theirs - ours.start for ours, theirs in known)

    def at(self, ns: int) -> str:
        """Return the line that ran then by the profiler's clock, in words; "" if that is unsure."""
        if self._least > self._most or len(self._begun) >= _MAX_LINES:
            return ""
        first, last = (bisect(self._begun, ns - ahead) - 1 for ahead in (self._most, self._least))
        lines = {self._lines[number] for number in range(first, last + 1) if number >= 0}
        line = lines.pop() if len(lines) == 1 and first >= 0 else None
        return line.words() if line else ""

    def _next_line(self, frame: FrameType) -> None:
        if len(self._begun) < _MAX_LINES:
            self._begun.append(self._now())
            self._lines.append(innermost_line(frame))
