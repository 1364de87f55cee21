"""How network peaks are shown: the largest busbw, then each collective over the sizes."""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.cluster.network_peaks import CollectiveTime, NetworkPeaks
from ipyjaxbench.errors import by_caller
from ipyjaxbench.frameworks import COLLECTIVES
from ipyjaxbench.reports import (
    Axis,
    Block,
    Chart,
    Details,
    Facts,
    Footer,
    Headline,
    Note,
    Notes,
    Report,
    Series,
    Table,
    report,
)

_UNKNOWN = "-"


@report.register
def _(peaks: NetworkPeaks) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(peaks)]
    if peaks.times:
        blocks += [_table(peaks), *_pictures(peaks)]
    blocks += [Facts(tuple(_facts(peaks)))]
    if peaks.times:
        blocks += [Details("all times", (_all_times(peaks),), printed=False)]
    if peaks.words:
        blocks += [Notes(tuple(Note("", word) for word in peaks.words))]
    hosts = units.count(len(set(peaks.hosts)), "host")
    return Report((*blocks, Footer((hosts, f"{peaks.framework} {peaks.version}"))))


def _headline(peaks: NetworkPeaks) -> Headline:
    if peaks.best is None:
        return Headline("network", "not measured", "no collective is offered", "", "")
    busbw = units.bandwidth(peaks.busbw(peaks.best))
    detail = f"busbw of {peaks.best.kind} at {units.size(peaks.best.nbytes)}"
    return Headline("network", busbw, detail, "", "")


def _table(peaks: NetworkPeaks) -> Table:
    """Return a row for each size, a column for each collective."""
    kinds = [kind for kind in COLLECTIVES if any(each.kind == kind for each in peaks.times)]
    cells = {(each.kind, each.nbytes): units.bandwidth(peaks.busbw(each)) for each in peaks.times}
    sizes = sorted({nbytes for _, nbytes in cells})
    rows = [
        (units.size(size), *(cells.get((kind, size), _UNKNOWN) for kind in kinds)) for size in sizes
    ]
    return Table("", ("busbw", *kinds), tuple(rows), folded=False)


def _pictures(peaks: NetworkPeaks) -> Iterator[Chart]:
    series = []
    for kind in COLLECTIVES:
        rates = [(each.nbytes, peaks.busbw(each)) for each in peaks.times if each.kind == kind]
        points = tuple((float(size), rate, rate, rate) for size, rate in rates)
        series += [Series(kind, points)] if len(points) > 1 else []
    if series:
        at = tuple(sorted({x for each in series for x, *_ in each.points}))
        yield Chart(Axis("size", "B", at=at), Axis("busbw", "B/s"), tuple(series))


def _facts(peaks: NetworkPeaks) -> Iterator[tuple[str, str]]:
    ranks = units.count(len(peaks.hosts), "rank")
    if peaks.participants != len(peaks.hosts):
        ranks = f"{units.count(peaks.participants, 'device')} of {ranks}"
    if peaks.times:
        yield "between", f"{ranks}, over {peaks.transport}"
    if peaks.best and len(peaks.best.seconds) > 1:
        yield "over ranks", _over_ranks(peaks.best)
    for kind, why in peaks.missing.items():
        yield "not measured", f"{kind}: {why}"
    sizes = {each.nbytes for each in peaks.times}
    for kind in dict.fromkeys(each.kind for each in peaks.times):
        absent = sorted(sizes - {each.nbytes for each in peaks.times if each.kind == kind})
        if absent:
            shown = ", ".join(map(units.size, absent))
            yield "not measured", f"{kind} of {shown}: the time was used up"
    measured = f"in {units.duration(peaks.seconds, 2)}"
    if peaks.stored:
        again = by_caller("--remeasure", "remeasure=True")
        measured = f"{units.ago(peaks.now - peaks.taken)}; `{again}` measures again"
    yield "measured", measured
    if peaks.times:
        yield "busbw", "bytes/s on each link as in nccl-tests, of the slowest rank"


def _over_ranks(best: CollectiveTime) -> str:
    least, mean, most = (units.duration(s, 3) for s in (min(best.seconds), best.mean, best.slowest))
    return f"{best.kind}: fastest {least}, mean {mean}, slowest {most}"


def _all_times(peaks: NetworkPeaks) -> Table:
    rows = [
        (
            each.kind,
            units.size(each.nbytes),
            *(units.duration(s, 3) for s in (min(each.seconds), each.mean, each.slowest)),
            units.bandwidth(each.algbw),
            units.bandwidth(peaks.busbw(each)),
        )
        for each in peaks.times
    ]
    head = ("", "size", "fastest rank", "mean", "slowest rank", "algbw", "busbw")
    return Table("", head, tuple(rows), folded=False)
