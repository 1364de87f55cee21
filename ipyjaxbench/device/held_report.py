"""How holders of arrays are shown: a line for each, then what can be let go of at once."""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.device.held import Held, Holder
from ipyjaxbench.reports import Block, Calls, Facts, Footer, Headline, Report, report

_MAX_HOLDERS = 30


@report.register
def _(h: Held) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(h)]
    if h.holders:
        head = ("size", "only here", "arrays", "to let go", "held by")
        blocks.append(Calls(head, tuple(_rows(h.holders))))
    blocks.append(Facts(tuple(_facts(h))))
    blocks += [Footer((units.versions(h.frameworks),))] if h.frameworks else []
    return Report(tuple(blocks))


def _headline(h: Held) -> Headline:
    if h.released:
        return Headline("released", units.size(h.freed), "came free", "", "")
    count = units.count(len(h.holders), "holder") if h.holders else "nothing"
    size = units.size(sum(each.alone for each in h.holders))
    nothing = "that can be seen, but your names," if h.unseen else "but your names"
    detail = f"{size} held by one of them alone" if h.holders else f"{nothing} holds arrays"
    return Headline("held", count, detail, "", "")


def _rows(holders: tuple[Holder, ...]) -> Iterator[tuple[str, ...]]:
    for each in holders[:_MAX_HOLDERS]:
        also = "" if each.alone else f", {each.also} holds it too"
        size, alone = units.size(each.nbytes), units.size(each.alone)
        yield size, alone, f"{each.arrays:,}", each.let_go, each.path + also
    rest = holders[_MAX_HOLDERS:]
    if rest:
        size = units.size(sum(each.alone for each in rest))
        yield "", size, "", "", f"{units.count(len(rest), 'other holder')}"


def _facts(h: Held) -> Iterator[tuple[str, str]]:
    if h.released:
        yield "released", ", ".join(h.released)
    elif h.releasable:
        size = units.size(h.releasable)
        yield "release", f"%fwdevices --release lets IPython and the traceback go: {size} come free"
    if h.named:
        yield "your names", f"{units.size(h.named)}; %fwdevices shows them"
    for name in h.unseen:
        yield "not seen", f"what {name} recorded for gradients, of unknown size: `del {name}`"
    for name, (count, nbytes) in h.elsewhere.items():
        arrays = units.count(count, "more array")
        others = "a library, a running thread, or what gc.collect() frees"
        yield name, f"{arrays}, {units.size(nbytes)}: held by {others}"
    for device, nbytes in h.unexplained.items():
        yield device, f"{units.size(nbytes)} in use that nothing that Python can see refers to"
