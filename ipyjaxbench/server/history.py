"""``api/history``: what matches a query, in its order."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ipyjaxbench.host import Clock
from ipyjaxbench.records import EntryHead
from ipyjaxbench.server.measured import describe_change, describe_measured
from ipyjaxbench.server.query import HistoryQuery
from ipyjaxbench.server.series import AllSeries, Kept

_MAX_NAMES = 200  # to filter by


def find(series: AllSeries, query: HistoryQuery) -> list[Kept]:
    """Return all that match, in the order that is asked for."""
    now = Clock.calendar().now() * 1e-9
    matching: Sequence[Kept] = series.newest_first
    if query.series:
        matching = series.runs(query.series)[::-1]
    for rule in _rules(query, now):
        matching = [kept for kept in matching if rule(kept[1])]
    if query.newest:
        newest: dict[str, Kept] = {}
        for kept in matching:
            newest.setdefault(series.key(kept[0]), kept)
        matching = [*newest.values()]
    orders: dict[str, Callable[[Kept], Any]] = {
        "regressions": lambda kept: -_slowdown(series, kept, len(matching)),
        "name": lambda kept: kept[1].name.casefold(),
        "time": lambda kept: -kept[1].headline.value,
    }
    # Sorting keeps the newest first among equals.
    return sorted(matching, key=orders[query.sort]) if query.sort in orders else list(matching)


def describe_page(series: AllSeries, matching: list[Kept], query: HistoryQuery) -> dict[str, Any]:
    """Return the part of what matches that is asked for, and what one can filter by."""
    page = matching[query.offset : query.offset + query.limit]
    return {
        "measured": [
            describe_measured(
                own_id, head, series.before(own_id), series.trend(own_id), max(len(matching), 1)
            )
            for own_id, head in page
        ],
        "found": len(matching),
        "kept": len(series.newest_first),
        "offset": query.offset,
        "names": _names(series),
    }


def _rules(query: HistoryQuery, now: float) -> Iterator[Callable[[EntryHead], bool]]:
    """Yield what a measurement has to be."""
    since, until = query.moments(now)
    if query.since or query.until:
        yield lambda head: since <= head.when < until
    if query.text:
        text = query.text.casefold()
        yield lambda head: text in head.name.casefold() or text in head.code.casefold()
    if query.notebook:
        yield lambda head: head.where.notebook.endswith(query.notebook)
    if query.framework:
        yield lambda head: query.framework in head.environment.frameworks
    if query.device:
        yield lambda head: any(query.device in d for d in head.environment.devices)


def _slowdown(series: AllSeries, kept: Kept, among: int) -> float:
    """Return how many times as long it surely takes as before; 0 where it is not surely slower."""
    change = describe_change(series.before(kept[0]), kept[1], among)
    if change is None or change["verdict"] != "SLOWER":
        return 0.0
    low: float = change["low"] or 0.0
    return low if math.isfinite(low) else 0.0


def _names(series: AllSeries) -> dict[str, list[str]]:
    places = dict.fromkeys(head.where.notebook for _, head in series.newest_first)
    around = [head.environment for _, head in series.newest_first]
    # Most have the same: names are taken apart once for each set of them.
    frameworks = {name for names in {tuple(each.frameworks) for each in around} for name in names}
    devices = {name for names in {each.devices for each in around} for name in names}
    return {
        "notebooks": [name for name in places if name][:_MAX_NAMES],
        "frameworks": sorted(frameworks)[:_MAX_NAMES],
        "devices": sorted(devices)[:_MAX_NAMES],
    }
