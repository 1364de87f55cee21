"""The most memory that some code needed at once, and of what."""

from dataclasses import dataclass, replace
from typing import Literal

from ipyjaxbench import units
from ipyjaxbench.record_types import NonNegativeInt

#: Where a figure comes from, in words.
_SOURCES = {
    "allocator": "counted by {framework}'s allocator",
    "plan": "the compiler's plan",
    "tracemalloc": "counted by tracemalloc",
    "counter": "the highest that {framework}'s allocator counted",
}


@dataclass(frozen=True)
class MemoryPeak:
    """The most memory that some code needed at once, in one place.

    Attributes:
        framework: whose memory it is; empty for that of the whole process.
        place: the device, such as "cuda:0"; "host" for the memory of Python and NumPy.
        source: what the figure comes from: an allocator's events, the compiler's plan, the peak
            that a device's counter rose to, tracemalloc, samples of the process's resident memory,
            or the highest resident memory that the kernel saw.
        peak: bytes beyond what was in use before; None if unknown.
        left: bytes of these that were still in use at the end: results, and what was kept.
        before: bytes in use before; for a plan, the bytes of the arguments; None if unknown.
        line: the line of the user's code that ran at the peak, in words; empty if unknown.
        reason: why the peak is unknown, in words; empty if it is known.
        curve: bytes in use over time, where they were sampled.
    """

    framework: str
    place: str
    source: Literal["allocator", "plan", "counter", "tracemalloc", "process", "highest"]
    peak: NonNegativeInt | None = None
    left: NonNegativeInt | None = None
    before: NonNegativeInt | None = None
    line: str = ""
    reason: str = ""
    curve: tuple[NonNegativeInt, ...] = ()

    @property
    def between(self) -> int | None:
        """Bytes at the peak that were no longer in use at the end; None if unknown."""
        if self.peak is None or self.left is None:
            return None
        return max(self.peak - self.left, 0)

    def in_code(self, text: str) -> "MemoryPeak":
        """Return it without a line that says nothing, since the code has only one."""
        is_said = ", in " in self.line or " of " in self.line or "\n" in text.strip()
        return self if is_said else replace(self, line="")

    def words(self) -> str:
        """Return the row of a report.

        Example:
            >>> MemoryPeak("torch", "cuda:0", "allocator", 300, 100, line="line 2, in f").words()
            "300 B on cuda:0, of which 200 B in values between (line 2, in f); counted by torch's allocator"
        """  # noqa: E501  one line of a report
        where = "" if self.place in ("host", "") else f" on {self.place}"
        if self.peak is None:
            return f"unknown{where}: {self.reason}"
        if self.source in ("process", "highest"):
            return self._of_process(units.size(self.peak))
        at = f" ({self.line})" if self.line else ""
        source = _SOURCES[self.source].format(framework=self.framework)
        return f"{units.size(self.peak)}{where}{self._parts()}{at}; {source}{self._beyond()}"

    def _of_process(self, size: str) -> str:
        """Return what resident memory shows: not what was taken of memory that Python kept."""
        # Samples show where Python was; what it had begun before may still have run.
        at = f" while {self.line} ran" if self.line else ""
        left = units.size(self.left or 0) if self.left else "none"
        return (
            f"at least {size}{at}: so much more resident memory, {left} of it still there at the"
            " end; memory that was kept and used again is not seen"
        )

    def _parts(self) -> str:
        if not self.peak or self.between is None:
            return ""
        between, peak = units.size(self.between), units.size(self.peak)
        if not self.between:
            return ", all of it still in use at the end"
        share = "all of it" if between == peak else f"of which {between}"
        return f", {share} in values between"

    def _beyond(self) -> str:
        if self.before is None:
            return ""
        what = "arguments" if self.source == "plan" else "in use before"
        of = " of" if self.source == "plan" else ""
        return f", beyond {units.size(self.before)}{of} {what}" if self.before else ""

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        return None if (self.peak is None) == bool(self.reason) else "a peak without a figure"
