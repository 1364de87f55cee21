"""How peaks are shown: a column for each framework and device, a row for each figure."""

import math
from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.device.datasheets import find_datasheet
from ipyjaxbench.device.peaks import DevicePeaks, Peaks
from ipyjaxbench.errors import by_caller
from ipyjaxbench.reports import Block, Facts, Footer, Headline, Note, Notes, Report, Table, report

_UNKNOWN = "-"
_SHOWN_SHARE = 0.1  # of the CPUs: from then on it matters
_RELIABLE_SPREAD = 0.2  # of the best measurements of a figure
_COLUMNS = 3  # that fit into 80 characters
_APART = "how far the best samples of a figure are apart"
_ONCE = "measured only once (unreliable)"


@report.register
def _(c: Peaks) -> Report:
    """Return the blocks in the order in which they are read."""
    tables = math.ceil(len(c.found) / _COLUMNS) or 1
    columns = math.ceil(len(c.found) / tables) or 1
    parts = (c.found[first : first + columns] for first in range(0, len(c.found), columns))
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
    cells = [dict(_cells(each)) for each in peaks]
    others = _LABELS.values()
    products = dict.fromkeys(label for each in cells for label in each if label not in others)
    labels = (*products, *others)
    rows = ((label, *(each.get(label, _UNKNOWN) for each in cells)) for label in labels)
    heads = (_name(each) for each in peaks)
    filled = tuple(row for row in rows if any(cell != _UNKNOWN for cell in row[1:]))
    return Table("", ("highest measured", *heads), filled, folded=False)


def _cells(c: DevicePeaks) -> Iterator[tuple[str, str]]:
    """Yield each figure by its label, with how far its best samples are apart."""
    names = dict(zip(c.products, (name for name, _ in _formats(c)), strict=True))
    for name, rate in c.rates().items():
        spread = c.spreads.get(name, 1.0)
        beside = f" ± {math.ceil(100 * spread)} %" if spread < 1 else ""
        yield _label(names.get(name, name)), _figure(name, rate) + beside


def _figure(name: str, rate: float) -> str:
    if name not in _LABELS:
        return units.flops(rate, "/s")
    return units.duration(1 / rate) if name == "latency" else units.bandwidth(rate)


#: Figures beside products, in the order of their rows.
_LABELS = {
    "memory": "memory bandwidth",
    "upload": "host to device",
    "download": "device to host",
    "latency": "smallest operation",
}


def _label(name: str) -> str:
    """Return what a figure is called; of products, by the format."""
    return _LABELS.get(name, f"{name} matmul")


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


def _facts(c: Peaks) -> Iterator[tuple[str, str]]:
    for each in c.found:
        kind = each.kind if each.kind != each.device.partition(":")[0] else ""
        threads = units.count(each.threads, "thread") if each.threads else ""
        when = f"measured {units.ago(c.now - each.taken)}"
        parts = (kind, threads, each.settings, when, _agreement(each))
        yield _name(each), ", ".join(filter(None, parts))
        if rated := _rated(each):
            yield "datasheet", f"{_name(each)}: {rated}"
    copies = {"upload", "download"}
    shared = [_name(each) for each in c.found
              if copies.isdisjoint((*each.rates(), *each.missing))]  # fmt: skip
    if shared:
        yield "no transfers", f"{', '.join(shared)}: arrays are in host memory"
    if any(spread < 1 for each in c.found for spread in each.spreads.values()):
        yield "±", _APART
    if missing := [each for each in c.found if each.missing]:
        again = by_caller("%fwdevices --peak", "peaks()")
        is_kept = not all(each.is_disturbed for each in missing)  # else a note says what to run
        then = f", `{again}` goes on with it" if is_kept else ""
        yield "not measured", f"{'; '.join(map(_missing, missing))}: no time was left{then}"


def _missing(c: DevicePeaks) -> str:
    """Return for what there was no time: "float16, int8 matmul, smallest operation"."""
    products = [name for name in c.missing if name not in _LABELS]
    others = [_LABELS[name] for name in c.missing if name in _LABELS]
    matmul = [f"{', '.join(products)} matmul"] if products else []
    return f"{_name(c)}: {', '.join([*matmul, *others])}"


def _agreement(c: DevicePeaks) -> str:
    """Return what is to be said of all figures where it does not stand beside each."""
    once = [_label(name) for name, spread in c.spreads.items() if spread >= 1]
    if c.spreads:
        return f"{_ONCE}: {', '.join(once)}" if once else ""
    if c.spread >= 1:  # an earlier version kept one number for all
        return f"some figures {_ONCE}"
    doubt = " (unreliable)" if c.spread > _RELIABLE_SPREAD else ""
    return f"repeated measurements differ by up to {units.percent(c.spread)}{doubt}"


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
