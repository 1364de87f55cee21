"""How ceilings are shown: a column for each framework and device, a row for each figure."""

from collections.abc import Callable, Iterator
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.device.ceilings import Ceiling, Ceilings
from ipyjaxbench.reports import Facts, Headline, Report, Table, report

_UNKNOWN = "-"
_SHOWN_SHARE = 0.1  # of the CPUs: from then on it matters
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


def _table(ceilings: tuple[Ceiling, ...]) -> Table:
    rate = partial(units.flops, per="/s")
    dtypes = dict.fromkeys(dtype for each in ceilings for dtype in each.products)
    rows = [
        (f"{dtype} product", *(_cell(each.products.get(dtype), rate) for each in ceilings))
        for dtype in dtypes
    ]
    rows += [(label, *map(figure, ceilings)) for label, figure in _ROWS.items()]
    heads = (f"{each.framework} {each.device}" for each in ceilings)
    filled = tuple(row for row in rows if any(cell != _UNKNOWN for cell in row[1:]))
    return Table("at most, by framework and device", ("", *heads), filled, folded=False)


def _cell(figure: float | None, show: Callable[[float], str]) -> str:
    return _UNKNOWN if figure is None else show(figure)


_ROWS: dict[str, Callable[[Ceiling], str]] = {
    "memory": lambda c: _cell(c.bandwidth, units.bandwidth),
    "host to device": lambda c: _cell(c.upload, units.bandwidth),
    "device to host": lambda c: _cell(c.download, units.bandwidth),
    "smallest operation": lambda c: _cell(c.latency, units.duration),
}


def _facts(c: Ceilings) -> Iterator[tuple[str, str]]:
    for each in c.found:
        threads = units.count(each.threads, "thread") if each.threads else ""
        when = (
            f"measured {units.ago(c.now - each.taken)}, looks agree to {units.percent(each.spread)}"
        )
        parts = (each.kind, threads, each.settings, when)
        yield f"{each.framework} {each.version}", ", ".join(filter(None, parts))
        if each.others > _SHOWN_SHARE:
            took = f"other programs took {units.percent(each.others)} of the CPUs meanwhile"
            effect = ": it can do more, and this is not kept" if each.is_disturbed else ""
            yield "", f"{took}{effect}. --peak --fresh measures again, on a quiet machine"
    shared = [each for each in c.found if each.upload is None and each.download is None]
    if shared:
        names = ", ".join(f"{each.framework} {each.device}" for each in shared)
        yield "copies", f"none to {names}: arrays are in the host's memory"
    for note in c.words:
        yield "", note if isinstance(note, str) else note.text
