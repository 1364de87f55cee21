"""A profiler's clock held against ours: moments that both have seen."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from ipyjaxbench.host import Clock

MARK = "ipyjaxbench mark"
_MARKS = 5  # the first may take a millisecond


class ClockMarks:
    """Makes marks in a profile, and finds from them how the clocks differ.

    Args:
        mark: makes an event of this name while it is entered.
    """

    def __init__(self, mark: Callable[[str], AbstractContextManager[object]]) -> None:
        self._mark = mark
        self._readings: list[tuple[int, int]] = []

    def make(self) -> None:
        """Make marks, between two readings of our clock each."""
        wall = Clock.elapsed().wall
        for _ in range(_MARKS):
            before = wall()
            with self._mark(MARK):
                pass
            self._readings.append((before, wall()))

    def offset(self, seen: Iterable[tuple[float, float]]) -> float | None:
        """Return what a time on the profiler's clock lacks to one on ours, in nanoseconds.

        It is that of the quickest mark, whose middle both clocks have seen (as in NTP, RFC 5905).

        Args:
            seen: begin and end of each mark, on the profiler's clock.

        Returns:
            The offset; None where not all marks were seen.

        Example:
            >>> from contextlib import nullcontext
            >>> marks = ClockMarks(lambda name: nullcontext())
            >>> marks._readings = [(1000, 1900), (2000, 2040)]
            >>> marks.offset([(10, 20), (1015, 1025)])
            1000.0
        """
        ordered = sorted(seen)
        if not ordered or len(ordered) != len(self._readings):
            return None
        pairs = zip(self._readings, ordered, strict=True)
        ours, theirs = min(pairs, key=lambda pair: pair[0][1] - pair[0][0])
        return (sum(ours) - sum(theirs)) / 2
