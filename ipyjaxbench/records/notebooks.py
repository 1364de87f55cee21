"""The records in a saved notebook. A notebook is not trusted: what it holds is read, never run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from typing import Any, overload

from ipyjaxbench.command import Command
from ipyjaxbench.comparison import Comparison, Sweep
from ipyjaxbench.device import About, Held, MemorySettings, Peaks, Transfers, Whereabouts
from ipyjaxbench.errors import OptionError, RecordError, short_errors
from ipyjaxbench.graphs import Diagnosis, Graph
from ipyjaxbench.ipynb import (
    DamagedCell,
    NotebookCell,
    NotebookFile,
    decode_notebook,
    decode_record,
    read_file,
)
from ipyjaxbench.purposes import PURPOSES
from ipyjaxbench.records.benchmarks import Benchmarks
from ipyjaxbench.records.commits import Commits
from ipyjaxbench.records.entry import find_measurements
from ipyjaxbench.records.history import History
from ipyjaxbench.records.notebook_diff import Rerun
from ipyjaxbench.reports import MIME, Headline, Reported, Result
from ipyjaxbench.retracing import Signatures, Traces
from ipyjaxbench.timing import Measurement, TimeOptions

#: What records can hold, by the name of its kind.
KINDS: dict[str, type[Result]] = {
    result.kind: result
    for result in (
        *(Measurement, Comparison, Sweep, Graph, Diagnosis, Traces, Signatures),
        *(Whereabouts, Transfers, MemorySettings, Peaks, Held, History, Rerun, About),
        *(Benchmarks, Commits),
    )
}
#: Modules of kinds that are loaded when a record is of one: their rooms are large, or above this.
LATER_KINDS = {
    "loop": "steps.loop_times",
    "job": "cluster.job_measurement",
    "job-whereabouts": "cluster.job_whereabouts",
    "job-traces": "cluster.job_traces",
    "job-peaks": "cluster.job_peaks",
    "network": "cluster.network_peaks",
}
_OF_ONE_RUN = ("measurement", "job")  # kinds whose figure is that of a measurement
_MAX_REASON = 200  # characters
_TIME = Command(name="fwtime", options=TimeOptions)
_NAMES = "|".join(PURPOSES)
_MAGIC = re.compile(rf"^\s*(?:[\w.]+\s*=\s*)?%%?(?P<name>{_NAMES})\b(?P<rest>.*)$")


@dataclass(frozen=True)
class Saved:
    """One saved result, and its place in the notebook.

    Attributes:
        cell: number of the cell, from 1.
        cell_id: id of the cell; empty if it has none.
        source: code of the cell.
        line: line of the magic in the cell, from 1; 0 if ambiguous.
        name: its ``--name``; empty if it has none.
        result: the saved result.
        headline: headline of its report; None if it has none.
    """

    cell: int
    cell_id: str
    source: str
    line: int
    name: str
    result: Result
    headline: Headline | None

    @property
    def found(self) -> str:
        """What it found, in words; empty where its report has no headline."""
        if self.result.kind in _OF_ONE_RUN:
            ((_, _, m),) = find_measurements(self.result, self.name)
            return m.headline.words(m.precision)
        return self.headline.figure if self.headline else ""


@dataclass(frozen=True)
class Refused:
    """A record that cannot be read.

    Attributes:
        cell: number of the cell, from 1.
        reason: why it cannot be read.
    """

    cell: int
    reason: str


@dataclass(frozen=True, repr=False)
class NotebookRecords(Reported, Sequence[Saved]):
    """All records of a saved notebook, in order.

    Attributes:
        path: path of the notebook.
        records: the readable records.
        refused: the unreadable ones.
        python: version of the kernel's Python; empty if unknown.

    Example:
        >>> # [saved.result.median for saved in read_notebook("a.ipynb")]
    """

    path: str
    records: tuple[Saved, ...]
    refused: tuple[Refused, ...] = ()
    python: str = ""

    def __len__(self) -> int:
        """How many could be read."""
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Saved: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Saved, ...]: ...

    def __getitem__(self, index: int | slice) -> Saved | tuple[Saved, ...]:
        """One of them, or some."""
        return self.records[index]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each result."""
        return [
            {
                "cell": saved.cell,
                "line": saved.line,
                "name": saved.name,
                "kind": saved.result.kind,
                "found": saved.found,
                "verdict": saved.headline.verdict if saved.headline else "",
            }
            for saved in self.records
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<NotebookRecords of {self.path}: {len(self)} records>"


@short_errors
def read_notebook(path: str | PathLike[str]) -> NotebookRecords:
    """Read all results saved in a notebook, without running anything in it.

    Args:
        path: of a notebook in Jupyter's format 4.

    Returns:
        The results, each with its cell; `refused` lists the records that could not be read.

    Raises:
        RecordError: there is no such file, or it is not a notebook.

    Example:
        >>> # read_notebook("a.ipynb")[0].result.median
    """
    try:
        name = fspath(path)
    except TypeError:
        given = f"{path!r}"
        raise RecordError(f"{given[:_MAX_REASON]}: must be the path of a notebook") from None
    return read_records(name, decode_notebook(name, read_file(name), MIME))


def read_records(name: str, notebook: NotebookFile) -> NotebookRecords:
    """Return the results in a notebook.

    Args:
        name: path of the notebook.
        notebook: its cells.
    """
    saved: list[Saved] = []
    refused: list[Refused] = []
    for cell in notebook.cells:
        if isinstance(cell, DamagedCell):
            refused.append(Refused(cell.number, cell.reason))
            continue
        for record in _read_cell(cell):
            if isinstance(record, Saved):
                saved.append(record)
            else:
                refused.append(record)
    return NotebookRecords(name, tuple(saved), tuple(refused), notebook.python)


def _read_cell(cell: NotebookCell) -> Iterator[Saved | Refused]:
    records = cell.records if cell.cell_type == "code" else ()
    lines = cell.source.splitlines() if records else []
    magics = [(n, match) for n, text in enumerate(lines, 1) if (match := _MAGIC.match(text))]
    for order, record in enumerate(records):
        try:
            result, headline = _read_result(decode_record(record))
        except RecordError as error:
            yield Refused(cell.number, str(error)[:_MAX_REASON])
            continue
        line, name = _find_magic(magics, result, order if len(magics) == len(records) else -1)
        yield Saved(cell.number, cell.cell_id, cell.source, line, name, result, headline)


def find_kind(kind: object) -> type[Result]:
    """Return the class of results of a kind.

    Raises:
        RecordError: there is no such kind.

    Example:
        >>> find_kind("measurement").__name__
        'Measurement'
    """
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    if isinstance(kind, str) and kind in LATER_KINDS:
        import_module(f"ipyjaxbench.{LATER_KINDS[kind]}")
        return next(each for each in Result.__subclasses__() if each.kind == kind)
    known = ", ".join((*KINDS, *LATER_KINDS))
    raise RecordError(f"{str(kind)[:40]!r} is not a kind of result; these are {known}")


def _read_result(record: object) -> tuple[Result, Headline | None]:
    """Return the result that a record holds, and what its report says first."""
    kind = record.get("kind") if isinstance(record, dict) else None
    result = find_kind(kind).from_dict(record)
    try:
        blocks = result.report().blocks
    except Exception as error:  # noqa: BLE001  a forged record may pass all checks and break this
        raise RecordError(f"the record makes no sense: {type(error).__name__}") from None
    return result, next((block for block in blocks if isinstance(block, Headline)), None)


def _find_magic(
    magics: Sequence[tuple[int, re.Match[str]]], result: Result, order: int
) -> tuple[int, str]:
    """Return the line of the magic that gave a result, and the name that it was given."""
    if isinstance(result, Measurement) and len(magics) > 1:
        first = (result.code.splitlines() or [""])[0]
        magics = [magic for magic in magics if first in magic[1]["rest"]] or magics
    if len(magics) != 1 and order < 0:
        return 0, ""
    line, match = magics[order if len(magics) > order >= 0 else 0]
    if match["name"] != _TIME.name:
        return line, ""
    try:
        return line, _TIME.split(match["rest"])[0].name or ""
    except OptionError:
        return line, ""
