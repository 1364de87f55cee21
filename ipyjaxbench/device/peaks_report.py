"""How peaks are shown: a column for each framework and device, a row for each figure."""

from collections.abc import Callable, Iterator
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.device.datasheets import find_datasheet
from ipyjaxbench.device.peaks import DevicePeaks, Peaks
from ipyjaxbench.errors import by_caller
from ipyjaxbench.reports import Block, Facts, Footer, Headline, Note, Notes, Report, Table, report

_UNKNOWN = "-"
_SHOWN_SHARE = 0.1  # of the CPUs: from then on it matters
_RELIABLE_SPREAD = 0.2  # of the best two measurements of a figure
_COLUMNS = 4  # that fit into 80 characters


@report.register
def _(c: Peaks) -> Report:
    """Return the blocks in the order in which they are read."""
    parts = (c.found[first : first + _COLUMNS] for first in range(0, len(c.found), _COLUMNS))
    blocks: list[Block] = [_headline(c), *map(_table, parts), Facts(tuple(_facts(c)))]
    notes = tuple(_notes(c))
    blocks += [Notes(notes)] if notes else []
    versions = dict.fromkeys(f"{each.framework} {each.version}" for each in c.found)
    blocks += [Footer(tuple(versions))] if versions else []
    return Report(tuple(blocks))


def _headline(c: Peaks) -> Headline:
    count = units.count(len(c.found), "device") if c.found else "no device"
    again = by_caller("--remeasure", "remeasure=True")
    detail = f"stored earlier; `{again}` measures again"
    if c.seconds:
        detail = f"measured in {units.duration(c.seconds, 2)}"
    if not c.found:
        start = by_caller("--peak --start", "start=True")
        detail = f"no framework is initialized (`{start}`)"
    return Headline("peak", count, detail, "", "")


def _table(peaks: tuple[DevicePeaks, ...]) -> Table:
    rate = partial(units.flops, per="/s")
    formats = [dict(_formats(each)) for each in peaks]
    rows = [
        (f"{name} matmul", *(_cell(each.get(name), rate) for each in formats))
        for name in dict.fromkeys(name for each in formats for name in each)
    ]
    rows += [(label, *map(figure, peaks)) for label, figure in _ROWS.items()]
    heads = (_name(each) for each in peaks)
    filled = tuple(row for row in rows if any(cell != _UNKNOWN for cell in row[1:]))
    return Table("", ("highest measured", *heads), filled, folded=False)


def _formats(c: DevicePeaks) -> Iterator[tuple[str, float]]:
    """Yield rates of products by the format in which they were computed, as the chip tells."""
    sheet = find_datasheet(c.kind)
    for dtype, rate in c.products.items():
        yield "TF32" if sheet is not None and sheet.uses_tf32(dtype, rate) else dtype, rate


def _rated(c: DevicePeaks) -> str:
    """Return the shares of what the datasheet states; "" where there is none."""
    sheet = find_datasheet(c.kind)
    if sheet is None:
        return ""
    shares = {
        name: rate / stated
        for (name, rate), dtype in zip(_formats(c), c.products, strict=True)
        if (stated := sheet.rated(dtype, rate))
    }
    if c.bandwidth is not None:
        shares["memory"] = c.bandwidth / sheet.bandwidth
    words = ", ".join(f"{name} {units.percent(share)}" for name, share in shares.items())
    return f"{words} of what is stated of an {sheet.name} (dense)"


def _cell(figure: float | None, show: Callable[[float], str]) -> str:
    return _UNKNOWN if figure is None else show(figure)


_ROWS: dict[str, Callable[[DevicePeaks], str]] = {
    "memory bandwidth": lambda c: _cell(c.bandwidth, units.bandwidth),
    "host to device": lambda c: _cell(c.upload, units.bandwidth),
    "device to host": lambda c: _cell(c.download, units.bandwidth),
    "smallest operation": lambda c: _cell(c.latency, units.duration),
}


def _facts(c: Peaks) -> Iterator[tuple[str, str]]:
    for each in c.found:
        kind = each.kind if each.kind != each.device.partition(":")[0] else ""
        threads = units.count(each.threads, "thread") if each.threads else ""
        when = f"measured {units.ago(c.now - each.taken)}"
        parts = (kind, threads, each.settings, when, _agreement(each.spread))
        yield _name(each), ", ".join(filter(None, parts))
        if rated := _rated(each):
            yield "datasheet", f"{_name(each)}: {rated}"
    shared = [_name(each) for each in c.found if each.upload is None and each.download is None]
    if shared:
        yield "no transfers", f"{', '.join(shared)}: arrays are in host memory"


def _agreement(spread: float) -> str:
    if spread >= 1:
        return "some figures measured only once (unreliable)"
    doubt = " (unreliable)" if spread > _RELIABLE_SPREAD else ""
    return f"repeated measurements differ by up to {units.percent(spread)}{doubt}"


def _notes(c: Peaks) -> Iterator[Note]:
    busy = [each.others for each in c.found if each.others > _SHOWN_SHARE]
    if busy:
        low, high = (units.percent(share).removesuffix(" %") for share in (min(busy), max(busy)))
        shares = low if low == high else f"{low}–{high}"
        disturbed = any(each.is_disturbed for each in c.found)
        effect = ": CPU peaks are too low, and were not stored" if disturbed else ""
        again = by_caller("%fwdevices --peak --remeasure", "peaks(remeasure=True)")
        yield Note(
            "peaks-disturbed",
            f"Other programs used {shares} % of the CPUs during the measurement{effect}.",
            f"run `{again}` when the machine is quiet",
        )
    for word in c.words:
        yield word if isinstance(word, Note) else Note("", word)


def _name(c: DevicePeaks) -> str:
    return f"{c.framework} {c.device}"
