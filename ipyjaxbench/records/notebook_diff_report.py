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
    "SLOWER and FASTER: the 95 % interval of the ratio is beyond 1 %, corrected for the number"
    " of rows. No verdict: two runs may differ this much by chance. [?]: too noisy to tell."
)


@report.register
def _(r: Rerun) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(r)]
    if r.differs:
        blocks.append(Facts((("changed", _some(r.differs, " · ")),)))
    if r.pairs:
        rows = [_row(p, c) for p, c in zip(r.pairs, r.changes, strict=True)]
        # Side by side they are read as a ratio: both are of the statistic that it is of.
        head = ("name", "median before", "median after", "ratio [95 % CI]", "")
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
        return Headline(title, "nothing", "measured in both", "", "")
    if not (slower or faster):
        return Headline(title, "no clear change", f"in {units.count(total, 'measurement')}", "", "")
    word = "SLOWER" if slower else "FASTER"
    figure = f"{slower or faster} of {total} {word.lower()}"
    detail = f"{faster} faster" if slower and faster else ""
    return Headline(title, figure, detail, word, ratios.EXPLAINED[word])


def _row(pair: Pair, change: Change) -> tuple[str, ...]:
    ratio = change.ratio
    against = f"{ratio.words()} {ratio.interval()}" if ratio else ""
    name = f"[{pair.cell}] {pair.name}" if pair.cell else pair.name
    name = units.cut(name, _MAX_NAME)
    name += " (edited)" if pair.edited else ""
    word = "" if change.verdict == "CAN'T TELL" else change.verdict  # so that the others stand out
    before, after = (units.duration(figure.median) for figure in (pair.before, pair.after))
    return (name, before, after, against, word)


def _facts(r: Rerun) -> Iterator[tuple[str, str]]:
    for name, alone in zip(_names(r), (r.only_before, r.only_after), strict=True):
        if alone:
            yield "only in", f"{name}: {_some(alone, ', ')}"
    if r.refused:
        yield "unreadable", units.count(r.refused, "record")
    if r.pairs:
        yield "verdicts", _RULE


def _some(items: Sequence[str], between: str) -> str:
    more = f"{between}and {len(items) - _MAX_ITEMS} more" if len(items) > _MAX_ITEMS else ""
    return between.join(items[:_MAX_ITEMS]) + more
