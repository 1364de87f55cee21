"""What a saved notebook holds of its own: for where kernels keep their history elsewhere."""

from typing import Any

from ipyjaxbench.ipynb import NotebookCell, NotebookFile
from ipyjaxbench.records import (
    Location,
    NotebookRecords,
    Rerun,
    compare_notebooks,
    make_entries,
    read_records,
)
from ipyjaxbench.server.measured import describe, describe_measured
from ipyjaxbench.server.notebook import Cell
from ipyjaxbench.timing import Figure
from ipyjaxbench.usercode import first_line


def cells_of(notebook: NotebookFile) -> list[Cell]:
    """Return its code cells."""
    return [Cell(cell.cell_id, cell.number, cell.source) for cell in notebook.cells
            if isinstance(cell, NotebookCell) and cell.cell_type == "code"]  # fmt: skip


def describe_saved(path: str, notebook: NotebookFile) -> list[dict[str, Any]]:
    """Return the measured cells with what is saved in them.

    Args:
        path: of the notebook.
        notebook: its cells.
    """
    described: dict[int, dict[str, Any]] = {}
    for saved in read_records(path, notebook):
        where = Location(notebook=path, cell=saved.cell_id)
        for entry in make_entries(saved.result, saved.name, when=0.0, where=where, revision=""):
            cell = described.setdefault(
                saved.cell,
                {"cell": saved.cell_id, "number": saved.cell,
                 "line": first_line(saved.source), "measured": []},
            )  # fmt: skip
            cell["measured"].append(describe_measured("", entry, None, [entry.median]))
    return [*described.values()]


def compare_saved(names: tuple[str, str], notebooks: list[NotebookFile]) -> Rerun:
    """Return two saved notebooks, one held against the other.

    Args:
        names: of the two.
        notebooks: their cells.

    Raises:
        RecordError: they have no measurement in common.
    """
    both: list[NotebookRecords] = [
        read_records(name, notebook) for name, notebook in zip(names, notebooks, strict=True)
    ]
    return compare_notebooks(*both)


def describe_rerun(rerun: Rerun) -> dict[str, Any]:
    """Return what is slower or faster in the second of two notebooks."""
    pairs = zip(rerun.pairs, rerun.changes, strict=True)
    return {
        "before": rerun.before,
        "after": rerun.after,
        "differs": rerun.differs,
        "pairs": [
            {"name": pair.name, "before": _figure(pair.before), "after": _figure(pair.after),
             "change": describe(change, edited=pair.edited), "edited": pair.edited}
            for pair, change in pairs
        ],
        "only_before": rerun.only_before,
        "only_after": rerun.only_after,
    }  # fmt: skip


def _figure(figure: Figure) -> dict[str, Any]:
    return {"median": figure.median, "figure": figure.headline.words(), "verdict": figure.verdict}
