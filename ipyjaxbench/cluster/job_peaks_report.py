"""How peaks of many engines are shown: the network, and a row for engines that are alike."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ipyjaxbench import units
from ipyjaxbench.cluster.job_peaks import JobPeaks
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.device import DevicePeaks
from ipyjaxbench.reports import Block, Headline, Note, Notes, Report, Table, report

_UNKNOWN = "-"
_MAX_ROWS = 12
_DTYPES = ("float32", "bfloat16")


@report.register
def _(peaks: JobPeaks) -> Report:
    """Return the blocks in the order in which they are read."""
    engines = units.count(len(peaks.ranks), "engine")
    headline: Block = Headline("peak", engines, "no job connects them: no network", "", "")
    rest: tuple[Block, ...] = ()
    if peaks.network is not None:
        headline, *others = report(peaks.network).blocks
        rest = tuple(others)
    silent = [rank.label for rank in peaks.ranks if not rank.found]
    blocks = [headline, *rest[:1], _table(peaks), *rest[1:]]
    if silent:
        words = f"{name_ranks(silent)}: no framework is initialized there, so no device is measured"
        start = "type `%fwdevices --peak --start --engines all`"
        footer = len(blocks) - bool(rest)
        blocks.insert(footer, Notes((Note("", f"{words}.", start),)))
    return Report(tuple(blocks))


def _table(peaks: JobPeaks) -> Table:
    """Return a row for the ranks of one host on one kind of device; of very many, the slowest."""
    alike: dict[tuple[str, str], list[tuple[str, DevicePeaks]]] = {}
    for rank in peaks.ranks:
        for found in rank.found:
            key = rank.host, f"{found.framework} {_device(found)}"
            alike.setdefault(key, []).append((rank.label, found))
    groups = sorted(alike.items(), key=lambda item: _slowest([peak for _, peak in item[1]]))
    caption = ""
    if len(groups) > _MAX_ROWS:
        caption = f"the {_MAX_ROWS} slowest of {len(groups)}"
    else:
        groups = [*alike.items()]
    rows = [
        (name_ranks([label for label, _ in found]), *key, *_figures([peak for _, peak in found]))
        for key, found in groups[:_MAX_ROWS]
    ]
    head = ("highest measured", "host", "device", *_DTYPES, "memory")
    return Table(caption, head, tuple(rows), folded=False)


def _device(found: DevicePeaks) -> str:
    return found.device.partition(":")[0] if found.device.startswith("cpu") else found.kind


def _slowest(found: Sequence[DevicePeaks]) -> float:
    return min((rate for each in found for rate in each.products.values()), default=0.0)


def _figures(found: Sequence[DevicePeaks]) -> Iterator[str]:
    flops = partial(units.flops, per="/s")
    for dtype in _DTYPES:
        yield _range([each.products.get(dtype) for each in found], flops)
    yield _range([each.bandwidth for each in found], units.bandwidth)


def _range(figures: Sequence[float | None], show: Callable[[float], str]) -> str:
    """Return a figure, or the lowest and the highest of several that differ."""
    known = [figure for figure in figures if figure is not None]
    ends = dict.fromkeys(show(end(known)) for end in (min, max)) if known else [_UNKNOWN]
    return " to ".join(ends)
