"""What was measured before, on this machine and on others that share its home."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, overload

from ipyjaxbench.host.clock import Clock
from ipyjaxbench.records import history_report, store
from ipyjaxbench.records.entry import Past, Where
from ipyjaxbench.records.options import HistoryOptions
from ipyjaxbench.records.store import Kept
from ipyjaxbench.reports.blocks import Report
from ipyjaxbench.reports.result import Result

#: Verdicts on figures that another one can be held against.
_SOUND = ("QUIET", "OK", "NOISY", "FEW")


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

    def report(self) -> Report:
        """What was measured before, the newest first."""
        return history_report.report(self)


def look(asked: HistoryOptions, here: Where, trouble: str = "") -> History:
    """Remove what is older than was asked for, read the store, and take what was asked for.

    Args:
        asked: which of them.
        here: where it was asked.
        trouble: why those of this session are not kept; empty where they are.
    """
    removed = None if asked.prune is None else store.prune(asked.prune)
    kept, now = store.read(), Clock.calendar().now() * 1e-9
    rules = list(_rules(asked, here, now))
    found = [entry for entry in kept.entries if all(rule(entry) for rule in rules)]
    return History(
        entries=tuple(found if asked.last is None else found[: asked.last]),
        found=len(found),
        kept=len(kept.entries),
        now=now,
        unread=kept.unread,
        trouble=trouble,
        plotted=asked.plot,
        removed=removed,
    )


def _rules(asked: HistoryOptions, here: Where, now: float) -> Iterator[Callable[[Past], bool]]:
    """What an entry has to be."""
    if asked.text:
        wanted = asked.text.casefold()
        yield lambda e: wanted in e.name.casefold() or wanted in e.code.casefold()
    if asked.since is not None:
        since = now - asked.since
        yield lambda e: e.when >= since
    if asked.framework is not None:
        yield lambda e: asked.framework in e.environment.frameworks
    if asked.here and here.notebook:
        yield lambda e: e.where.notebook == here.notebook
    elif asked.here:
        yield lambda e: e.where.directory == here.directory


def candidates(kept: Kept, name: str, *, label: str, code: str, clock: str) -> tuple[Past, ...]:
    """The measurements that a name, "last" or "best" may mean.

    Args:
        kept: what is in the store.
        name: as typed behind ``--against``.
        label: of the code that is to be held against it; empty where it has none.
        code: that code.
        clock: that is read for it; figures of another one are none to compare with.

    Returns:
        The newest one of the name, or all of the code that have a figure, the newest first.
    """
    of_clock = [e for e in kept.entries if e.clock == clock and not e.at]
    if name not in ("last", "best"):
        return tuple(e for e in of_clock if e.label == name)[:1]
    same = (e for e in of_clock if (e.label == label if label else e.code == code))
    return tuple(e for e in same if e.figure.verdict in _SOUND)


def chosen_of(found: Sequence[Past], name: str, data: Mapping[str, str]) -> Past | None:
    """The one that is meant.

    Args:
        found: what `candidates` gave.
        name: as typed behind ``--against``.
        data: that the code read now: the last or the best run is one of the same data.
    """
    if name not in ("last", "best"):
        return next(iter(found), None)
    same = [e for e in found if e.environment.data == data]
    return (
        min(same, key=lambda e: e.median, default=None)
        if name == "best"
        else next(iter(same), None)
    )
