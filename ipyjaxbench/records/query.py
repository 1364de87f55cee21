"""Looks up what was measured before, on this machine and on others that share its home."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ipyjaxbench.host import Clock
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry, Location
from ipyjaxbench.records.history import History
from ipyjaxbench.records.options import HistoryOptions
from ipyjaxbench.records.store import StoreContents

#: Verdicts on figures that another one can be held against.
_SOUND = ("QUIET", "OK", "NOISY", "FEW")


def look(asked: HistoryOptions, here: Location, trouble: str = "") -> History:
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


def _rules(
    asked: HistoryOptions, here: Location, now: float
) -> Iterator[Callable[[HistoryEntry], bool]]:
    """Yield what an entry has to be."""
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


def candidates(
    kept: StoreContents, name: str, *, label: str, code: str, clock: str
) -> tuple[HistoryEntry, ...]:
    """Return the measurements that a name, "last" or "best" may mean.

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


def chosen_of(
    found: Sequence[HistoryEntry], name: str, data: Mapping[str, str]
) -> HistoryEntry | None:
    """Return the one that is meant.

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
