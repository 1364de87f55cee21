"""Writes the file of ``--trace``, and refuses a place for it before anything is measured."""

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from ipyjaxbench.errors import OptionError, by_caller
from ipyjaxbench.timing.perfetto.events import Event, events_of
from ipyjaxbench.timing.perfetto.timeline import TimedSession
from ipyjaxbench.timing.perfetto.trace_file import TraceFile

#: Begins every trace that is written here, so that no other file is overwritten.
_OURS = '{"otherData": {"made by": "ipyjaxbench'
_GZIP = b"\x1f\x8b"


def find_target(name: str) -> Path:
    """Return where a trace is to be written.

    Raises:
        OptionError: nothing can be written there, or a file would be lost.
    """
    typed = by_caller(f"--trace {name}", f"trace={name!r}")
    path = Path(os.path.realpath(os.path.expanduser(name)))
    folder = path.parent
    if path.is_dir():
        raise OptionError(f"{typed}: is a folder; give a file, such as {name.rstrip('/')}/a.json")
    if not folder.is_dir():
        raise OptionError(f"{typed}: there is no folder {folder}; make it, or name another one")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionError(f"{typed}: you may not write into {folder}; name another folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise OptionError(f"{typed}: you may not write to that file; give another name")
    if path.exists() and not _is_ours(path):
        raise OptionError(
            f"{typed}: that file is there and is no trace of ipyjaxbench; give another name, or"
            " remove it"
        )
    return path


def _is_ours(path: Path) -> bool:
    """Whether a file is empty, or begins as traces do that are written here."""
    if not path.is_file():
        return False
    try:
        with open(path, "rb") as plain:
            is_packed = plain.read(2) == _GZIP
        with gzip.open(path) if is_packed else open(path, "rb") as file:
            return file.read(len(_OURS)) in (_OURS.encode(), b"")
    except (OSError, EOFError, zlib.error):
        return False


def write_trace(
    path: Path, sessions: Sequence[TimedSession], facts: Mapping[str, str], reason: str
) -> TraceFile:
    """Write sessions, in place of an earlier trace once all is written; say why, if that fails.

    Args:
        path: from `find_target`.
        sessions: what the profiled passes did.
        facts: what the file says of itself, such as the code.
        reason: why there are none, if there are none.
    """
    if not sessions:
        return TraceFile(str(path), reason=reason or "no call was profiled")
    try:
        if path.exists() and not _is_ours(path):
            return TraceFile(str(path), reason=f"{path.name} is another file by now")
        events = _replace(path, sessions, facts)
        return TraceFile(str(path), path.stat().st_size, events, missing=_missing(sessions))
    except OSError as error:
        return TraceFile(str(path), reason=error.strerror or str(error))


def _missing(sessions: Sequence[TimedSession]) -> str:
    reasons = {s.lines_reason for session in sessions for s in session.stretches}
    found = sorted(reasons - {""})
    found += [
        f"{session.framework}: the moment of its operations is not known"
        for session in sessions
        if session.offset is None
    ]
    return "; ".join(dict.fromkeys(found))


def _replace(path: Path, sessions: Sequence[TimedSession], facts: Mapping[str, str]) -> int:
    """Write beside the file and rename, so that nothing is left half written."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(scratch, "wb") as file:
            # Without a time, so that the same events make the same file.
            packed = gzip.GzipFile("", "wb", 6, file, mtime=0) if path.suffix == ".gz" else file
            with io.TextIOWrapper(packed, "utf-8") as text:
                written = _write(text, events_of(sessions), facts)
        os.replace(scratch, path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise
    return written


def _write(file: IO[str], events: Iterable[Event], facts: Mapping[str, str]) -> int:
    """Write one event after the other, and return how many are no names of tracks."""
    count = 0
    more = "".join(f", {json.dumps(key)}: {json.dumps(text)}" for key, text in facts.items())
    file.write(f'{_OURS}"{more}}}, "displayTimeUnit": "ns", "traceEvents": [')
    for number, event in enumerate(events):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(event, allow_nan=False))
        count += event["ph"] == "X"
    file.write("\n]}\n")
    return count
