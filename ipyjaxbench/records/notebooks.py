"""The records in a saved notebook. A notebook is not trusted: what it holds is read, never run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, overload

from ipyjaxbench.command import Command
from ipyjaxbench.comparison import Comparison, Sweep
from ipyjaxbench.device import About, Ceilings, MemorySettings, Transfers, Whereabouts
from ipyjaxbench.errors import OptionError, RecordError, short_errors
from ipyjaxbench.graphs import Diagnosis, Graph
from ipyjaxbench.purposes import PURPOSES
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
        *(Whereabouts, Transfers, MemorySettings, Ceilings, History, Rerun, About),
    )
}
_MAX_BYTES = 256_000_000
_FORMAT = 4
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
                "found": saved.headline.figure if saved.headline else "",
                "verdict": saved.headline.verdict if saved.headline else "",
            }
            for saved in self.records
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<NotebookRecords of {self.path}: {len(self)} records>"


@dataclass(frozen=True)
class _Cell:
    """What of a cell is needed; a notebook may have its texts in lines."""

    cell_type: str
    source: str | list[str] = ""
    id: str = ""
    outputs: tuple[dict[str, Any], ...] = ()

    @property
    def code(self) -> str:
        return self.source if isinstance(self.source, str) else "".join(self.source)

    def records(self) -> Iterator[object]:
        """Yield what the outputs hold under the name of a record."""
        for output in self.outputs:
            data = output.get("data")
            if isinstance(data, dict) and MIME in data:
                yield data[MIME]


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
    import msgspec

    try:
        name = fspath(path)
    except TypeError:
        given = f"{path!r}"
        raise RecordError(f"{given[:_MAX_REASON]}: must be the path of a notebook") from None
    content = _decode(name)
    if content.get("nbformat") != _FORMAT:
        other = content.get("nbformat", "none")
        raise RecordError(f"{name}: notebook format {other!r} is not supported, only {_FORMAT}")
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise RecordError(f"{name} is not a notebook: it has no list of cells")
    saved: list[Saved] = []
    refused: list[Refused] = []
    for number, plain in enumerate(cells, 1):
        try:
            cell = msgspec.convert(plain, _Cell)
        except (msgspec.ValidationError, RecursionError) as error:
            refused.append(Refused(number, f"the cell is damaged: {error}"))
            continue
        for record in _read_cell(number, cell):
            if isinstance(record, Saved):
                saved.append(record)
            else:
                refused.append(record)
    return NotebookRecords(name, tuple(saved), tuple(refused), _python_version(content))


def _decode(name: str) -> dict[str, Any]:
    """Return the whole file as plain data."""
    import msgspec

    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            raise RecordError(f"{name} is not a notebook but a directory or a device")
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise RecordError(f"{name} is too large: {size:,} bytes (limit {_MAX_BYTES:,})")
        content = msgspec.json.decode(path.read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise RecordError(f"{name}: no such file") from None
        reason = getattr(error, "strerror", None) or f"not JSON ({error})"
        raise RecordError(f"{name} cannot be read: {reason}") from None
    except RecursionError:
        raise RecordError(f"{name} cannot be read: nested too deeply") from None
    if not isinstance(content, dict):
        raise RecordError(f"{name} is not a notebook: it has no list of cells")
    return content


def _python_version(content: dict[str, Any]) -> str:
    version: Any = content
    for name in ("metadata", "language_info", "version"):
        version = version.get(name) if isinstance(version, dict) else None
    return version if isinstance(version, str) else ""


def _read_cell(number: int, cell: _Cell) -> Iterator[Saved | Refused]:
    magics = [
        (line, match)
        for line, text in enumerate(cell.code.splitlines(), 1)
        if (match := _MAGIC.match(text))
    ]
    records = list(cell.records()) if cell.cell_type == "code" else []
    for order, record in enumerate(records):
        try:
            result, headline = _read_result(record)
        except RecordError as error:
            yield Refused(number, str(error)[:_MAX_REASON])
            continue
        line, name = _find_magic(magics, result, order if len(magics) == len(records) else -1)
        yield Saved(number, cell.id, cell.code, line, name, result, headline)


def _read_result(record: object) -> tuple[Result, Headline | None]:
    """Return the result that a record holds, and what its report says first."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise RecordError(
            f"{str(kind)[:40]!r} is not a kind of result; these are {', '.join(KINDS)}"
        )
    result = KINDS[kind].from_dict(record)
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
