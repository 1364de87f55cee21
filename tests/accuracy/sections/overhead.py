"""What the harness itself adds to a call."""

import statistics
import time
from collections.abc import Iterator, Sequence

import ipyjaxbench
from tests.accuracy import ready
from tests.accuracy.case import Case
from tests.accuracy.looks import truth
from tests.accuracy.section import Column, Row, Section, label

_PER_ROUND = 5
_BAR = 100.0
_CASES = (
    Case("one result", "f()", "wait(f())"),
    Case("a result with a name", "y = f()", "y = f(); wait(y)"),
    Case("a name set back", "x = g(x)", "x = g(a); wait(x)"),
    Case("one call per sample", "f()", "wait(f())"),
)
_ALONE = {"number": 1, "repeat": 2000}


def _clock_pair() -> float:
    """Seconds between two readings of the clock: a part of each sample."""
    now = time.perf_counter_ns
    return statistics.median(-(now() - now()) for _ in range(20_001)) * 1e-9


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each form of statement."""
    ready.register()
    array = ready.array()
    for case in _CASES:
        names = {"wait": ready.wait, "f": lambda: array, "g": lambda a: a, "a": array, "x": array}
        alone = case is _CASES[-1]
        truths, figures = [truth(case, names)], []
        for _ in range(_PER_ROUND * rounds):
            options = _ALONE if alone else {}
            result = ipyjaxbench.measure_code(case.typed, names, **options)
            if "ready" not in result.frameworks or not result.waited:
                raise AssertionError("the framework that does nothing was not found")
            figures.append(result.median - (_clock_pair() if alone else 0.0))
            truths.append(truth(case, names))
        extra = [
            figure - (before + after) / 2
            for figure, before, after in zip(figures, truths, truths[1:], strict=False)
        ]
        yield {
            "group": group,
            "name": case.name,
            "typed": case.typed,
            "truth": statistics.median(truths) * 1e9,
            "ours": statistics.median(figures) * 1e9,
            "extra": statistics.median(extra) * 1e9,
            "low": min(extra) * 1e9,
            "high": max(extra) * 1e9,
        }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    most = max(rows, key=lambda row: row["extra"])
    verdict = "reached" if most["extra"] < _BAR else "NOT REACHED"
    yield f"At most {most['extra']:.0f} ns, {label(most)}; under {_BAR:.0f} wanted: {verdict}."


OVERHEAD = Section(
    name="overhead",
    title="What does the harness add to a call?",
    method=(
        "A framework whose arrays are ready at once and whose wait does nothing. From our figure"
        " the truth is taken away: a loop with the same call and the same wait. In the last row"
        " each sample is one call, and the clock's own time is taken away too."
    ),
    columns=(
        Column("typed", 9, "the statement", "{typed}"),
        Column("truth, ns", 9, "nanoseconds per call", "{truth:.1f}"),
        Column("ours, ns", 9, "our figure", "{ours:.1f}"),
        Column("added, ns", 9, "the median of the differences", "{extra:.1f}"),
        Column("range", 14, "of the differences", "{low:.1f} to {high:.1f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)
