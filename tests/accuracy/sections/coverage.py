"""Whether the stated interval can be believed."""

import statistics
from collections.abc import Iterator, Sequence

import ipyjaxbench
from tests.accuracy.case import settle
from tests.accuracy.cases import GROUPS
from tests.accuracy.section import Column, Row, Section

_PER_ROUND, _LEAST = 7, 20
_BAR = 0.8


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each of a group's expressions whose intervals are looked at."""
    cases = [(case, case.names()) for case in GROUPS[group] if case.coverage]
    found: dict[str, list[ipyjaxbench.Measurement]] = {case.name: [] for case, _ in cases}
    for _ in range(max(_PER_ROUND * rounds, _LEAST)):
        for case, names in cases:  # in turns, so that the runs of one are spread over time
            settle(names)
            found[case.name].append(ipyjaxbench.measure_code(case.typed, names))
    for name, runs in found.items():
        middle = statistics.median(run.median for run in runs)
        yield {
            "group": group,
            "name": name,
            "middle": middle,
            "runs": len(runs),
            "covered": sum(run.interval[0] <= middle <= run.interval[1] for run in runs),
            "half width": statistics.median(run.half_width for run in runs),
            "off": statistics.median(abs(run.median / middle - 1) for run in runs),
        }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    runs, covered = (sum(row[key] for row in rows) for key in ("runs", "covered"))
    verdict = "reached" if covered >= _BAR * runs else "NOT REACHED"
    yield f"All together {covered} of {runs}, {covered / runs:.0%}; {_BAR:.0%} wanted: {verdict}."
    low = [row["name"] for row in rows if row["covered"] < _BAR * row["runs"]]
    yield f"Below that alone: {', '.join(low) or 'none'}."


COVERAGE = Section(
    name="coverage",
    title="Does the interval cover?",
    method=(
        "Each expression is measured again and again in one session. The interval that each"
        " report states should cover what all runs agree on, the median of their figures."
    ),
    columns=(
        Column("median, µs", 11, "of all runs' figures", lambda r: f"{r['middle'] * 1e6:.2f}"),
        Column("stated ±", 8, "half of the interval: the median of the runs", "{half width:.1%}"),
        Column("off", 6, "how far a run's figure is from the median of all: the median of the runs",
               "{off:.1%}"),
        Column("covered", 9, "runs whose interval covers the median of all", "{covered} of {runs}"),
        Column("share", 6, "the same as a share", lambda r: f"{r['covered'] / r['runs']:.0%}"),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(g for g, cases in GROUPS.items() if any(case.coverage for case in cases)),
)  # fmt: skip
