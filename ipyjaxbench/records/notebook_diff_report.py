"""The report of two runs of a notebook: what differs around them, then each pair."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ipyjaxbench import ratios, units
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.reports import Block, Facts, Headline, Report, Table, report
from ipyjaxbench.timing import Change

_MAX_ITEMS = 8
_MAX_NAME = 28  # characters: a row stays on one line
_RULE = (
    "a ratio whose interval lies beyond 1 %, and one such table in 20 may be wrong · without a"
    " word: two runs at two times may differ as much by themselves · [?]: they wandered too much"
)


@report.register
def _(r: Rerun) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(r)]
    if r.differs:
        blocks.append(Facts((("differs", _some(r.differs, " · ")),)))
    if r.pairs:
        rows = [_row(p, c) for p, c in zip(r.pairs, r.changes, strict=True)]
        head = ("measured", "before", "after", "after / before", "")
        blocks.append(Table("", head, tuple(rows), folded=False))
    return Report((*blocks, Facts(tuple(_facts(r)))))


def _names(r: Rerun) -> tuple[str, str]:
    """Return the notebooks' names, with their folders where the names are equal."""
    before, after = PurePath(r.before), PurePath(r.after)
    if before.name != after.name:
        return before.name, after.name
    return (str(PurePath(*before.parts[-2:])), str(PurePath(*after.parts[-2:])))


def _headline(r: Rerun) -> Headline:
    title = "{} → {}".format(*_names(r))
    slower, faster, total = len(r.slower), len(r.faster), len(r.pairs)
    if not total:
        return Headline(title, "nothing", "was measured in both", "", "")
    if not (slower or faster):
        return Headline(title, f"none of {total}", "takes longer or less long for sure", "", "")
    word = "SLOWER" if slower else "FASTER"
    figure = f"{slower or faster} of {total} {word.lower()}"
    detail = f"{faster} faster" if slower and faster else ""
    return Headline(title, figure, detail, word, ratios.EXPLAINED[word])


def _row(pair: Pair, change: Change) -> tuple[str, ...]:
    ratio = change.ratio
    against = f"{ratio.words()} {ratio.interval()}" if ratio else ""
    name = units.cut(f"[{pair.cell}] {pair.name}", _MAX_NAME)
    name += " (edited)" if pair.edited else ""
    word = "" if change.verdict == "CAN'T TELL" else change.verdict  # so that the others stand out
    before, after = (units.duration(figure.median) for figure in (pair.before, pair.after))
    return (name, before, after, against, word)


def _facts(r: Rerun) -> Iterator[tuple[str, str]]:
    for name, alone in zip(_names(r), (r.only_before, r.only_after), strict=True):
        if alone:
            yield "only in", f"{name}: {_some(alone, ', ')}"
    if r.refused:
        yield "refused", f"{units.count(r.refused, 'record')} that could not be read"
    if r.pairs:
        yield "counts", _RULE


def _some(items: Sequence[str], between: str) -> str:
    more = f"{between}and {len(items) - _MAX_ITEMS} more" if len(items) > _MAX_ITEMS else ""
    return between.join(items[:_MAX_ITEMS]) + more
