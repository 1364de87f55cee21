"""How a comparison is told: who takes how long, against whom, and how sure that is."""

import math
from collections.abc import Iterator

from ipyjaxbench import ratios, units
from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Bar,
    Bars,
    Block,
    Facts,
    Headline,
    Notes,
    Report,
    Table,
    report,
)
from ipyjaxbench.timing import NO_FIGURE, VERDICT_MEANINGS, Measurement, spell_phases

_QUEUED_SHARE = 0.9  # of the latency: a throughput below it is shown
_HALF = 0.5  # smaller ratios are shown the other way round too
_WORTH_WAITING_SECONDS = 3600.0
_WIDE_CONTROL = 0.1  # hides what people look for


@report.register
def _(c: Comparison) -> Report:
    """The blocks in the order in which they are read."""
    marked = sorted(c.all_notes(), key=lambda note: note.mark != CHANGES_MEANING)
    blocks: list[Block] = [_headline(c), _table(c), *_bars(c)]
    blocks += [Facts((*_rows(c),)), Notes(tuple(marked))]
    return Report(tuple(blocks))


def _headline(c: Comparison) -> Headline:
    title = "compared"
    words = {side.label: m.verdict for side in c.sides if (m := side.measured)}
    without = {label: word for label, word in words.items() if word in NO_FIGURE}
    compared = [side.label for side in c.sides if c.ratio(side.label)]
    verdicts = {label: c.verdict(label) for label in compared if label not in without}
    if compared and (not verdicts or c.baseline in without):
        word = without.get(c.baseline) or next(iter(without.values()))
        detail = f"{', '.join(without)}: {VERDICT_MEANINGS[word]}"
        return Headline(title, "no ratio", detail, word, "")
    if not verdicts:
        return Headline(title, "no ratio", *_why_none(c), "")
    name, word = _first(c, verdicts)
    ratio = c.ratio(name)
    assert ratio is not None
    figure = f"{name} takes {ratio.words()}× the time of {c.baseline}"
    detail = ratio.interval()
    if set(verdicts.values()) == {"SLOWER"} and len(verdicts) > 1:
        detail += f", and {c.baseline} is the fastest of all"
    if ratio.value < _HALF:
        detail += f", {units.times(1 / ratio.value)} as fast"
    return Headline(title, figure, detail, word, ratios.EXPLAINED[word])


def _why_none(c: Comparison) -> tuple[str, str]:
    """Return why there is nothing to compare, and the word for it."""
    sampled = [side.label for side in c.sides if side.measured and side.measured.batches]
    if any(note.code == "interrupted" for note in c.notes):
        return "interrupted before two arms were sampled", "INTERRUPTED"
    if sampled and c.baseline not in sampled and len(sampled) > 1:
        return f"the baseline {c.baseline} failed: type --baseline {sampled[0]}", "FAILED"
    return "fewer than two arms were measured", "FAILED"


def per_call(side: ArmResult) -> str:
    """Return the time of a call of an arm with how sure it is; a word where there is none."""
    m = side.measured
    if m is None:
        return "failed" if side.failed else "not run"
    if not m.batches:
        return "first only"
    return units.spread(m.median, m.half_width, m.precision)


def _first(c: Comparison, verdicts: dict[str, str]) -> tuple[str, str]:
    """Return the arm to name first: the fastest, else what is slower, open, or the same."""
    word = next(w for w in ("FASTER", "SLOWER", "CAN'T TELL", "SAME") if w in verdicts.values())
    values = {n: r.value for n, w in verdicts.items() if w == word and (r := c.ratio(n))}
    return min(values, key=values.__getitem__), word


def _table(c: Comparison) -> Table:
    rows = []
    for side in c.sides:
        m, found = side.measured, c.ratio(side.label)
        if m is None:
            rows.append((side.label, per_call(side), "", "", ""))
            continue
        is_base = side.label == c.baseline
        first = units.duration(m.first_call, m.precision)
        against = "1" if is_base else ""
        if found is not None:
            against = f"{found.words()} {found.interval()}"
        word = "baseline" if is_base else c.verdict(side.label)
        rows.append((side.label, per_call(side), first, against, word))
    head = ("arm", "per call", "first call", f"time against {c.baseline}", "")
    return Table("", head, tuple(rows), folded=False)


def _bars(c: Comparison) -> Iterator[Bars]:
    measured = [(side.label, m) for side in c.sides if (m := side.measured) and m.batches]
    if len(measured) > 1:
        yield Bars(tuple(_bar(c, label, m) for label, m in measured))


def _bar(c: Comparison, label: str, m: Measurement) -> Bar:
    low, high = m.interval
    ratio = c.ratio(label)
    aside = f"{ratio.words()}×" if ratio else ""
    shown = units.duration(m.median, m.precision)
    return Bar(label, m.median, low, high, shown, aside, label == c.baseline)


def _rows(c: Comparison) -> Iterator[tuple[str, str]]:
    measured = [(side.label, m) for side in c.sides if (m := side.measured)]
    queued = [
        f"{name} {units.duration(m.throughput, m.precision)}"
        for name, m in measured
        if m.throughput is not None and m.throughput < _QUEUED_SHARE * m.leading
    ]
    if queued:
        yield "throughput", f"{', '.join(queued)} a call, when many are queued and waited for once"
    for name, m in measured:
        if m.phases:
            yield "first call", f"{name} {spell_phases(m.first_call, m.phases, m.precision)}"
    for name, m in measured:
        if m.counterpart is not None and not m.counterpart.compiled and m.batches:
            yield "pays back", f"{name} {m.counterpart.words(m.median, m.half_width)}"
    if c.equal:
        yield "fair", " · ".join(c.equal)
    yield from _pairs(c)
    versions = {name: version for _, m in measured for name, version in m.frameworks.items()}
    if versions:
        yield "with", units.versions(versions)


def _pairs(c: Comparison) -> Iterator[tuple[str, str]]:
    known = [r for side in c.sides if (r := c.ratio(side.label))]
    if not known:
        return
    undecided = [s.label for s in c.sides if c.verdict(s.label) == "CAN'T TELL"]
    open_ends = [r.needed(c.elapsed, c.floor) for label in undecided if (r := c.ratio(label))]
    if not c.interleaved:
        yield "pairs", "none: the arms were measured one after the other, not in turns"
        return
    words = f"{units.count(known[0].pairs, 'block')} of all arms in turns"
    yield "pairs", f"{words}, in {units.duration(c.elapsed, 2)}"
    itself = c.against_itself
    if itself is not None:
        as_it_should = "as it should be" if itself.covers_one() else "where 1 was to be found"
        if itself.covers_one() and c.floor > _WIDE_CONTROL:
            as_it_should = "too wide to see small differences"
        shown = f"{itself.words(1)} {itself.interval(1)}, {as_it_should}"
        yield "control", f"{c.baseline} against itself: {shown}"
    if open_ends:
        need = max(open_ends)
        if need > _WORTH_WAITING_SECONDS:
            yield "to tell", "more time alone will hardly do: the machine is too busy"
        else:
            yield "to tell", f"about {units.duration(need, 2)} are needed: -b {math.ceil(need)}"
