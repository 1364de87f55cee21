"""Measurements that were kept, as they were found in the store."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, overload

from ipyjaxbench.records.entry import Past
from ipyjaxbench.reports.result import Result


@dataclass(frozen=True, repr=False)
class History(Result, Sequence[Past]):
    """Measurements that were kept, the newest first.

    Attributes:
        entries: those that were asked for.
        found: how many there are, with older ones that were not asked for.
        kept: how many there are in all.
        now: when it was read, in seconds since 1970.
        unread: for each file with lines that could not be read, its name and how many.
        trouble: why those of this session are not kept; empty where they are.
        plotted: whether they are to be drawn over time.
        removed: how many files were, and how many measurements in them; None where no age was told.

    Example:
        >>> # [entry.median for entry in history("softmax", since="7d")]
    """

    kind: ClassVar[str] = "history"

    entries: tuple[Past, ...]
    found: int
    kept: int
    now: float
    unread: dict[str, int] = field(default_factory=dict)
    trouble: str = ""
    plotted: bool = False
    removed: tuple[int, int] | None = None

    def __len__(self) -> int:
        """How many were asked for."""
        return len(self.entries)

    def __iter__(self) -> Iterator[Past]:
        """The newest first."""
        return iter(self.entries)

    @overload
    def __getitem__(self, index: int) -> Past: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Past, ...]: ...

    def __getitem__(self, index: int | slice) -> Past | tuple[Past, ...]:
        """One of them, or some; 0 is the newest."""
        return self.entries[index]

    def __repr__(self) -> str:
        """One line."""
        return f"<History of {len(self.entries)} of {self.kept} measurements>"

    def check(self) -> str | None:
        """Why these facts cannot be true, in words; None where they can."""
        counts = [self.kept - self.found, self.found - len(self.entries), *self.unread.values()]
        counts += self.removed or ()
        if any(count < 0 for count in counts) or not 0 <= self.now < math.inf:
            return "a count or a time is negative"
        return next((wrong for entry in self.entries if (wrong := entry.check())), None)
