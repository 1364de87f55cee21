"""What is known of a program that was looked for in the cache on disk, and not found there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ipyjaxbench.record_types import Moment

DISK_MISS = "DISK-MISS"
#: Cause -> what it means; "differs" says itself in what.
CAUSES = {
    "first": "the cache folder has no entry for this function",
    "types": "the cache folder has no entry for these argument types",
    "differs": "",
    "gone": "is gone from the cache folder",
    "unread": "is there, but could not be read",
    "unobserved": "unknown: its entries were made while ipyjaxbench did not look",
    "folder": "the cache folder cannot be used",
    "?": "unknown",
}
Cause = Literal["first", "types", "differs", "gone", "unread", "unobserved", "folder", "?"]


@dataclass(frozen=True)
class Difference:
    """A part of the key under which a program is kept, other than that of an entry."""

    part: str  # as in "XLA flags"
    details: str  # what of it, as in "--xla_cpu_use_onednn=true is new"; "" where it is not known


@dataclass(frozen=True)
class DiskMiss:
    """A program that a cache on disk did not have.

    Attributes:
        program: its name.
        when: the moment of the search.
        cause: why it was not found, one of `CAUSES`.
        differences: from the entry that is nearest to it.
        entry: the moment when that was made, or the one that is gone; None if there is none.
        details: more on the cause, such as the folder's error.
        not_kept: why it was not kept for the next time, such as "below 1 s"; "" if it was.
    """

    program: str
    when: Moment
    cause: Cause
    differences: tuple[Difference, ...] = ()
    entry: Moment | None = None
    details: str = ""
    not_kept: str = ""

    @property
    def is_news(self) -> bool:
        """Whether it is more than that something is compiled for the first time."""
        return self.cause not in ("first", "types")

    def words(self) -> str:
        """Return the reason in one line.

        Example:
            >>> flag = Difference("XLA flags", "--xla_cpu_use_onednn=true is new")
            >>> DiskMiss("f", 5e8, "differs", (flag,), 4.99e8).words()
            'XLA flags differ from the entry of 24 October (--xla_cpu_use_onednn=true is new)'
            >>> DiskMiss("f", 5e8, "first", not_kept="below 1 s").words()
            'the cache folder has no entry for this function; not cached: below 1 s'
        """
        reason = self._reason()
        return f"{reason}; not cached: {self.not_kept}" if self.not_kept else reason

    def _reason(self) -> str:
        if self.cause == "differs":
            return self._compared()
        words = CAUSES[self.cause]
        if self.cause in ("gone", "unread"):
            words = f"the entry of {self._date()} {words}"
        return f"{words}: {self.details}" if self.details else words

    def _compared(self) -> str:
        parts = self.differences
        if len(parts) == 1:
            of = f" ({parts[0].details})" if parts[0].details else ""
            verb = "differ" if parts[0].part.endswith("s") else "differs"
            return f"{parts[0].part} {verb} from the entry of {self._date()}{of}"
        named = [f"{each.part} ({each.details})" if each.details else each.part for each in parts]
        names = f"{', '.join(named[:-1])} and {named[-1]}"
        return f"{names} differ from the entry of {self._date()}"

    def _date(self) -> str:
        """Return the day of the entry, or its time on the day of the search."""
        try:
            made, now = datetime.fromtimestamp(self.entry or 0.0), datetime.fromtimestamp(self.when)
        except (OverflowError, OSError, ValueError):  # of a forged record
            return "?"
        if made.date() == now.date():
            return f"{made:%H:%M} today"
        return f"{made.day} {made:%B}{'' if made.year == now.year else f' {made.year}'}"
