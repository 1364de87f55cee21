"""Runs of a notebook: any of them can be the baseline.

In one process a new run begins where a cell is executed that the run has executed already. So two
times "Run All Cells" are two runs, and so is a cell that is executed again and again.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ipyjaxbench.server.measured import split_id
from ipyjaxbench.server.series import Kept


@dataclass(frozen=True)
class Run:
    """One pass through the cells of a notebook.

    Attributes:
        process: that ran it: the stem of its file in the history.
        first: number of the line of its first measurement in that file.
        last: number of the line of its last one.
        when: time of its last measurement, in seconds since 1970.
        count: how many measurements it made.
    """

    process: str
    first: int
    last: int
    when: float
    count: int

    @property
    def name(self) -> str:
        """What it is called in requests; it stays the same while the run goes on."""
        return f"{self.process}@{self.first}"

    def has(self, own_id: str) -> bool:
        """Whether it made a measurement."""
        process, line = split_id(own_id)
        return process == self.process and self.first <= line <= self.last

    def knew(self, own_id: str) -> bool:
        """Whether a measurement had been made in its process when it ended."""
        process, line = split_id(own_id)
        return process == self.process and line <= self.last


def find_runs(executions: Iterable[tuple[str, list[Kept]]]) -> list[Run]:
    """Return the runs of a notebook, newest first.

    Args:
        executions: the id of a cell, with what it measured in one execution.
    """
    runs: list[list[list[Kept]]] = []
    cells, current = set[str](), ""
    for cell_id, measured in sorted(executions, key=lambda each: split_id(each[1][0][0])):
        process, _ = split_id(measured[0][0])
        if process != current or cell_id in cells:
            runs.append([])
            cells, current = set(), process
        cells.add(cell_id)
        runs[-1].append(measured)
    return sorted(map(_describe, runs), key=lambda run: (run.when, run.last), reverse=True)


def _describe(executions: list[list[Kept]]) -> Run:
    kept = [each for execution in executions for each in execution]
    process, first = split_id(kept[0][0])
    last = max(split_id(own_id)[1] for own_id, _ in kept)
    return Run(process, first, last, max(head.when for _, head in kept), len(kept))
