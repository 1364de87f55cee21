"""How copies are shown: how much of the time they took, a line for each, and what is left."""

import math
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.device.transfers import Transfer, Transfers
from ipyjaxbench.frameworks import ArrayInfo
from ipyjaxbench.reports import Block, Calls, Facts, Headline, Report, report

_MAX_TRANSFERS = 30  # that are shown one by one
_MAX_NAMED_ARRAYS = 4
_MIN_WAIT = 1e-6  # seconds


@report.register
def _(t: Transfers) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(t)]
    if t.transfers:
        head = ("line", "from → to", "size", "time", "copy", "code")
        blocks.append(Calls(head, tuple(_rows(t.transfers))))
    blocks.append(Facts(tuple(_facts(t))))
    return Report(tuple(blocks))


def _headline(t: Transfers) -> Headline:
    return Headline(units.heading(t.code), units.duration(t.seconds), _summary(t), "", "")


def _summary(t: Transfers) -> str:
    if not t.copied:
        kind = "nothing copied: memory is shared" if t.transfers else "no copies"
        return kind if t.transfers else f"{kind} between host and devices"
    known = [each.seconds for each in t.transfers if not each.free and each.seconds is not None]
    copies = [each for each in t.transfers if not each.free]
    least = "at least " if len(known) < len(copies) else ""
    time = f" in {least}{units.duration(math.fsum(known))}" if known else ""
    implicit = sum(each.copied for each in t.transfers if not each.asked)
    part = units.size(implicit) if implicit < t.copied else "all"
    aside = f", {part} implicit" if implicit else ""
    return f"{units.size(t.copied)} copied{time}{aside}"


def _rows(transfers: Sequence[Transfer]) -> Iterator[tuple[str, ...]]:
    """Yield rows in their order; where there are very many, the largest."""
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
                ", ".join(_description(each)),
            )
    rest = [each for each in transfers if id(each) not in named]
    if rest:
        size = units.size(sum(each.copied for each in rest))
        yield "...", "", size, "", "", f"{len(rest):,} more"


def _description(each: Transfer) -> Iterator[str]:
    yield f"{each.text} in {each.function}" if each.function else each.text
    yield f"{each.framework} {units.array(each.dtype, each.shape)}"
    if each.times > 1:
        yield f"{each.times:,} times"
    if each.free:
        yield each.free


def _facts(t: Transfers) -> Iterator[tuple[str, str]]:
    if t.error:
        yield "error", t.error
    if t.waiting >= _MIN_WAIT and t.transfers:
        yield "waiting", f"{units.duration(t.waiting)} for data to be computed, before it was read"
    yield from _arrays("created", t.created)
    yield from _arrays("freed", t.freed)
    for device, (before, after) in t.memory.items():
        if before != after:
            yield device, f"{units.size(before)} in use before, {units.size(after)} after"
    for gap in t.unseen:
        yield "not covered", gap
    if t.frameworks:
        yield "with", units.versions(t.frameworks)


def _arrays(label: str, arrays: Sequence[ArrayInfo]) -> Iterator[tuple[str, str]]:
    """Yield a line for each framework, with its first arrays by name: the largest."""
    for framework in dict.fromkeys(each.framework for each in arrays):
        own = [each for each in arrays if each.framework == framework]
        parts = [
            f"{each.name or 'unnamed'} {units.array(each.dtype, each.shape)}"
            for each in own[:_MAX_NAMED_ARRAYS]
        ]
        rest = len(own) - len(parts)
        parts += [f"{rest:,} more"] if rest else []
        size = units.size(sum(each.nbytes for each in own))
        yield label, f"{units.count(len(own), f'{framework} array')}, {size}: {', '.join(parts)}"
