"""The report of benchmarks over commits: what became slower and where, a picture, the figures."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.records.commits import AtCommit, CommitLine, Commits, Step
from ipyjaxbench.reports import (
    Axis,
    Block,
    Chart,
    Facts,
    Headline,
    Mark,
    Report,
    Series,
    Table,
    report,
    sparkline,
)
from ipyjaxbench.timing import MEDIAN_AND_RERUN, name_column

_MAX_SERIES = 8
_MAX_TABLES = 6
_MAX_NAME, _MAX_SUBJECT = 38, 34  # characters


@report.register
def _(c: Commits) -> Report:
    """Return the blocks in the order in which they are read."""
    return Report(tuple(_blocks(c)))


def _blocks(c: Commits) -> Iterator[Block]:
    yield _headline(c)
    if rows := [(units.cut(line.name, _MAX_NAME), _where(step)) for line, step in c.slower]:
        yield Facts(tuple(rows))
    yield from _charts(c)
    if len(c.lines) > 1:
        yield _overview(c)
    for line, steps in _detailed(c):
        yield _table(line, steps)
    if facts := [*_facts(c)]:
        yield Facts(tuple(facts))


def _headline(c: Commits) -> Headline:
    if not c.lines:
        return Headline("", "nothing measured", "at a commit of this branch", "", "")
    commits = {point.commit for line in c.lines for point in line.points}
    over = f"over {units.count(len(commits), 'commit')}"
    total, slower = len(c.lines), len(c.slower)
    if slower:
        return Headline("commits", f"{slower} of {total} slower", over, "SLOWER", "")
    return Headline("commits", f"none of {total} became slower", over, "", "")


def _where(step: Step) -> str:
    found = f"{step.ratio.factor()} {step.verdict.lower()} since {step.at.short}"
    sure = f" ({step.ratio.sure()})" if step.ratio.span() else ""
    last = f"; {step.before.short}, measured before it, does not show it for sure"
    with_it = f"; also changed: {', '.join(step.differs)}" if step.differs else ""
    return f"{found} “{units.cut(step.at.subject, _MAX_SUBJECT)}”{sure}{last}{with_it}"


def _charts(c: Commits) -> Iterator[Chart]:
    """Yield the medians by commit, those that became slower first."""
    slower = {line.name for line, _ in c.slower}
    lines = [line for line in c.lines if len(line.points) > 1]
    lines.sort(key=lambda line: (line.name not in slower, -len(line.points)))
    lines = lines[:_MAX_SERIES]
    if not lines:
        return
    order = _order(lines)
    places = {commit: float(number) for number, commit in enumerate(order, 1)}
    series = tuple(
        Series(units.cut(line.name, _MAX_NAME), tuple(_point(p, places) for p in line.points))
        for line in lines
    )
    marks = {places[step.at.commit]: step.at.short
             for line, step in c.slower if line in lines}  # fmt: skip
    ends = f"commit, from {order[0][:7]} to {order[-1][:7]}"
    yield Chart(
        Axis(ends, log=False, at=tuple(places.values())),
        Axis(f"{MEDIAN_AND_RERUN}, per call", "s"),
        series,
        tuple(Mark(x, words) for x, words in sorted(marks.items())),
    )


def _order(lines: Sequence[CommitLine]) -> list[str]:
    """Return the commits of several benchmarks, each of which has some of them in order."""
    order: list[str] = []
    for line in lines:
        at = 0
        for point in line.points:
            if point.commit in order:
                at = order.index(point.commit) + 1
            else:
                order.insert(at, point.commit)
                at += 1
    return order


def _point(point: AtCommit, places: dict[str, float]) -> tuple[float, float, float, float]:
    estimate = point.entry.figure.estimate
    return (places[point.commit], point.entry.median, *estimate.ends)


def _overview(c: Commits) -> Table:
    times = name_column(line.points[-1].entry.headline for line in c.lines)
    rows = []
    for line, steps in c.steps:
        trend = sparkline([point.entry.median for point in line.points])
        changes = ", ".join(_step(step) for step in steps[-2:])
        newest = line.points[-1].entry.headline.cell(head=times)
        rows.append((units.cut(line.name, _MAX_NAME), newest, trend, changes))
    return Table("", ("name", f"newest, {times}", "trend", "changes"), tuple(rows),
                 folded=False)  # fmt: skip


def _step(step: Step) -> str:
    return f"{step.verdict} {step.ratio.factor()} {step.at.short}"


def _detailed(c: Commits) -> list[tuple[CommitLine, tuple[Step, ...]]]:
    """Return the benchmarks whose commits are listed: all of few, else those that changed."""
    if len(c.lines) <= 1:
        return [*c.steps]
    return [(line, steps) for line, steps in c.steps if steps][:_MAX_TABLES]


def _table(line: CommitLine, steps: Sequence[Step]) -> Table:
    changes = {step.at.commit: f"{step.verdict} {step.ratio.factor()}" for step in steps}
    times = name_column(point.entry.headline for point in line.points)
    rows = [
        (
            point.short,
            point.entry.headline.cell(head=times) + (f", {point.runs} runs" * (point.runs > 1)),
            changes.get(point.commit, ""),
            units.cut(point.subject, _MAX_SUBJECT),
        )
        for point in line.points
    ]
    return Table(line.name, ("commit", times, "change", "subject"), tuple(rows),
                 folded=False)  # fmt: skip


def _facts(c: Commits) -> Iterator[tuple[str, str]]:
    elsewhere = sum(line.elsewhere for line in c.lines)
    for count, why in (
        (c.without, "made outside of a Git repository"),
        (c.unreachable, "made at commits that do not lead to this one, as those of other branches"),
        (elsewhere, "made on another machine or device than the newest one"),
    ):
        if count:
            yield "left out", f"{units.count(count, 'measurement')} {why}"
    if c.lines:
        yield (
            "rule",
            (
                "SLOWER and FASTER: the 95 % interval of the ratio is beyond 1 %, corrected for the"
                " number of comparisons. What is not committed counts as the commit below it"
            ),
        )
