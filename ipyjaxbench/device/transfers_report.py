"""How copies are shown: how much of the time they took, a line for each, and what is left."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.device.transfers import Transfer, Transfers
from ipyjaxbench.frameworks import ArrayInfo
from ipyjaxbench.reports import Block, Calls, Facts, Headline, Report, report

_MAX_TRANSFERS = 30  # that are shown one by one
_MAX_NAMED_ARRAYS = 4


@report.register
def _(t: Transfers) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(t)]
    if t.transfers:
        head = ("line", "way", "size", "took", "what")
        blocks.append(Calls(head, tuple(_rows(t.transfers))))
    blocks.append(Facts(tuple(_facts(t))))
    return Report(tuple(blocks))


def _headline(t: Transfers) -> Headline:
    title = units.heading(t.code)
    verdict = "COPIES" if t.copied else "SHARES" if t.transfers else "NOTHING"
    detail = {
        "COPIES": f"{units.size(t.copied)} copied",
        "SHARES": "nothing was copied: memory is shared",
        "NOTHING": "no copy between host and devices was seen",
    }[verdict]
    spent = sorted(t.copying.items(), key=lambda each: -each[1])
    if t.copied and spent:
        (way, most), *others = [(way, units.duration(seconds)) for way, seconds in spent]
        more = "".join(f", {seconds} {way}" for way, seconds in others)
        detail = f"of which {most} is the copy {way}{more}"
    return Headline(title, units.duration(t.seconds), detail, verdict, "")


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
                "; ".join(_description(each)),
            )
    rest = [each for each in transfers if id(each) not in named]
    if rest:
        size = units.size(sum(each.copied for each in rest))
        yield "...", "", size, "", f"{len(rest):,} more"


def _description(each: Transfer) -> Iterator[str]:
    yield f"{each.text} in {each.function}" if each.function else each.text
    yield f"{each.framework} {units.array(each.dtype, each.shape)}"
    if each.times > 1:
        yield f"{each.times:,} times"
    if each.free:
        yield each.free
    else:
        yield "asked for" if each.asked else "implicit"


def _facts(t: Transfers) -> Iterator[tuple[str, str]]:
    if t.error:
        yield "raised", t.error
    if t.waiting >= 1e-6 and t.transfers:
        yield "waited", f"{units.duration(t.waiting)} before these, until the data was computed"
    implicit = sum(each.copied for each in t.transfers if not each.asked)
    if implicit:
        yield "implicit", f"{units.size(implicit)} copied where the code names no copy"
    yield from _arrays("created", t.created)
    yield from _arrays("freed", t.freed)
    for device, (before, after) in t.memory.items():
        if before != after:
            yield device, f"{units.size(before)} in use before, {units.size(after)} after"
    for gap in t.unseen:
        yield "not seen", gap
    if t.frameworks:
        yield "with", units.versions(t.frameworks)


def _arrays(label: str, arrays: Sequence[ArrayInfo]) -> Iterator[tuple[str, str]]:
    """Yield a line for each framework, with its first arrays by name: the largest."""
    for framework in dict.fromkeys(each.framework for each in arrays):
        own = [each for each in arrays if each.framework == framework]
        parts = [
            f"{each.name or 'no name'} {units.array(each.dtype, each.shape)}"
            for each in own[:_MAX_NAMED_ARRAYS]
        ]
        rest = len(own) - len(parts)
        parts += [f"{rest:,} more"] if rest else []
        size = units.size(sum(each.nbytes for each in own))
        yield label, f"{units.count(len(own), f'{framework} array')}, {size}: {', '.join(parts)}"
