"""Measurements that were kept, as they were found in the store."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, overload

from ipyjaxbench.record_types import Moment, NonNegativeInt
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.reports import Result


@dataclass(frozen=True, repr=False)
class History(Result, Sequence[HistoryEntry]):
    """Saved measurements, newest first.

    Attributes:
        entries: the measurements that match.
        found: how many match, including older ones not in ``entries``.
        kept: how many are saved in all.
        now: time of this report, in seconds since 1970.
        unread: files with unreadable lines: name and number of lines.
        trouble: why this session's measurements are not saved; empty if they are.
        plotted: whether the report draws them over time.
        removed: deleted files and measurements; None without ``--prune``.

    Example:
        >>> # [entry.median for entry in history("softmax", since="7d")]
    """

    kind: ClassVar[str] = "history"

    entries: tuple[HistoryEntry, ...]
    found: NonNegativeInt
    kept: NonNegativeInt
    now: Moment
    unread: dict[str, NonNegativeInt] = field(default_factory=dict)
    trouble: str = ""
    plotted: bool = False
    removed: tuple[NonNegativeInt, NonNegativeInt] | None = None

    def __len__(self) -> int:
        """How many were asked for."""
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> HistoryEntry: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[HistoryEntry, ...]: ...

    def __getitem__(self, index: int | slice) -> HistoryEntry | tuple[HistoryEntry, ...]:
        """One of them, or some; 0 is the newest."""
        return self.entries[index]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measurement, newest first; times per call in seconds."""
        return [entry.row() for entry in self.entries]

    def __repr__(self) -> str:
        """One line."""
        return f"<History of {len(self.entries)} of {self.kept} measurements>"

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        if not len(self.entries) <= self.found <= self.kept:
            return "it holds more entries than were found, or more were found than are kept"
        return next((wrong for entry in self.entries if (wrong := entry.check())), None)
