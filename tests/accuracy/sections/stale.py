"""Whether ordinary code is ever said to run a stale program."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.accuracy.ordinary import LIBRARIES
from tests.accuracy.section import Column, Row, Section
from tests.accuracy.stale_job import Told

_NOTEBOOKS = Path(__file__).parents[3] / "examples"
_SECONDS = 900  # of one notebook


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each library's snippets, in one session, and for each notebook, in one of its own.

    Each snippet runs twice, so that what it compiles is cached.
    """
    here = [each for each in LIBRARIES if importlib.util.find_spec(each.name) is not None]
    told = Told()
    for library in here:
        told.run(library.setup)
    for library in here:
        before, told.cells, told.cached, told.stale = told.stale, 0, 0, []
        for line in library.lines:
            told.look_at(line)
            told.look_at(line)
        yield {"group": library.name, "name": f"{len(library.lines)} snippets", **told.row()}
        told.stale = before
    for path in sorted(_NOTEBOOKS.glob("*.ipynb")):
        yield {"group": "examples", "name": path.stem, **_notebook(path)}


def _notebook(path: Path) -> Row:
    command = [sys.executable, "-m", "tests.accuracy.stale_job", str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"left_out": f"it took more than {_SECONDS} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("told ")]
    if not lines:
        return {"left_out": (done.stderr.strip().splitlines() or ["no reason"])[-1][:100]}
    found: Row = json.loads(lines[0].removeprefix("told "))
    return found


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    cells, cached = (sum(row[key] for row in rows) for key in ("cells", "cached"))
    stale = [line for row in rows for line in row["stale"]]
    verdict = "NOT REACHED" if stale else "reached"
    yield f"{cells:,} cells, {cached:,} cached calls; {len(stale)} stale, 0 wanted: {verdict}."
    yield from stale


STALE = Section(
    name="stale",
    title="Is ordinary code ever called stale?",
    method=(
        "The snippets of the section on ordinary code, all libraries in one session, each of them"
        " twice; then the cells of all example notebooks, a session for each. Calls are looked at"
        " by `%%trace_cached` where a cell has no magic of its own, and `--watch on` reports below"
        " all of them. None of these runs anything that was traced before the code changed."
    ),
    columns=(
        Column("cells", 5, "that ran to their end", "{cells}"),
        Column("cached", 6, "calls that found their program", "{cached:,}"),
        Column("stale", 5, "what was said to be stale", lambda r: f"{len(r['stale'])}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)
