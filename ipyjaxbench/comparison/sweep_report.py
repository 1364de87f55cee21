"""How a sweep is shown: which arm is the fastest where, a picture, a table, and how time grows."""

import itertools
import re
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.comparison.comparison_report import DEPENDS_ON_CALLS, per_call
from ipyjaxbench.comparison.crossings import Crossing, find_crossings
from ipyjaxbench.comparison.scaling_blocks import scaling_blocks, scaling_rows
from ipyjaxbench.comparison.sweep import Skipped, Sweep, timed_arms
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Axis,
    Block,
    Chart,
    Facts,
    Footer,
    Headline,
    Mark,
    Note,
    Notes,
    Report,
    Series,
    Table,
    report,
)
from ipyjaxbench.timing import MEDIAN_AND_RERUN

_NO_FASTEST = "-"
#: Points are read against each other: all are of one statistic, whatever leads at one of them.
_TIMES = f"{MEDIAN_AND_RERUN}, per call"
_FLAT = 0.1  # exponents up to which a time that may not grow at all is said not to
_NUMBERS = re.compile(r"[\d\[]")
_NO_WINNER = "no clear winner"


@report.register
def _(s: Sweep) -> Report:
    """The blocks in the order in which they are read."""
    blocks: list[Block]
    if s.scaling is not None:
        blocks = [*scaling_blocks(s, s.scaling)]
    else:
        crossings = find_crossings(s) or []
        blocks = [_headline(s, crossings), *_chart(s, crossings), _table(s)]
    blocks += [Facts((*_rows(s),)), Notes((*_notes(s),))]
    versions = {n: v for point in s.points for arm in point.compared.sides if arm.measured
                for n, v in arm.measured.frameworks.items()}  # fmt: skip
    return Report((*blocks, Footer((units.versions(versions),))))


def _headline(s: Sweep, crossings: list[Crossing]) -> Headline:
    title = f"{', '.join(s.labels)} by {', '.join(s.names)}"
    if not s.points:
        return Headline(title, "no result", "nothing was measured", "FAILED", "")
    winners = {label for label, _, _ in _spans(s) if label}
    word = "CHANGES" if len(winners) > 1 else "FASTEST"
    word = word if winners else _verdict_without_winner(s)
    explained = {
        "CHANGES": "" if crossings else f"the fastest arm depends on {', '.join(s.names)}",
        "FASTEST": "",
        "SAME": "all arms are within 3 % of each other",
        "FAILED": "fewer than two arms were measured",
        "CAN'T TELL": _why_unclear(s),
    }
    detail = _between(crossings) or "; ".join(_untimed(s) if winners else ())
    return Headline(title, _figure(s, crossings), detail, word, explained[word])


def _why_unclear(s: Sweep) -> str:
    is_of_calls = any(map(s.depends_on_calls, s.labels))
    return DEPENDS_ON_CALLS if is_of_calls else "the differences are smaller than the noise"


def _verdict_without_winner(s: Sweep) -> str:
    compared = [point.compared for point in s.points]
    verdicts = {c.verdict(label) for c in compared for label in c.compared}
    if not verdicts:
        return "FAILED"
    return "SAME" if verdicts == {"SAME"} else "CAN'T TELL"


def _figure(s: Sweep, crossings: list[Crossing]) -> str:
    """Say who overtakes whom where; else who is the fastest where."""
    spans = _spans(s)
    if crossings:
        return "; ".join(_overtakes(s, each) for each in crossings)
    if len(spans) == 1:
        (label, _, _) = spans[0]
        if not label:
            return _NO_WINNER
        if len(s.points) >= s.planned and not any(_untimed(s)):  # none is left out
            return f"{label} is the fastest everywhere"
    where = [f"{label} is the fastest {_range(s, first, last)}"
             for label, first, last in spans if label]  # fmt: skip
    return "; ".join(where) or _NO_WINNER


def _untimed(s: Sweep) -> Iterator[str]:
    """Say of each arm at which points it was not compared."""
    for label in s.labels:
        if points := [point for point in s.points if label not in timed_arms(point)]:
            rest = units.count(len(points) - 1, "more point") if len(points) > 1 else ""
            where = " and ".join(filter(None, (_at(s, points[0].values), rest)))
            yield f"{label} has no time at {where}"


def _range(s: Sweep, first: Sequence[str], last: Sequence[str]) -> str:
    """Return "at n = 16 to 64", or "from n=16, dt=2 to n=64, dt=2"."""
    if first == last:
        return f"at {_at(s, first)}"
    if len(first) == 1:
        return f"at {_at(s, first)} to {last[0]}"
    return f"from {_at(s, first)} to {_at(s, last)}"


def _at(s: Sweep, values: Sequence[str]) -> str:
    """Return "n = 16", or "n=16, dt=2"."""
    between = " = " if len(s.names) == 1 else "="
    return ", ".join(f"{n}{between}{value}" for n, value in zip(s.names, values, strict=True))


def _between(crossings: list[Crossing]) -> str:
    """Say between which points the only crossing was found."""
    if len(crossings) != 1:
        return ""
    (only,) = crossings
    return f"{only.slower} is fastest up to {only.before:g}, {only.faster} from {only.after:g}"


def _overtakes(s: Sweep, crossing: Crossing) -> str:
    value = units.number(crossing.value, 2)
    return f"{crossing.faster} overtakes {crossing.slower} at {s.names[0]} ≈ {value}"


def _spans(s: Sweep) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return runs of compared points with the same fastest arm: it, the first, the last point."""
    both = zip(s.points, s.winners, strict=True)
    compared = [(point, fastest) for point, fastest in both if len(timed_arms(point)) > 1]
    spans = []
    for label, run in itertools.groupby(compared, key=lambda each: each[1]):
        values = [point.values for point, _ in run]
        spans.append((label, values[0], values[-1]))
    return spans


def _table(s: Sweep) -> Table:
    rows = []
    for point, fastest in zip(s.points, s.winners, strict=True):
        times = {arm.label: per_call(arm) for arm in point.compared.sides}
        cells = [times.get(label, "") for label in s.labels]
        rows.append((", ".join(point.values), *cells, fastest or _NO_FASTEST))
    head = (", ".join(s.names), *s.labels, "fastest")
    return Table(_TIMES, head, tuple(rows), folded=False)


def _chart(s: Sweep, crossings: list[Crossing]) -> Iterator[Chart]:
    series = []
    for label in s.labels:
        ends = zip(s.times(label), s.intervals(label), strict=True)
        known = [(x, t, low, high) for (x, t), (low, high) in ends if t > 0]  # for logarithms
        if len(known) > 1:
            series.append(Series(label, tuple(known)))
    if series:
        at = tuple(sorted({point[0] for each in series for point in each.points}))
        marks = tuple(Mark(each.value, _overtakes(s, each), each.seconds) for each in crossings)
        yield Chart(Axis(s.names[0], at=at), Axis(_TIMES, "s"), tuple(series), marks)


def _rows(s: Sweep) -> Iterator[tuple[str, str]]:
    if s.scaling is not None:
        yield from scaling_rows(s, s.scaling)
    elif growth := "; ".join(_growth(s)):
        yield "growth", growth
    if s.not_drawn and any(s.times(label) for label in s.labels):
        where = f"{s.names[0]} = {', '.join(s.not_drawn)}"
        yield "not drawn", f"{where}: the axis is logarithmic, and growth is of ratios"
    for each in s.skipped:
        yield "left out", _left_out(s, each)
    for words, error in s.unmade.items():
        values = words.split(", ") if len(s.names) > 1 else [words]
        where = _at(s, values) if len(values) == len(s.names) else words
        yield "setup", f"failed at {where}: {error}"
    if s.planned > len(s.points):
        yield "points", f"{len(s.points)} of {s.planned} measured"


def _growth(s: Sweep) -> Iterator[str]:
    """Say how the time of arms grows, or that it does not."""
    name = s.names[0]
    grown: list[str] = []
    flat: list[str] = []
    unclear: list[str] = []
    for label in s.labels:
        p, ends = s.growth(label), s.growth_interval(label)
        if p is None:
            continue
        low, high = ends or (-_FLAT, _FLAT)
        if not low <= 0 <= high or (ends is None and abs(p) > _FLAT):
            grown.append(f"{name}^{p:.{1 if abs(p) >= _FLAT else 2}f} ({label})")
        elif max(-low, high) < _FLAT:
            flat.append(label)
        else:
            unclear.append(label)
    if grown:
        yield f"time grows like {', '.join(grown)}"
    if flat:
        yield f"the time of {', '.join(flat)} does not depend on {name}"
    if unclear:
        yield f"too noisy to tell for {', '.join(unclear)}"


def _left_out(s: Sweep, each: Skipped) -> str:
    where = f"{each.label} after {_at(s, each.after)}"
    if each.needed:
        needed, free = units.size(each.needed), units.size(each.free)
        return f"{where}: its arrays need {needed} at the next point, {free} is free"
    taken, budget = units.duration(each.per_call, 2), units.duration(each.budget, 2)
    return f"{where}: one call took {taken}, the budget of a point is {budget}"


def _notes(s: Sweep) -> Iterator[Note]:
    """Return each Note once, though its numbers change from point to point."""
    found: dict[tuple[str, str], Note] = {}
    for point in s.points:
        for note in point.compared.all_notes():
            names_arms = note.code == "slowed-by-others"  # not the same ones at every point
            words = "" if names_arms else _NUMBERS.split(note.text)[0]
            found.setdefault((note.code, words), note)
    yield from sorted(found.values(), key=lambda note: note.mark != CHANGES_MEANING)
