"""How a comparison is shown: which arm is faster, by how much, and how sure that is."""

import math
from collections.abc import Iterator, Sequence

from ipyjaxbench import stats, units
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.comparison import ArmResult, Comparison
from ipyjaxbench.ratios import Ratio
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Bar,
    Bars,
    Block,
    Facts,
    Footer,
    Headline,
    Note,
    Notes,
    Report,
    Table,
    report,
)
from ipyjaxbench.timing import (
    NO_FIGURE,
    VERDICT_MEANINGS,
    Estimate,
    Measurement,
    name_column,
    spell_phases,
)
from ipyjaxbench.validation import MAX_LABEL_LENGTH

_QUEUED_SHARE = 0.9  # of the latency: a throughput below it is shown
_WIDE_CONTROL = 0.1  # hides what people look for
_WIDEST = math.log(1e6)  # whoever scatters more sees nothing at all
DEPENDS_ON_CALLS = "calls make a container longer: the ratio depends on how many there are"


@report.register
def _(c: Comparison) -> Report:
    """The blocks in the order in which they are read."""
    marked = sorted(c.all_notes(), key=lambda n: n.mark != CHANGES_MEANING)
    blocks: list[Block] = [_headline(c), *_bars(c), _table(c)]
    blocks += [Facts((*_rows(c),)), Notes(tuple(marked))]
    versions = {n: v for _, m in _measured(c) for n, v in m.frameworks.items()}
    return Report((*blocks, Footer((units.versions(versions),))))


def _headline(c: Comparison) -> Headline:
    title = ", ".join(arm.label for arm in c.sides)
    words = {label: m.verdict for label, m in _measured(c)}
    without = {label: word for label, word in words.items() if word in NO_FIGURE}
    verdicts = {label: c.verdict(label) for label in c.compared if label not in without}
    if c.compared and (not verdicts or c.baseline in without):
        word = without.get(c.baseline) or next(iter(without.values()))
        detail = f"{', '.join(without)}: {VERDICT_MEANINGS[word]}"
        return Headline(title, "no comparison", detail, word, "")
    if not verdicts:
        return Headline(title, "no comparison", *_why_none(c), "")
    name, word = _first(c, verdicts)
    ratio = c.ratio(name)
    if ratio is None:
        return Headline(title, "no clear winner", DEPENDS_ON_CALLS, word, "")
    if set(verdicts.values()) == {"SLOWER"} and len(verdicts) > 1:
        figure = f"{c.baseline} is the fastest, {ratio.factor()} faster than {name}"
        return Headline(title, figure, _with_doubt(c, ratio.sure()), "FASTEST", "")
    alone = c.ratio_alone(name)
    if alone and c.depends_on_interleaving(name):
        takes = f"{name} takes {ratio.factor()} the time of {c.baseline} interleaved"
        detail = f"{takes}, {units.times(alone)} alone"
        return Headline(title, f"{name} and {c.baseline} affect each other", detail, word, "")
    figure, detail = _answer(name, c.baseline, ratio, word)
    return Headline(title, figure, _with_doubt(c, detail), word, "")


def _with_doubt(c: Comparison, detail: str) -> str:
    """Add what may turn the answer round."""
    codes = {note.code for note in c.notes}
    cause = _cause(c.notes)
    doubts = {
        f"not like for like: {cause}".rstrip(": "): not codes.isdisjoint(notes.UNLIKE),
        "arms slow each other down": "slowed-by-others" in codes,
    }
    return ", ".join(filter(None, (detail, *(doubt for doubt, holds in doubts.items() if holds))))


def _cause(found: Sequence[Note]) -> str:
    """Return what makes arms unlike, such as "TF32 against float32"; "" where no Note names it."""
    note = next((note for note in found if note.code in notes.NAMED), None)
    if note is None:
        return ""
    _, _, words = note.text.rstrip(".").partition(": ")
    return " against ".join(each.partition(" (")[0] for each in words.split("; "))


def _answer(name: str, base: str, ratio: Ratio, word: str) -> tuple[str, str]:
    """Return what was found of an arm and the baseline, and how sure that is."""
    takes = f"{name} takes {_between(ratio)} the time of {base} ({ratio.kind()})"
    if not ratio.is_known:
        few = ratio.pairs < stats.FEWEST
        why = "too few samples" if few else "the samples scatter too much"
        return "no clear winner", f"{why} for a ratio"
    if word == "SAME":
        return f"{name} and {base} are equally fast", takes
    if word == "CAN'T TELL":
        return "no clear winner", takes
    return f"{name} is {_speed(ratio, word)} than {base}", _towards(ratio, word).sure()


def _speed(ratio: Ratio, word: str) -> str:
    """Return "3.8× faster"."""
    return f"{_towards(ratio, word).factor()} {word.lower()}"


def _towards(ratio: Ratio, word: str) -> Ratio:
    return ratio.inverse if word == "FASTER" else ratio


def _between(ratio: Ratio) -> str:
    """Return the interval, or the ratio where that says as much."""
    return ratio.span() or ratio.factor()


def _why_none(c: Comparison) -> tuple[str, str]:
    """Return why there is nothing to compare, and the word for it."""
    sampled = [arm.label for arm in c.sides if arm.measured and arm.measured.batches]
    if any(note.code == "interrupted" for note in c.notes):
        return "interrupted before two arms were measured", "INTERRUPTED"
    if sampled and c.baseline not in sampled and len(sampled) > 1:
        return f"the baseline {c.baseline} failed: take another one, such as {sampled[0]}", "FAILED"
    return "fewer than two arms were measured", "FAILED"


def per_call(arm: ArmResult, head: str | None = None) -> str:
    """Return the time of a call of an arm with how sure it is; a word where there is none.

    It is the headline, in a column of that head, or without a head the median.
    """
    m = arm.measured
    if m is None:
        return "failed" if arm.failed else "not run"
    if not m.batches:
        return "first call only"
    if head is None:
        return m.estimate.cell(m.precision)
    return m.headline.cell(m.precision, head)


def _first(c: Comparison, verdicts: dict[str, str]) -> tuple[str, str]:
    """Return the arm to name first: the fastest, else what is slower, open, or the same."""
    word = next(w for w in ("FASTER", "SLOWER", "CAN'T TELL", "SAME") if w in verdicts.values())
    found = [(label, c.ratio(label)) for label, each in verdicts.items() if each == word]
    name, _ = min(found, key=lambda arm: arm[1].value if arm[1] else math.inf)
    return name, word


def _table(c: Comparison) -> Table:
    kinds = {r.kind() for arm in c.sides if (r := c.ratio(arm.label))}
    sure = kinds.pop() if len(kinds) == 1 else ""  # else each cell says what it is
    mixed = bool(_mixed(c))
    times = name_column(m.estimate if mixed else m.headline for _, m in _measured(c))
    rows = []
    for arm in c.sides:
        m = arm.measured
        first = units.duration(m.first_call, m.precision) if m else ""
        words, shown = _against(c, arm.label)
        interval = (shown.span() if sure else shown.sure()) if shown else ""
        rows.append((arm.label, per_call(arm, None if mixed else times), first, words, interval))
    head = (
        "arm",
        times,
        "first call",
        f"against {_short(c.baseline)}",
        sure or "interval",
    )
    if all(not row[-1] for row in rows):
        return Table("", head[:-1], tuple(row[:-1] for row in rows), folded=False)
    return Table("", head, tuple(rows), folded=False)


def _short(name: str) -> str:
    """Return a name that leaves room for the other columns: kept names may be long."""
    return name if len(name) <= MAX_LABEL_LENGTH else "the baseline"


def _against(c: Comparison, label: str) -> tuple[str, Ratio | None]:
    """Return how an arm compares with the baseline, and the ratio whose interval says how sure."""
    ratio, word = c.ratio(label), c.verdict(label)
    if label == c.baseline:
        return "baseline", None
    if word in NO_FIGURE or not word:
        return word, None
    if ratio is None:
        return "can't tell", None
    if word in ("FASTER", "SLOWER"):
        return _speed(ratio, word), _towards(ratio, word)
    return ("same" if word == "SAME" else "can't tell"), ratio


def _bars(c: Comparison) -> Iterator[Bars]:
    measured = [(label, m) for label, m in _measured(c) if m.batches]
    if len(measured) > 1:
        mixed = bool(_mixed(c))
        drawn = [(label, m, m.estimate if mixed else m.headline) for label, m in measured]
        drawn.sort(key=lambda arm: arm[2].value)
        name = name_column(estimate for *_, estimate in drawn)
        bars = tuple(_bar(c, *arm, "median " if mixed else "") for arm in drawn)
        yield Bars(bars, f"{name}, per call")


def _mixed(c: Comparison) -> list[tuple[str, Measurement]]:
    """Return the arms with a headline that is no median, where others have one that is.

    Times and lengths that stand side by side are compared: they are medians then, all of them.
    """
    found = [(label, m) for label, m in _measured(c) if m.batches]
    of_one = len({m.headline.statistic for _, m in found}) < 2
    return [] if of_one else [each for each in found if each[1].headline.statistic != "median"]


def _bar(c: Comparison, label: str, m: Measurement, drawn: Estimate, name: str) -> Bar:
    shown = f"{name}{units.duration(drawn.value, m.precision)}"
    aside, is_base = _against(c, label)[0], label == c.baseline
    return Bar(label, drawn.value, *drawn.ends, shown, aside, is_base)


def _rows(c: Comparison) -> Iterator[tuple[str, str]]:
    measured = _measured(c)
    if mixed := _mixed(c):
        of = "pairs of samples" if c.interleaved else "medians"
        alone = ", ".join(f"{name} as {m.headline.words(m.precision)}" for name, m in mixed)
        yield "ratios", f"of {of}; times are medians, while %fwtime shows {alone}"
    queued = [
        f"{name} {units.duration(m.throughput, m.precision)}"
        for name, m in measured
        if m.throughput is not None and m.throughput < _QUEUED_SHARE * m.headline.value
    ]
    if queued:
        yield "throughput", f"{', '.join(queued)} per call, when calls are queued"
    for name, m in measured:
        if m.phases:
            yield "first call", f"{name} {spell_phases(m.first_call, m.phases, m.precision)}"
    for name, m in measured:
        if m.counterpart is not None and not m.counterpart.compiled and m.batches:
            yield "break-even", f"{name} {m.counterpart.words(m.median, m.half_width)}"
    if c.equal:
        unlike = any(note.code in notes.UNLIKE for note in c.notes)
        yield "in common" if unlike else "like for like", " · ".join(c.equal)
    yield from _sampling(c)


def _sampling(c: Comparison) -> Iterator[tuple[str, str]]:
    """How the samples were taken, and what they show of equal code."""
    if not c.compared:
        return
    if not c.interleaved:
        yield "samples", "not interleaved: they are from different runs"
        return
    seconds = units.duration(c.elapsed, 2)
    yield "samples", f"{_count_samples(c)}, interleaved, in {seconds}"
    itself = c.against_itself
    if itself is None:
        return
    found = f"{c.baseline} against itself is {_between(itself)} ({itself.kind()})"
    if not itself.is_known:
        found = f"{c.baseline} scatters too much to compare it with itself"
    if itself.coverage is None:
        yield "self-check", f"none: too few samples to compare {c.baseline} with itself"
    elif not itself.covers_one():
        yield "self-check", f"failed: {found}, not 1×: the machine is too noisy"
    elif c.floor > _WIDE_CONTROL:
        least = units.times(math.exp(min(c.floor, _WIDEST)))
        yield "self-check", f"{found}: differences below {least} cannot be seen"
    else:
        yield "self-check", f"passed: {found}"


def _count_samples(c: Comparison) -> str:
    """Return how many samples each arm has: one that an error ended has fewer."""
    counts = {label: len(m.samples) for label, m in _measured(c) if m.batches}
    most = max(counts.values())
    fewer = [f"{count:,} of {label}" for label, count in counts.items() if count < most]
    return f"{most:,} of each arm" + (f", only {', '.join(fewer)}" if fewer else "")


def _measured(c: Comparison) -> list[tuple[str, Measurement]]:
    return [(arm.label, m) for arm in c.sides if (m := arm.measured)]
