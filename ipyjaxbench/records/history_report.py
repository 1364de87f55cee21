"""The report of the history: a table, the newest first, and a picture over time."""

import math
from collections.abc import Iterator
from datetime import datetime

from ipyjaxbench import units
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.history import History
from ipyjaxbench.reports import Axis, Block, Chart, Facts, Headline, Report, Series, Table, report

_MAX_SERIES = 8  # of a picture
_MAX_NAME, _MAX_VERSIONS = 16, 20  # characters


@report.register
def _(h: History) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(h)]
    if h.entries:
        blocks += [_table(h), *(_pictures(h) if h.plotted else ())]
    return Report((*blocks, *_facts(h)))


def _headline(h: History) -> Headline:
    shown = units.count(len(h.entries), "measurement")
    detail = f"of {h.found:,} that match, " if h.found not in (len(h.entries), h.kept) else ""
    detail += f"of {h.kept:,} kept" if h.kept != len(h.entries) else "all that are kept"
    if not h.kept:
        nothing = "is kept yet: what %fwtime and %%fwcompare measure will be"
        return Headline("history", "nothing", nothing, "", "")
    return Headline("history", shown, detail, "", "")


def _table(h: History) -> Table:
    head = ("measured", "when", "per call", "on", "with")
    return Table("", head, tuple(_row(entry, h.now) for entry in h.entries), folded=False)


def _row(entry: HistoryEntry, now: float) -> tuple[str, ...]:
    around = entry.environment
    others = [n for n in around.frameworks if n not in ("python", "numpy")]
    name = next(iter(others or around.frameworks), "")
    version = f"{name} {around.frameworks[name]}" if name else f"python {around.python}"
    both = f"{version} {around.revision[:7]}".strip()
    figure = entry.figure.words()
    if entry.figure.verdict in ("INVALID", "RECOMPILES", "ONCE"):
        figure = f"{units.duration(entry.median)} {entry.figure.verdict}"
    return (
        entry.name,
        moment(entry.when, now),
        figure,
        ", ".join(around.devices[:2]) + (" …" if len(around.devices) > 2 else ""),
        both if len(both) <= _MAX_VERSIONS else version,
    )


def moment(when: float, now: float) -> str:
    """Return a moment in local time; the year stands where it is another one."""
    try:
        then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    except (OverflowError, OSError, ValueError):  # of a forged record
        return "?"
    return then.strftime("%b %d %H:%M" if then.year == today.year else "%Y-%m-%d")


def _pictures(h: History) -> Iterator[Chart]:
    """Yield the median over time of the names that have two of them at least."""
    by_name: dict[str, list[HistoryEntry]] = {}
    for entry in reversed(h.entries):
        if entry.median > 0:
            by_name.setdefault(entry.name, []).append(entry)
    lines = {name: some for name, some in by_name.items() if len(some) > 1}
    if not lines:
        return
    drawn = dict(sorted(lines.items(), key=lambda line: -len(line[1]))[:_MAX_SERIES])
    series = tuple(
        Series(units.cut(name, _MAX_NAME), tuple(map(_point, some))) for name, some in drawn.items()
    )
    yield Chart(Axis("measured", "date", log=False), Axis("time per call", "s"), series)


def _point(entry: HistoryEntry) -> tuple[float, float, float, float]:
    low, high = entry.interval
    median = entry.median
    # Where it is not known how sure a figure is, it stands for itself.
    return (entry.when, median, low or median, median if math.isinf(high) else high)


def _facts(h: History) -> Iterator[Block]:
    rows = []
    if h.removed is not None:
        count, entries = h.removed
        removed = f"{units.count(entries, 'measurement')} in {units.count(count, 'file')}"
        rows.append(("removed", removed))
    if h.unread:
        lines = units.count(sum(h.unread.values()), "line")
        files = ", ".join(list(h.unread)[:3]) + (" …" if len(h.unread) > 3 else "")
        rows.append(("left out", f"{lines} that could not be read, in {files}"))
    if h.trouble:
        rows.append(("not kept", f"what this session measures: {h.trouble}"))
    if h.plotted and not any(_pictures(h)):
        rows.append(("plot", "there are no two measurements of one name to draw over time"))
    if rows:
        yield Facts(tuple(rows))
