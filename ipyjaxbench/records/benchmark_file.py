"""The file of ``--fwbench-json``: the record of one run of a test suite. It is not trusted."""

import os
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path

from ipyjaxbench.errors import RecordError
from ipyjaxbench.ipynb import read_file
from ipyjaxbench.records.benchmarks import Benchmarks

_HOW = "pytest --fwbench-json FILE writes one"
_MAX_REASON = 200  # characters


def read_benchmarks(path: str | PathLike[str]) -> Benchmarks:
    """Return the benchmarks of one run.

    Args:
        path: what ``--fwbench-json`` was given.

    Raises:
        RecordError: there is no such file, or it is none of ``--fwbench-json``.
    """
    name = fspath(path)
    found = decode_benchmarks(name, read_file(name))
    if found is None:
        raise RecordError(f"{name} is not a file of benchmarks: {_HOW}")
    return found


def decode_benchmarks(name: str, data: bytes) -> Benchmarks | None:
    """Return the benchmarks in a file; None where it is of another kind, such as a notebook.

    Raises:
        RecordError: it is not JSON, or the record is damaged.
    """
    import msgspec

    try:
        record = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{name} cannot be read: not JSON ({error})") from None
    if not isinstance(record, dict) or record.get("kind") != Benchmarks.kind:
        return None
    try:
        return Benchmarks.from_dict(record)
    except RecordError as error:
        raise RecordError(f"{name}: {str(error)[:_MAX_REASON]}") from None


def write_benchmarks(path: str, benchmarks: Benchmarks) -> None:
    """Write a file that others may read: who reads it sees the old one or the new one.

    Raises:
        OSError: it could not be written; the old one is left.
    """
    import msgspec

    target = Path(path)
    scratch = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        scratch.write_bytes(msgspec.json.format(msgspec.json.encode(benchmarks.to_dict())) + b"\n")
        os.replace(scratch, target)
    except OSError:
        with suppress(OSError):
            scratch.unlink()
        raise
