"""How copies are shown: how much of the time they took, a line for each, and what is left."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.device.copy_watch import HOST
from ipyjaxbench.device.transfers import Transfer, Transfers
from ipyjaxbench.frameworks import ArrayInfo
from ipyjaxbench.reports import (
    Block,
    Calls,
    Facts,
    Flow,
    Flows,
    Footer,
    Headline,
    Report,
    Segment,
    Stack,
    curve,
    report,
)

_MAX_TRANSFERS = 30  # that are shown one by one
_MAX_NAMED_ARRAYS = 4
_MAX_FLOWS = 8


@report.register
def _(t: Transfers) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(t), *_pictures(t)]
    if t.transfers:
        head = ("line", "from → to", "size", "time", "copy", "code")
        blocks.append(Calls(head, tuple(_rows(t.transfers))))
    blocks.append(Facts(tuple(_facts(t))))
    blocks += [Footer((units.versions(t.frameworks),))] if t.frameworks else []
    return Report(tuple(blocks))


def _headline(t: Transfers) -> Headline:
    implicit = sum(each.copied for each in t.transfers if not each.asked)
    verdict = "IMPLICIT" if implicit else ""
    explained = f"{units.size(implicit)} without an explicit call" if implicit else ""
    figure = units.duration(t.seconds)
    return Headline(units.heading(t.code), figure, _summary(t), verdict, explained)


def _summary(t: Transfers) -> str:
    if not t.copied:
        shares = "nothing copied: memory is shared"
        return shares if t.transfers else "no copies between host and devices"
    known = [each.seconds for each in t.transfers if not each.free and each.seconds is not None]
    copies = [each for each in t.transfers if not each.free]
    least = "at least " if len(known) < len(copies) else ""
    time = f" in {least}{units.duration(math.fsum(known))}" if known else ""
    return f"{units.size(t.copied)} copied{time}"


def _pictures(t: Transfers) -> Iterator[Block]:
    """Yield what the time went into, and how much went where."""
    spent = {"other work": 0.0, "wait": t.waiting, "copy": 0.0, "implicit copy": 0.0}
    for each in t.transfers:
        if not each.free and each.seconds is not None:
            spent["copy" if each.asked else "implicit copy"] += each.seconds
    spent["other work"] = t.seconds - math.fsum(spent.values())
    if (
        0 <= spent["other work"] < t.seconds
    ):  # else copies of several threads went beside each other
        segments = tuple(Segment(kind, seconds) for kind, seconds in spent.items() if seconds)
        yield Stack((("time", segments, units.duration(t.seconds)),))
    sizes: dict[tuple[str, str, bool], int] = {}
    for each in t.transfers:
        if each.copied:
            way = each.source, each.target, not each.asked
            sizes[way] = sizes.get(way, 0) + each.copied
    flows = [
        Flow(source, target, nbytes, units.size(nbytes), implicit)
        for (source, target, implicit), nbytes in sizes.items()
    ]
    largest = sorted(flows, key=lambda flow: -flow.nbytes)[:_MAX_FLOWS]
    if largest:
        yield Flows(tuple(sorted(largest, key=_place)))


def _place(flow: Flow) -> tuple[bool, tuple[str, str]]:
    """Return what puts the same ends beside each other, those of the host first."""
    return HOST not in flow.ends, flow.ends


def _rows(transfers: Sequence[Transfer]) -> Iterator[tuple[str, ...]]:
    """Yield rows in their order; where there are very many, the largest."""
    several = len({each.framework for each in transfers}) > 1
    weights = sorted(transfers, key=lambda each: (-each.copied, -each.nbytes))[:_MAX_TRANSFERS]
    named = {id(each) for each in weights}
    for each in transfers:
        if id(each) in named:
            took = units.duration(each.seconds, 2) if each.seconds is not None else "?"
            yield (
                str(each.line or "?"),
                f"{each.source} → {each.target}",
                units.size(each.copied),
                "" if each.free else took,
                "none" if each.free else "explicit" if each.asked else "implicit",
                ", ".join(_description(each, several=several)),
            )
    rest = [each for each in transfers if id(each) not in named]
    if rest:
        size = units.size(sum(each.copied for each in rest))
        yield "...", "", size, "", "", f"{len(rest):,} more"


def _description(each: Transfer, *, several: bool) -> Iterator[str]:
    if each.text:
        yield f"{each.text} in {each.function}" if each.function else each.text
    framework = f"{each.framework} " if several else ""
    yield f"{framework}{units.array(each.dtype, each.shape)}"
    if each.times > 1:
        yield f"{each.times:,} times"
    if each.free:
        yield each.free


def _facts(t: Transfers) -> Iterator[tuple[str, str]]:
    if t.error:
        yield "error", t.error
    yield from _arrays("created", t.created)
    yield from _arrays("freed", t.freed)
    for device, (before, after) in t.memory.items():
        if before != after:
            yield device, f"{units.size(before)} in use before, {units.size(after)} after"
    for peak in t.peaks:
        yield "peak memory", f"{peak.words()} {curve(peak.curve)}".rstrip()
    for gap in t.unseen:
        yield "not covered", gap


def _arrays(label: str, arrays: Sequence[ArrayInfo]) -> Iterator[tuple[str, str]]:
    """Yield a line for each framework, with its first arrays by name: the largest."""
    for framework in dict.fromkeys(each.framework for each in arrays):
        own = [each for each in arrays if each.framework == framework]
        alike = Counter((each.name, units.array(each.dtype, each.shape)) for each in own)
        shown = [*alike.items()][:_MAX_NAMED_ARRAYS]
        parts = [_name(name, kind, count) for (name, kind), count in shown]
        rest = len(own) - sum(count for _, count in shown)
        parts += [f"{rest:,} more"] if rest else []
        size = units.size(sum(each.nbytes for each in own))
        yield label, f"{units.count(len(own), f'{framework} array')}, {size}: {', '.join(parts)}"


def _name(name: str, kind: str, count: int) -> str:
    return f"{f'{count:,} ' if count > 1 else ''}{name or 'unnamed'} {kind}"
