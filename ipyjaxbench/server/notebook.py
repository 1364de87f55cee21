"""``api/notebook``: what each cell measured when it last ran, in the order of the cells."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ipyjaxbench.records import EntryHead
from ipyjaxbench.server.measured import TREND, describe_measured, split_id
from ipyjaxbench.server.runs import Run, find_runs
from ipyjaxbench.server.series import Kept
from ipyjaxbench.usercode import first_line

_MAX_RUNS = 50  # to choose a baseline from

#: What one execution of a cell measured, in order.
_Execution = list[Kept]


class Cell(NamedTuple):
    """A cell of the saved notebook."""

    cell_id: str
    number: int
    source: str


def find_cells(
    cells: Sequence[Cell], kept: Iterable[Kept], places: Sequence[str]
) -> dict[str, list[_Execution]]:
    """Return the executions of each cell that has measured something, newest first.

    A new cell is in the history before it is saved. A notebook that was renamed is known by the
    ids of its cells, which stay; so do a copy's, so what was measured in another notebook that
    still exists is not of this one.

    Args:
        cells: of the saved notebook.
        kept: all of the history, newest first.
        places: under which the history may know the notebook.
    """
    ids = {cell.cell_id for cell in cells}
    exists: dict[str, bool] = {}
    found: dict[str, list[Kept]] = {}
    for own_id, head in kept:
        where = head.where
        if where.notebook not in places:
            if where.cell not in ids:
                continue
            if where.notebook not in exists:
                exists[where.notebook] = os.path.isfile(where.notebook)
            if exists[where.notebook]:
                continue
        if where.cell:
            found.setdefault(where.cell, []).append((own_id, head))
    return {cell_id: _split(some) for cell_id, some in found.items()}


def _split(newest_first: Sequence[Kept]) -> list[_Execution]:
    groups = groupby(newest_first, key=_execution)
    return [[*reversed([*group])] for _, group in groups]


def _execution(kept: Kept) -> tuple[object, ...]:
    """Return what tells one execution of a cell from another; old entries have their moment."""
    head = kept[1]
    return split_id(kept[0])[0], head.where.execution or head.when


def runs_of(found: dict[str, list[_Execution]]) -> list[Run]:
    """Return the runs of a notebook, newest first."""
    return find_runs((cell_id, each) for cell_id, some in found.items() for each in some)


def describe_cells(
    cells: Sequence[Cell],
    found: dict[str, list[_Execution]],
    runs: Sequence[Run],
    baseline: Run | None,
) -> list[dict[str, Any]]:
    """Return each measured cell with the figures of its last execution.

    Args:
        cells: of the saved notebook; those that are not saved yet come last.
        found: the executions of each.
        runs: of the notebook.
        baseline: the run that all are compared with; None for the execution before.
    """
    unsaved = [Cell(cell_id, 0, "") for cell_id in found.keys() - {cell.cell_id for cell in cells}]
    among = sum(len(executions[0]) for executions in found.values())
    described = []
    for cell in (*cells, *sorted(unsaved)):
        executions = found.get(cell.cell_id, [])
        if measured := [*_describe_last(executions, runs, baseline, among)]:
            line = first_line(cell.source) or measured[0]["line"]
            described.append(
                {"cell": cell.cell_id, "number": cell.number, "line": line, "measured": measured}
            )
    return described


def describe_runs(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the newest runs."""
    return [{"run": run.name, "when": run.when, "count": run.count} for run in runs[:_MAX_RUNS]]


def _describe_last(
    executions: Sequence[_Execution], runs: Sequence[Run], baseline: Run | None, among: int
) -> Iterator[dict[str, Any]]:
    for number, (own_id, head) in enumerate(executions[0] if executions else ()):
        earlier = [
            (other[0][0], match)
            for other in executions[1:]
            if (match := _match(executions[0], number, other)) is not None
        ]
        if baseline is None:
            before = earlier[0][1] if earlier else None
        else:  # what this cell had measured when that run ended
            known = [(own_id, head), *earlier]
            before = next((match for other, match in known if baseline.knew(other)), None)
        is_baseline = baseline is not None and before is head
        run = baseline if is_baseline else next((run for run in runs if run.has(own_id)), None)
        trend = [match.median for _, match in reversed(earlier[: TREND - 1])]
        described = describe_measured(own_id, head, before, [*trend, head.median], among)
        yield described | ({"run": run.name} if run else {})


def _match(execution: _Execution, number: int, other: _Execution) -> EntryHead | None:
    """Return the figure of another execution that is the same one; None where none is.

    It has the same label, swept values and clock; of several the one of the same code, else the
    one in the same place, where as many were measured.
    """
    head = execution[number][1]
    same = [each for _, each in execution if _key(each) == _key(head)]
    candidates = [each for _, each in other if _key(each) == _key(head)]
    turn = next(i for i, each in enumerate(same) if each is head)
    alike = [each for each in candidates if each.code == head.code]
    if alike:
        turn = sum(each.code == head.code for each in same[:turn])
        return alike[min(turn, len(alike) - 1)]
    return candidates[turn] if len(candidates) == len(same) else None


def _key(head: EntryHead) -> tuple[object, ...]:
    return head.label, head.at, head.magic, head.clock
