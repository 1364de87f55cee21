"""How a sweep is told: who is fastest where, a table, a picture, and how the time grows."""

import itertools
import re
from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.comparison.comparison_report import per_call
from ipyjaxbench.comparison.sweep import Skipped, Sweep
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Axis,
    Block,
    Chart,
    Facts,
    Headline,
    Note,
    Notes,
    Report,
    Series,
    Table,
    report,
)

_TIE = "-"
_NUMBERS = re.compile(r"[\d\[]")


@report.register
def _(s: Sweep) -> Report:
    """The blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(s), _table(s), *_chart(s), Facts((*_rows(s),))]
    return Report((*blocks, Notes((*_notes(s),))))


def _headline(s: Sweep) -> Headline:
    title = f"over {', '.join(s.names)}"
    if not s.points:
        return Headline(title, "no point", "nothing was measured", "NOTHING", "")
    spans = _spans(s)
    winners = [label for label, _, _ in spans if label]
    figure = "; ".join(_words(s, span) for span in spans if span[0]) or "no arm is the fastest"
    if winners:
        word = "CHANGES" if len(set(winners)) > 1 else "FASTEST"
    else:
        word = _verdict_without_winner(s)
    explained = {
        "CHANGES": "which arm is the fastest depends on the value",
        "FASTEST": "one arm is the fastest where there is a difference",
        "SAME": "all arms are within 3 % of each other",
        "FAILED": "fewer than two arms were measured anywhere",
        "CAN'T TELL": "no two arms can be told apart",
    }
    return Headline(title, figure, "", word, explained[word])


def _verdict_without_winner(s: Sweep) -> str:
    compared = [point.compared for point in s.points]
    verdicts = {c.verdict(side.label) for c in compared for side in c.sides if c.ratio(side.label)}
    if not verdicts:
        return "FAILED"
    return "SAME" if verdicts == {"SAME"} else "CAN'T TELL"


def _spans(s: Sweep) -> list[tuple[str, str, str]]:
    """Return runs of points with the same fastest arm: it, the first, and the last point."""
    spans = []
    fastest = [(s.fastest(point), ", ".join(point.values)) for point in s.points]
    for label, run in itertools.groupby(fastest, key=lambda each: each[0]):
        values = [value for _, value in run]
        spans.append((label, values[0], values[-1]))
    return spans


def _words(s: Sweep, span: tuple[str, str, str]) -> str:
    label, first, last = span
    name = ", ".join(s.names)
    if len(_spans(s)) == 1:
        return f"{label} is the fastest everywhere"
    where = f"at {name} = {first}" if first == last else f"from {name} = {first} to {last}"
    return f"{label} is the fastest {where}"


def _table(s: Sweep) -> Table:
    rows = []
    for point in s.points:
        times = {side.label: per_call(side) for side in point.compared.sides}
        cells = [times.get(label, "") for label in s.labels]
        rows.append((", ".join(point.values), *cells, s.fastest(point) or _TIE))
    return Table("", (", ".join(s.names), *s.labels, "fastest"), tuple(rows), folded=False)


def _chart(s: Sweep) -> Iterator[Chart]:
    series = []
    for label in s.labels:
        ends = {
            point.values: m.interval
            for point in s.points
            for side in point.compared.sides
            if side.label == label and (m := side.measured) and m.batches
        }
        known = [(x, t, *span) for (x, t), span in zip(s.times(label), ends.values(), strict=False)]
        if len(known) > 1:
            series.append(Series(label, tuple(known)))
    if series:
        at = tuple(sorted({point[0] for each in series for point in each.points}))
        yield Chart(Axis(s.names[0], at=at), Axis("time per call", "s"), tuple(series))


def _rows(s: Sweep) -> Iterator[tuple[str, str]]:
    grown = [(label, s.growth(label)) for label in s.labels]
    exponents = [f"{label} {s.names[0]}^{abs(p) if abs(p) < 0.05 else p:.1f}"
            for label, p in grown if p is not None]  # fmt: skip
    if exponents:
        yield "growth", f"the time of a call grows as {', '.join(exponents)}"
    for each in s.skipped:
        yield "left out", _left_out(s, each)
    for values, error in s.unmade.items():
        yield "set-up", f"it failed at {', '.join(s.names)} = {values}: {error}"
    if s.planned > len(s.points):
        yield "points", f"{len(s.points)} of {s.planned} were measured"
    versions = {n: v for point in s.points for side in point.compared.sides if side.measured
                for n, v in side.measured.frameworks.items()}  # fmt: skip
    if versions:
        yield "with", units.versions(versions)


def _left_out(s: Sweep, each: Skipped) -> str:
    where = f"{each.label} after {', '.join(s.names)} = {', '.join(each.after)}"
    if each.needed:
        needed, free = units.size(each.needed), units.size(each.free)
        return f"{where}: its arrays would take {needed} at the next point, and {free} are free"
    taken, budget = units.duration(each.per_call, 2), units.duration(each.budget, 2)
    return f"{where}: a call took {taken}, and a point has {budget} in all"


def _notes(s: Sweep) -> Iterator[Note]:
    """Return each Note once, though its numbers change from point to point."""
    found: dict[tuple[str, str], Note] = {}
    for point in s.points:
        for note in point.compared.all_notes():
            found.setdefault((note.code, _NUMBERS.split(note.text)[0]), note)
    yield from sorted(found.values(), key=lambda note: note.mark != CHANGES_MEANING)
