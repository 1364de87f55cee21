"""The report of the history: a table, newest first, and a chart over time."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from ipyjaxbench import units
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.history import History
from ipyjaxbench.reports import (
    Axis,
    Block,
    Chart,
    Details,
    Facts,
    Footer,
    Headline,
    Mark,
    Report,
    Series,
    Table,
    report,
    sparkline,
)
from ipyjaxbench.timing import MEDIAN_AND_RERUN, name_column

_MAX_SERIES, _MAX_MARKS = 8, 6  # of a chart
_MAX_VERSION = 20  # characters
_MAX_LEFT_OUT = 6  # names
_MIN_TREND = 3  # measurements of a name
_CLOCKS = {"cpu": " (CPU time)", "calendar": " (time.time)"}


@report.register
def _(h: History) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(h)]
    lines = _lines(h)
    charts = tuple(_charts(lines))
    if h.entries:
        if h.plotted:
            blocks += charts
        varying, footer = _columns(h)
        blocks.append(_table(h, varying))
        if charts and not h.plotted:
            blocks.append(Details("over time", charts, printed=False))
        blocks += [*_facts(h, lines), Footer(footer)]
    else:
        blocks += _facts(h, lines)
    return Report(tuple(blocks))


def _headline(h: History) -> Headline:
    if not h.kept:
        return Headline("", "no measurements", "yet: %fwtime and %%fwcompare save theirs", "", "")
    if not h.found:
        return Headline("", "no measurement matches", f"of {h.kept:,} in the history", "", "")
    shown = units.count(len(h.entries), "measurement")
    detail = f"of {h.found:,} that match, " if h.found not in (len(h.entries), h.kept) else ""
    detail += f"of {h.kept:,} in the history" if h.kept != len(h.entries) else "in the history"
    return Headline("", shown, detail, "", "")


_Cell = Callable[[HistoryEntry], str]


def _columns(h: History) -> tuple[dict[str, _Cell], tuple[str, ...]]:
    """Return the columns in which rows differ, and what is the same in all rows."""
    cells: dict[str, _Cell] = {"device": _device, "version": _version, "git": _revision}
    values = {name: {cell(entry) for entry in h.entries} for name, cell in cells.items()}
    varying = {name: cell for name, cell in cells.items() if len(values[name]) > 1}
    same = [values[name].copy().pop() for name in cells if name not in varying]
    if same and "git" not in varying and same[-1]:
        same[-1] = f"git {same[-1]}"
    return varying, tuple(same)


def _table(h: History, columns: dict[str, _Cell]) -> Table:
    by_name = _by_name(h)
    newest = {id(some[-1]): some for some in by_name.values() if len(some) >= _MIN_TREND}
    times = name_column(each.headline for each in h.entries if not _has_word(each))
    rows = []
    for entry in h.entries:
        trend = sparkline([each.median for each in newest.get(id(entry), ())])
        cells = [cell(entry) for cell in columns.values()]
        shown = _figure(entry, times)
        rows.append((_name(entry), shown, trend, moment(entry.when, h.now), *cells))
    head = ("name", times, "trend", "measured", *columns)
    if not newest:
        head, rows = (*head[:2], *head[3:]), [(*row[:2], *row[3:]) for row in rows]
    return Table("", head, tuple(rows), folded=False)


def _by_name(h: History) -> dict[str, list[HistoryEntry]]:
    """Return the entries by name, the oldest first."""
    by_name: dict[str, list[HistoryEntry]] = {}
    for entry in reversed(h.entries):
        if entry.median > 0:
            by_name.setdefault(_name(entry), []).append(entry)
    return by_name


def _name(entry: HistoryEntry) -> str:
    """Return its name, with the clock where that is another one: such times do not compare."""
    return entry.name + _CLOCKS.get(entry.clock, "")


def _figure(entry: HistoryEntry, head: str) -> str:
    if _has_word(entry):
        return f"{units.duration(entry.headline.value)} {entry.figure.verdict}"
    return entry.headline.cell(head=head)


def _has_word(entry: HistoryEntry) -> bool:
    """Whether its verdict stands in place of what the figure is."""
    return entry.figure.verdict in ("INVALID", "RECOMPILES", "ONCE")


def _device(entry: HistoryEntry) -> str:
    devices = entry.environment.devices
    return ", ".join(devices[:2]) + (" …" if len(devices) > 2 else "")


def _version(entry: HistoryEntry) -> str:
    around = entry.environment
    others = [n for n in around.frameworks if n not in ("python", "numpy")]
    name = next(iter(others or around.frameworks), "")
    version = f"{name} {around.frameworks[name]}" if name else f"python {around.python}"
    return units.cut(version, _MAX_VERSION)


def _revision(entry: HistoryEntry) -> str:
    return entry.environment.revision[:7]


def moment(when: float, now: float) -> str:
    """Return a moment in local time; the year stands where it is another one."""
    try:
        then, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    except (OverflowError, OSError, ValueError):  # of a forged record
        return "?"
    return then.strftime("%b %d %H:%M" if then.year == today.year else "%Y-%m-%d")


def _lines(h: History) -> dict[str, list[HistoryEntry]]:
    """Return the entries of each name that has at least two, those with most of them first."""
    lines = {name: some for name, some in _by_name(h).items() if len(some) > 1}
    return dict(sorted(lines.items(), key=lambda line: -len(line[1])))


def _charts(lines: Mapping[str, Sequence[HistoryEntry]]) -> Iterator[Chart]:
    """Yield the medians over time."""
    if not lines:
        return
    drawn = dict(itertools.islice(lines.items(), _MAX_SERIES))
    series = tuple(Series(name, tuple(map(_point, some))) for name, some in drawn.items())
    axes = Axis("measured", "date", log=False), Axis(f"{MEDIAN_AND_RERUN}, per call", "s")
    yield Chart(*axes, series, tuple(_marks([*drawn.values()])))


def _marks(lines: Sequence[Sequence[HistoryEntry]]) -> Iterator[Mark]:
    """Yield when versions, devices, the machine or the revision changed between two of a line."""
    changes: dict[str, float] = {}
    for line in lines:
        for before, after in pairwise(line):
            for change in before.environment.changes(after.environment):
                changes[change] = min(after.when, changes.get(change, math.inf))
    newest = sorted(changes.items(), key=lambda change: change[1])[-_MAX_MARKS:]
    by_moment: dict[float, list[str]] = {}
    for change, when in newest:
        by_moment.setdefault(when, []).append(change)
    yield from (Mark(when, ", ".join(words)) for when, words in by_moment.items())


def _point(entry: HistoryEntry) -> tuple[float, float, float, float]:
    return (entry.when, entry.median, *entry.figure.estimate.ends)


def _facts(h: History, lines: Mapping[str, Sequence[HistoryEntry]]) -> Iterator[Block]:
    rows = []
    if h.removed is not None:
        count, entries = h.removed
        removed = f"{units.count(entries, 'measurement')} in {units.count(count, 'file')}"
        rows.append(("removed", removed))
    if h.unread:
        broken = units.count(sum(h.unread.values()), "line")
        files = ", ".join(list(h.unread)[:3]) + (" …" if len(h.unread) > 3 else "")
        rows.append(("unreadable", f"{broken} in {files}"))
    if h.trouble:
        rows.append(("not saved", f"measurements of this session: {h.trouble}"))
    if h.plotted and not lines:
        rows.append(("plot", _why_no_line(h)))
    elif h.plotted and len(lines) > _MAX_SERIES:
        rows.append(("plot", _left_out([*lines])))
    if rows:
        yield Facts(tuple(rows))


def _why_no_line(h: History) -> str:
    if len(h.entries) < h.found:
        return (
            "nothing to draw: no name has two measurements among those shown. Show more, for"
            " example with --last 200"
        )
    return "nothing to draw: no name has two measurements"


def _left_out(names: Sequence[str]) -> str:
    """Say which names are not drawn, and how to draw them."""
    rest = names[_MAX_SERIES:]
    named = ", ".join(rest[:_MAX_LEFT_OUT]) + (", …" if len(rest) > _MAX_LEFT_OUT else "")
    return (
        f"{_MAX_SERIES} of {len(names)} names, those with the most measurements; without {named}."
        " A part of a name, as in %fwhistory --plot NAME, draws these"
    )
