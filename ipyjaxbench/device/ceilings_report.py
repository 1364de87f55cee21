"""How ceilings are told: a column for each framework and device, a row for each figure."""

from collections.abc import Callable, Iterator

from ipyjaxbench import units
from ipyjaxbench.device.ceilings import Ceiling, Ceilings
from ipyjaxbench.reports import Facts, Headline, Report, Table, report

_NOT_TOLD = "-"
_TOLD = 0.1  # share of the CPUs: from then on it matters
_COLUMNS = 4  # that fit into 80 characters


@report.register
def _(c: Ceilings) -> Report:
    """Return the blocks in the order in which they are read."""
    parts = (c.found[first : first + _COLUMNS] for first in range(0, len(c.found), _COLUMNS))
    return Report((_headline(c), *map(_table, parts), Facts(tuple(_facts(c)))))


def _headline(c: Ceilings) -> Headline:
    verdict, detail = "KEPT", "kept (--fresh measures anew)"
    if c.seconds:
        verdict, detail = "MEASURED", f"measured in {units.duration(c.seconds, 2)}"
    if not c.found:
        verdict, detail = "NOTHING", "nothing has started (--start)"
    count = units.count(len(c.found), "ceiling")
    return Headline("%fwdevices --peak", count, detail, verdict, "")


def _table(found: tuple[Ceiling, ...]) -> Table:
    dtypes = dict.fromkeys(dtype for each in found for dtype in each.products)
    rows = [
        (f"{dtype} product", *(_rate(each.products.get(dtype)) for each in found))
        for dtype in dtypes
    ]
    rows += [(label, *map(figure, found)) for label, figure in _ROWS.items()]
    heads = (f"{each.framework} {each.device}" for each in found)
    filled = tuple(row for row in rows if any(cell != _NOT_TOLD for cell in row[1:]))
    return Table("at most, by framework and device", ("", *heads), filled, folded=False)


def _rate(flops: float | None) -> str:
    return _NOT_TOLD if flops is None else units.flops(flops, "/s")


def _bytes(rate: float | None) -> str:
    return _NOT_TOLD if rate is None else units.bandwidth(rate)


def _latency(seconds: float | None) -> str:
    return _NOT_TOLD if seconds is None else units.duration(seconds)


_ROWS: dict[str, Callable[[Ceiling], str]] = {
    "memory": lambda c: _bytes(c.bandwidth),
    "host to device": lambda c: _bytes(c.upload),
    "device to host": lambda c: _bytes(c.download),
    "smallest operation": lambda c: _latency(c.latency),
}


def _facts(c: Ceilings) -> Iterator[tuple[str, str]]:
    for each in c.found:
        threads = units.count(each.threads, "thread") if each.threads else ""
        when = (
            f"measured {units.ago(c.now - each.taken)}, looks agree to {units.percent(each.spread)}"
        )
        parts = (each.kind, threads, each.settings, when)
        yield f"{each.framework} {each.version}", ", ".join(filter(None, parts))
        if each.others > _TOLD:
            took = f"other programs took {units.percent(each.others)} of the CPUs meanwhile"
            kept = ": it can do more, and this is not kept" if each.is_disturbed else ""
            yield "", f"{took}{kept}. --peak --fresh measures again, on a quiet machine"
    shared = [each for each in c.found if each.upload is None and each.download is None]
    if shared:
        names = ", ".join(f"{each.framework} {each.device}" for each in shared)
        yield "copies", f"none to {names}: arrays are in the host's memory"
    for words in c.words:
        yield "", words
