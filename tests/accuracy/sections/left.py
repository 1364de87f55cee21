"""What timing leaves of the session, held against what one plain run leaves."""

import importlib.util
import re
from collections.abc import Iterator, Sequence
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tests.accuracy.left import CELLS
from tests.accuracy.left.cells import Cell
from tests.accuracy.left.portrait import Portrait
from tests.accuracy.left.settings import settings
from tests.accuracy.section import Column, Row, Section

_TIMED = "%%fwtime -q -b 0.05 -v found\n"
_TELLING = (
    "state-advanced",
    "value-cached",
    "not-all-kept",
    "not-all-followed",
    "changed-meanwhile",
)
_RESTORED = "put-back"
OUTCOMES = ("as once", "told", "silent", "untrue", "failed")


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each library: how many of its cells left what, and those that are wrong."""
    shell = InteractiveShell.instance()
    _run(shell, "%load_ext ipyjaxbench")
    for library in CELLS[group]:
        row: Row = {"group": library.name, "name": f"{len([*library])} cells"}
        if importlib.util.find_spec(library.name) is None:
            yield {**row, "left_out": "it is not installed here"}
            continue
        found = [(cell, *_outcome(shell, cell)) for cell in library]
        counts = {each: sum(outcome == each for _, outcome, _ in found) for each in OUTCOMES}
        wrong = [f"{library.name}, {outcome}: `{cell.code}` ({why})"
                 for cell, outcome, why in found if outcome not in ("as once", "told")]  # fmt: skip
        yield {**row, **counts, "wrong": wrong}


def _run(shell: InteractiveShell, cell: str) -> None:
    with capture_output():
        done = shell.run_cell(cell, store_history=False)
    done.raise_error()


def _outcome(shell: InteractiveShell, cell: Cell) -> tuple[str, str]:
    """What became of a cell, and the names that differ or why it failed."""
    try:
        once, _ = _left(shell, cell, cell.code)
        timed, notes = _left(shell, cell, _TIMED + cell.code)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"[:200]
    differ = [name for name in {**once, **timed} if once.get(name) != timed.get(name)]
    return outcome(differ, notes), ", ".join(differ)


def outcome(differ: Sequence[str], notes: dict[str, str]) -> str:
    """What a report is worth that has these notes, where these names hold something else."""
    told = " ".join(notes[code] for code in _TELLING if code in notes)
    if not differ:
        return "as once"
    restored = re.split(r"[:,]? ", notes.get(_RESTORED, "").rstrip("."))
    if any(name and name in restored and repr(name) not in told for name in differ):
        return "untrue"
    return "told" if told else "silent"


def _left(shell: InteractiveShell, cell: Cell, line: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Run a line in a fresh namespace; return what all names and settings hold, and its notes."""
    shell.reset(new_session=False)
    fresh = {*shell.user_ns}
    _run(shell, cell.setup)
    try:
        _run(shell, line)
        names = shell.user_ns
        found = names.pop("found", None)
        notes = {} if found is None else {note.code: note.text for note in found.notes}
        own = {n: v for n, v in names.items() if n not in fresh and not n.startswith("_")}
        held = {**own, "": eval(cell.left, names)}
        portrait = Portrait()
        drawn = {name: portrait.draw(value) for name, value in sorted(held.items())}
        return {**drawn, **{n: Portrait().draw(v) for n, v in settings().items()}}, notes
    finally:
        _run(shell, cell.undo)


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    total = {each: sum(row[each] for row in rows) for each in OUTCOMES}
    cells = sum(total.values())
    is_reached = total["silent"] == total["untrue"] == total["failed"] == 0
    yield (f"{cells} cells: {total['as once']} as after one run, {total['told']} told,"
           f" {total['silent']} changed in silence, {total['untrue']} untrue, 0 of both wanted:"
           f" {'reached' if is_reached else 'NOT REACHED'}.")  # fmt: skip
    yield from (line for row in rows for line in row["wrong"])


LEFT = Section(
    name="left",
    title="Is the session as after one run?",
    method=(
        "Cells that change something: names, objects, files, settings. Each runs once plainly in a"
        " fresh namespace, and once under `%fwtime` in another; then all names are compared deeply"
        " (arrays bit for bit, objects by their attributes), and settings of the process. What"
        " differs is to be told by a note."
    ),
    columns=(
        Column("as once", 7, "as after one plain run", "{as once}"),
        Column("told", 5, "different, and a note tells it", "{told}"),
        Column("silent", 6, "different without a note", "{silent}"),
        Column("untrue", 6, "different, and said to be restored", "{untrue}"),
        Column("failed", 6, "did not run", "{failed}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python", "numpy", "jax", "torch", "tensorflow"),
)
