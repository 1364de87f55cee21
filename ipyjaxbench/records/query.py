"""Looks up what was measured before, on this machine and on others that share its home."""

from collections.abc import Callable, Iterator, Sequence

from ipyjaxbench.host import Clock
from ipyjaxbench.records.entry import HistoryEntry, Location
from ipyjaxbench.records.history import History
from ipyjaxbench.records.options import HistoryOptions
from ipyjaxbench.records.store import make_contents, prune_store, read_store


def query_history(
    options: HistoryOptions,
    here: Location,
    trouble: str = "",
    *,
    among: Sequence[HistoryEntry] | None = None,
) -> History:
    """Return what the options ask for, after removing what is older than they say.

    Args:
        options: which measurements.
        here: where they are asked for.
        trouble: why those of this session are not kept; empty where they are.
        among: measurements of a file; None for those of the history.
    """
    removed = None if options.prune is None else prune_store(options.prune)
    store = read_store() if among is None else make_contents(among)
    now = Clock.calendar().now() * 1e-9
    rules = list(_rules(options, here, now))
    matching = [entry for entry in store.entries if all(rule(entry) for rule in rules)]
    return History(
        entries=tuple(matching if options.last is None else matching[: options.last]),
        found=len(matching),
        kept=len(store.entries),
        now=now,
        unread=store.unread,
        trouble=trouble,
        plotted=options.plot,
        removed=removed,
    )


def _rules(
    options: HistoryOptions, here: Location, now: float
) -> Iterator[Callable[[HistoryEntry], bool]]:
    """Yield what an entry has to be."""
    if options.text:
        text = options.text.casefold()
        yield lambda e: any(text in each.casefold() for each in (e.name, e.label, e.code))
    if options.since is not None:
        since = now - options.since
        yield lambda e: e.when >= since
    if options.framework is not None:
        yield lambda e: options.framework in e.environment.frameworks
    if options.here and here.notebook:
        yield lambda e: e.where.notebook == here.notebook
    elif options.here:
        yield lambda e: e.where.directory == here.directory
