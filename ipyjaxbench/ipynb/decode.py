"""The cells of a notebook. Of outputs only records of one kind are kept: the rest can be large."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ipyjaxbench.errors import RecordError

_MAX_BYTES = 256_000_000
_MAX_RECORD_BYTES = 8_000_000
_MAX_SOURCE_BYTES = 1_000_000  # of a cell that are read
_FORMAT = 4
_NO_CELLS = "is not a notebook: it has no list of cells"
#: A string in JSON, without its end where that is cut off.
_STRING = re.compile(
    rb""""((?:[^"\\]+ | \\[^u]
    | \\u(?![dD][89a-bA-B])[0-9a-fA-F]{4} | \\u[dD][89a-bA-B]..\\u[0-9a-fA-F]{4}  # a pair
    )*+)"?""",
    re.DOTALL | re.VERBOSE,
)


class TooLargeError(RecordError):
    """A notebook is too large to read."""


class Limits(NamedTuple):
    """How much of a notebook is read; None for all.

    Attributes:
        cells: a notebook of more is refused.
        records: those of cells after so many are left out.
    """

    cells: int | None = None
    records: int | None = None


_ALL = Limits()


class NotebookCell(NamedTuple):
    """What of a cell is needed.

    Attributes:
        number: of the cell, from 1.
        cell_id: its id; empty if it has none.
        cell_type: "code" or another.
        source: its code; of long code the first megabyte.
        records: what its outputs hold under the MIME type that was asked for, as JSON; empty where
            that is too large.
    """

    number: int
    cell_id: str
    cell_type: str
    source: str
    records: tuple[bytes, ...]


class DamagedCell(NamedTuple):
    """A cell that cannot be read, and why."""

    number: int
    reason: str


@dataclass(frozen=True)
class NotebookFile:
    """A saved notebook.

    Attributes:
        cells: in order.
        python: version of the kernel's Python; empty if unknown.
    """

    cells: tuple[NotebookCell | DamagedCell, ...]
    python: str


def read_file(name: str) -> bytes:
    """Return the bytes of a notebook.

    Raises:
        RecordError: there is no such file, or it is too large.
    """
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            raise RecordError(f"{name} is not a notebook but a directory or a device")
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise RecordError(f"{name} is too large: {size:,} bytes (limit {_MAX_BYTES:,})")
        return path.read_bytes()
    except FileNotFoundError:
        raise RecordError(f"{name}: no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{name} cannot be read: {reason}") from None


def decode_notebook(name: str, data: bytes, mime: str, limits: Limits = _ALL) -> NotebookFile:
    """Return what of a notebook is needed; nothing in it is trusted.

    Args:
        name: of the notebook, for messages.
        data: its file.
        mime: the MIME type of the records in its outputs.
        limits: how much of it is read.

    Raises:
        RecordError: it is not a notebook of Jupyter's format 4.
        TooLargeError: it has too many cells.
    """
    import msgspec

    try:
        content = _decoders(mime)[0].decode(data)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{name} {_reason(data, error)}") from None
    if content.nbformat != _FORMAT:
        other = "none" if content.nbformat is msgspec.UNSET else content.nbformat
        raise RecordError(f"{name}: notebook format {other!r} is not supported, only {_FORMAT}")
    if content.cells is msgspec.UNSET:
        raise RecordError(f"{name} {_NO_CELLS}")
    count, most = len(content.cells), limits.cells
    if most is not None and count > most:
        raise TooLargeError(f"{name} has {count:,} cells: more than {most:,}, so none is read")
    cells = _cells(content.cells, mime, limits.records)
    return NotebookFile(tuple(cells), _python_version(content.metadata))


def decode_record(raw: bytes) -> object:
    """Return a record.

    Raises:
        RecordError: it is too large, or no valid JSON.
    """
    import msgspec

    if not raw:
        raise RecordError(f"the record is too large: more than {_MAX_RECORD_BYTES:,} bytes")
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"the record is damaged: {error}") from None


def _reason(data: bytes, error: Exception) -> str:
    """Return why a file is not a notebook: it is not JSON, or another kind of it."""
    import msgspec

    if isinstance(error, RecursionError):
        return "cannot be read: nested too deeply"
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return f"cannot be read: not JSON ({error})"
    return _NO_CELLS


def _cells(cells: list[Any], mime: str, most: int | None) -> Iterator[NotebookCell | DamagedCell]:
    import msgspec

    _, of_cell, of_source = _decoders(mime)
    count = 0
    for number, raw in enumerate(cells, 1):
        try:
            cell = of_cell.decode(raw)
            source = _read_source(cell.source, of_source)
        except (ValueError, RecursionError) as error:
            yield DamagedCell(number, f"the cell is damaged: {error}")
            continue
        is_read = most is None or count < most
        bundles = [out.data for out in cell.outputs if is_read and out.data is not None]
        records = tuple(_record(b.record) for b in bundles if b.record is not msgspec.UNSET)
        count += len(records)
        yield NotebookCell(number, cell.id, cell.cell_type, source, records)


def _record(raw: Any) -> bytes:
    return bytes(raw) if memoryview(raw).nbytes <= _MAX_RECORD_BYTES else b""


def _read_source(raw: Any, decoder: Any) -> str:
    """Return the first megabyte of a cell's code, which is a string or a list of lines."""
    import msgspec

    whole = memoryview(raw)
    if whole.nbytes <= _MAX_SOURCE_BYTES or bytes(whole[:1]) not in (b'"', b"["):
        lines: str | list[str] = decoder.decode(raw)
        return lines if isinstance(lines, str) else "".join(lines)
    begin = bytes(whole[:_MAX_SOURCE_BYTES]).decode("utf-8", "ignore").encode()
    strings = (match[1] for match in _STRING.finditer(begin))
    return "".join(msgspec.json.decode(b'"%b"' % string, type=str) for string in strings)


@cache
def _decoders(mime: str) -> tuple[Any, Any, Any]:
    """Return decoders of a notebook, whose cells stay as they are, of a cell, and of its code."""
    import msgspec

    unset = msgspec.UNSET
    bundle = msgspec.defstruct("Bundle", [("record", msgspec.Raw, unset)], rename={"record": mime})
    output: Any = msgspec.defstruct("Output", [("data", bundle | None, None)], gc=False)
    cell = msgspec.defstruct(
        "Cell",
        [
            ("cell_type", str),
            ("source", msgspec.Raw, msgspec.Raw(b'""')),
            ("id", str, ""),
            ("outputs", list[output], msgspec.field(default_factory=list)),
        ],
    )
    notebook = msgspec.defstruct(
        "Notebook",
        [("cells", list[msgspec.Raw], unset), ("nbformat", Any, unset), ("metadata", Any, None)],
    )
    decoder = msgspec.json.Decoder
    return decoder(notebook), decoder(cell), decoder(str | list[str])


def _python_version(metadata: Any) -> str:
    version = metadata
    for name in ("language_info", "version"):
        version = version.get(name) if isinstance(version, dict) else None
    return version if isinstance(version, str) else ""
