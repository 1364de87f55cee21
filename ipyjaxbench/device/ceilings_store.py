"""Ceilings that were measured before: a file for each machine, device, framework and version."""

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ipyjaxbench.device.ceilings import Ceiling, Ceilings
from ipyjaxbench.errors import RecordError
from ipyjaxbench.host import data_folder, describe_machine, make_data_folder, open_private
from ipyjaxbench.reports import Note

_MAX_BYTES = 100_000  # of a file; a larger one is none of ours
#: By the file that could not be written: this session has them all the same.
_not_written: dict[Path, Ceiling] = {}


class Key(NamedTuple):
    """What a ceiling depends on, beside the machine."""

    framework: str
    version: str
    kind: str
    threads: int | None
    settings: str


def read(key: Key) -> tuple[Ceiling | None, list[Note]]:
    """Return the ceiling that was stored, and what is wrong with its file."""
    path = data_folder("ceilings") / _name(key)
    try:
        if path in _not_written or not path.is_file():
            return _not_written.get(path), []
        ceiling = _decode(path)
        if key != Key(*(getattr(ceiling, name) for name in Key._fields)):
            raise RecordError("of another device")
    except (OSError, ValueError, RecursionError, RecordError) as error:
        text = f"ignored {path.name}: {error}"
        return None, [Note("ceiling-unread", text)]
    # Earlier versions stored those that other programs disturbed.
    return None if ceiling.is_disturbed else ceiling, []


def _decode(path: Path) -> Ceiling:
    import msgspec

    if path.stat().st_size > _MAX_BYTES:
        raise RecordError("too large")
    (ceiling,) = Ceilings.from_dict(msgspec.json.decode(path.read_bytes())).found
    return ceiling


def write(key: Key, ceiling: Ceiling) -> list[Note]:
    """Store a ceiling; return why that failed."""
    path = data_folder("ceilings") / _name(key)
    _not_written[path] = ceiling
    if make_data_folder("ceilings") is None:
        return _failure_note("Jupyter's data directory is not writable")
    text = json.dumps(Ceilings((ceiling,), ceiling.taken, ceiling.seconds).to_dict())
    scratch = path.with_suffix(f".{os.getpid()}.part")
    try:
        # A reader sees the old file or the new one, and never a part of it.
        with open(scratch, "w", encoding="utf-8", opener=open_private) as file:
            file.write(text)
        os.replace(scratch, path)
        del _not_written[path]
    except OSError as error:
        with suppress(OSError):
            scratch.unlink()
        return _failure_note(error.strerror or error)
    return []


def _failure_note(reason: object) -> list[Note]:
    text = f"peaks were not stored for other sessions: {reason}"
    return [Note("ceiling-not-kept", text)]


def stored_ceilings() -> tuple[Ceiling, ...]:
    """Return what was stored for this machine, whichever framework; asks no framework."""
    found = []
    for path in sorted(data_folder("ceilings").glob("*.json")):
        try:
            ceiling = _decode(path)
        except (OSError, ValueError, RecursionError, RecordError):
            continue
        key = Key(*(getattr(ceiling, name) for name in Key._fields))
        if path.name == _name(key) and not ceiling.is_disturbed:
            found.append(ceiling)
    return tuple(found)


def has_ceilings(framework: str) -> bool:
    """Whether ceilings of a framework were kept, of whichever device."""
    folder = data_folder("ceilings")
    if any(p.parent == folder and p.name.startswith(f"{framework}-") for p in _not_written):
        return True
    try:
        return any(folder.glob(f"{framework}-*.json"))
    except OSError:
        return False


def _name(key: Key) -> str:
    """Return a file's name: the framework, and the rest as a number that names no machine."""
    facts = describe_machine()
    machine: Sequence[object] = [facts[name] for name in ("cpu", "usable_cpus", "cpu_quota")]
    number = hashlib.sha256(json.dumps([*machine, *key]).encode()).hexdigest()[:16]
    return f"{key.framework}-{number}.json"
