"""How the scaling of arms over engines is shown: speed-up and efficiency, and the ideal."""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.comparison.comparison_report import DEPENDS_ON_CALLS
from ipyjaxbench.comparison.scaling import KINDS, Kind, Scaled, Scaling
from ipyjaxbench.comparison.sweep import Sweep
from ipyjaxbench.reports import Axis, Block, Chart, Headline, Series, Table
from ipyjaxbench.timing import name_column

_SHARES: dict[Kind, str] = {
    "strong": "the same work is divided",
    "weak": "each engine does the same work",
}
_UNCLEAR = "can't tell"


def scaling_blocks(s: Sweep, scaling: Scaling) -> Iterator[Block]:
    """Yield the headline, the picture, and a table for each arm."""
    found = {label: scaled for label in s.labels if (scaled := s.scaled(label))}
    yield _headline(s, scaling, found)
    yield from _chart(found)
    for label, scaled in found.items():
        yield _table(label if len(s.labels) > 1 else "", scaled)


def scaling_rows(s: Sweep, scaling: Scaling) -> Iterator[tuple[str, str]]:
    """Yield what the work of each arm is, by which formula, and who takes part."""
    bases = [scaled[0].engines for label in s.labels if len(scaled := s.scaled(label)) > 1]
    for kind in KINDS:
        labels = [label for label in s.labels if scaling.kinds.get(label) == kind]
        if labels and bases:
            arms = f" ({', '.join(labels)})" if len(labels) < len(s.labels) else ""
            why = _reason(scaling, labels, kind)
            yield kind, f"{_SHARES[kind]}{arms}{why}; {_formula(kind, min(bases))}"
    if scaling.job:
        yield "job", f"all ranks of one {scaling.job} job take part in each call, at each number"
    else:
        yield "engines", "n at the same time, each by itself; times are those of the slowest"


def _reason(scaling: Scaling, labels: list[str], kind: Kind) -> str:
    """Return why work is taken to be divided or not; "" where the user said so."""
    reading = [label in scaling.reads for label in labels]
    if kind == "strong" and all(reading):
        return ": the code reads engines"
    return ": the code does not read engines" if kind == "weak" and not any(reading) else ""


def _formula(kind: Kind, base: int) -> str:
    """Return how speed-up and efficiency follow from T(n), the time on n engines."""
    times = "" if base == 1 else f"{base}·"
    divisor = f"({times}T(n))" if times else "T(n)"
    if kind == "strong":
        return f"speed-up T({base})/T(n), efficiency {times}T({base})/(n·T(n))"
    return f"speed-up n·T({base})/{divisor}, efficiency T({base})/T(n)"


def _headline(s: Sweep, scaling: Scaling, found: dict[str, list[Scaled]]) -> Headline:
    title = f"{', '.join(s.labels)} by {', '.join(s.names)}"
    if not found and any(map(s.depends_on_calls, s.labels)):
        return Headline(title, "no clear speed-up", DEPENDS_ON_CALLS, "CAN'T TELL", "")
    if not found:
        return Headline(title, "no result", "nothing was measured", "FAILED", "")
    last = {label: scaled[-1] for label, scaled in found.items()}
    several = [label for label, scaled in found.items() if len(scaled) > 1]
    if not several:
        return Headline(title, *_single(last), "", "")
    kinds = {label: scaling.kinds[label] for label in several}
    figures = [_figure(found[label], kind) for label, kind in kinds.items()]
    words = [f"{kind} scaling: {_SHARES[kind]}" for kind in KINDS if kind in kinds.values()]
    verdicts = {_verdict(last[label].speedup.verdict) for label in several}
    verdict = verdicts.pop() if len(verdicts) == 1 else ""
    if len(found) == 1:
        return Headline(title, figures[0], f"{_reached(last[several[0]])}, {words[0]}", verdict, "")
    arms = "; ".join(map(" ".join, zip(several, figures, strict=True)))
    return Headline(title, arms, words[0] if len(words) == 1 else "", verdict, "")


def _single(last: dict[str, Scaled]) -> tuple[str, str]:
    """Return what is known of one number of engines alone."""
    times = {label: each.measured.headline.words() for label, each in last.items()}
    (each, *_) = last.values()
    shown = ", ".join(
        f"{label} {time}" if len(times) > 1 else time for label, time in times.items()
    )
    where = units.count(each.engines, "engine")
    return shown, f"per call on {where}; a speed-up takes two numbers of engines"


def _verdict(word: str) -> str:
    """Return the word for a speed-up: a ratio of times the other way round."""
    return {"FASTER": "SLOWER", "SLOWER": "FASTER"}.get(word, word)


def _figure(scaled: list[Scaled], kind: Kind) -> str:
    """Say what the largest number of engines brings."""
    base, last = scaled[0].engines, scaled[-1]
    word, speedup = _verdict(last.speedup.verdict), last.speedup
    than = f" than on {base}" if base > 1 else ""
    where = f"on {units.count(last.engines, 'engine')}"
    if word == "CAN'T TELL":
        return f"no clear speed-up {where}"
    if word == "SAME":
        return f"as fast {where} as on {base}"
    if kind == "weak":
        of = f" of {base}" if base > 1 else ""
        return f"{speedup.factor()} the throughput{of} {where}"
    shown = speedup if word == "FASTER" else speedup.inverse
    return f"{shown.factor()} {word.lower()} {where}{than}"


def _reached(last: Scaled) -> str:
    """Return how near to the ideal an arm comes, as far as that is known."""
    if last.speedup.pairs < last.speedup.fewest:
        return "too few samples for a ratio"
    if not last.speedup.is_known:
        return "the samples scatter too much for a ratio"
    if last.may_be_ideal():
        return f"no clear difference from ideal ({_efficiency(last)} efficiency)"
    return f"{_efficiency(last)} efficiency"


def _efficiency(each: Scaled) -> str:
    """Return the efficiency; its interval where that contains the ideal."""
    if not each.speedup.is_known or each.speedup.pairs < each.speedup.fewest:
        return _UNCLEAR
    low, high = (f"{100 * end:.0f}" for end in each.efficiency_ends)
    if each.may_be_ideal() and low != high:
        return f"{low}–{high} %"
    return f"{100 * each.efficiency:.0f} %"


def _table(caption: str, scaled: list[Scaled]) -> Table:
    times = name_column(each.measured.headline for each in scaled)
    head = ("engines", times, "speed-up", scaled[-1].speedup.kind(), "efficiency")
    rows = []
    for each in scaled:
        gain = (each.speedup.factor(), each.speedup.span(), _efficiency(each))
        gain = ("baseline", "", "") if each.ideal == 1 else gain
        m = each.measured
        rows.append((str(each.engines), m.headline.cell(m.precision, times), *gain))
    columns = 5 if len(rows) > 1 else 2
    return Table(caption, head[:columns], tuple(row[:columns] for row in rows), folded=False)


def _chart(found: dict[str, list[Scaled]]) -> Iterator[Chart]:
    series = []
    for label, scaled in found.items():
        points = ((each.engines, *_height(each)) for each in scaled)
        if len(scaled) > 1:
            series.append(Series(label, tuple(points)))
    if series:
        longest = max((scaled for scaled in found.values()), key=len)
        ideal = tuple((each.engines, *3 * (each.ideal,)) for each in longest)
        at = tuple(float(each.engines) for each in longest)
        lines = (*series, Series("ideal", ideal, limit=True))
        yield Chart(Axis("engines", at=at), Axis("speed-up"), lines)


def _height(each: Scaled) -> tuple[float, float, float]:
    """Return a speed-up with its ends; itself three times where those are unknown."""
    ratio = each.speedup
    return (ratio.value, ratio.low, ratio.high) if ratio.is_known else 3 * (ratio.value,)
