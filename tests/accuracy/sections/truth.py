"""Whether our figure is right: each expression's over a truth that is waited for by hand."""

import statistics
from collections.abc import Iterator, Sequence

from tests.accuracy.case import Case, Names
from tests.accuracy.cases import GROUPS
from tests.accuracy.looks import Look, ours, truth
from tests.accuracy.section import Column, Row, Section, names_of

_TINY = 10e-6
_MOVED, _TRIES = 0.05, 4  # a round in which the truth itself moves by more is made again


def bar(row: Row) -> tuple[float, float]:
    """Between which ratios a figure counts as right."""
    if row["first"]:
        return 0.75, 1.3
    return (0.8, 1.25) if row["truth"] < _TINY else (0.9, 1.1)


def is_right(row: Row) -> bool:
    """Whether the median of the rounds is inside of the bars."""
    low, high = bar(row)
    return low <= statistics.median(row["ours"]) <= high


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each expression of a framework."""
    for case in GROUPS[group]:
        row = {"group": group, "name": case.name, "typed": case.typed, "first": case.first}
        try:
            yield {**row, "why": case.why, **compared(case, rounds)}
        except Exception as error:
            yield {**row, "left_out": f"{type(error).__name__}: {error}".splitlines()[0][:100]}


def compared(case: Case, rounds: int) -> Row:
    """Our figures of an expression over the truth, in turns with it."""
    names = case.names()
    if not case.first:
        truth(case, names)  # pools of threads start, caches fill
    truths: list[float] = []
    looks: list[Look] = []
    ratios: list[float] = []
    for _ in range(rounds):
        for _again in range(_TRIES):
            around, mine = _round(case, names)
            if max(around) <= (1 + _MOVED) * min(around) or case.first:
                break
        looks.append(mine)
        truths.append(statistics.mean(around))
        ratios.append(mine.figure / truths[-1])
    return {
        "place": names.get("place", "cpu"),
        "truth": statistics.median(truths),
        "ours": ratios,
        "spent": [look.spent for look in looks],
        "verdicts": [look.verdict for look in looks],
    }


def _round(case: Case, names: Names) -> tuple[list[float], Look]:
    """The truth before and after our look, and that."""
    found: list[float | Look] = []
    for look in (truth, ours, truth):
        if case.first:
            case.prepare(names)
        found.append(look(case, names))
    before, mine, after = found
    return [before, after], mine


def _verdict(row: Row) -> str:
    if is_right(row):
        return "ok"
    return f"OUT: {row['why']}" if row["why"] else "OUT"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    wrong = [row for row in rows if not is_right(row)]
    yield f"{len(rows) - len(wrong)} of {len(rows)} figures are inside of the bars."
    yield f"Outside of the bars: {names_of(wrong)}."


TRUTH = Section(
    name="truth",
    title="Is the figure right?",
    method=(
        "The truth is a loop written by hand. It waits for the result in every iteration and reads"
        " the clock around batches of at least 0.2 ms. Its figure is the median of the batches."
        " It is measured before and after ours, in every round. A round in which these two"
        " differ by more than 5 % says nothing, and is made again, three times at most. A figure"
        " is right from 0.90 to 1.10 times the truth, from 0.80 to 1.25 where a call takes under"
        " 10 µs, and from 0.75 to 1.30 for a first call, which happens once only."
    ),
    columns=(
        Column("truth, µs", 12, "microseconds per call", lambda r: f"{r['truth'] * 1e6:.3f}"),
        Column("ours", 6, "our figure divided by the truth: 1.00 is right. The median of the"
               " rounds", lambda r: f"{statistics.median(r['ours']):.2f}"),
        Column("range", 11, "of that ratio over the rounds",
               lambda r: f"{min(r['ours']):.2f}-{max(r['ours']):.2f}"),
        Column("bars", 11, "between which it counts as right",
               lambda r: "{:.2f}-{:.2f}".format(*bar(r))),
        Column("verdict", 8, "whether it is between them; why not, where that is known", _verdict),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(GROUPS),
)  # fmt: skip
