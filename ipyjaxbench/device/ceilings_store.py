"""Ceilings that were measured before: a file for each machine, device, framework and version."""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ipyjaxbench.device.ceilings import Ceiling, Ceilings
from ipyjaxbench.errors import RecordError
from ipyjaxbench.host import data_folder, describe_machine, make_data_folder

_MOST = 100_000  # bytes of a file; a larger one is none of ours
_FAILED = "the ceilings could not be kept for other sessions"
#: By the file that could not be written: this session has them all the same.
_not_written: dict[Path, Ceiling] = {}


class Key(NamedTuple):
    """What a ceiling depends on, beside the machine."""

    framework: str
    version: str
    kind: str
    threads: int | None
    settings: str


def read(key: Key) -> tuple[Ceiling | None, str]:
    """Return the ceiling that was kept, and what is wrong with its file, in words."""
    import msgspec

    path = data_folder("ceilings") / _name(key)
    try:
        if path in _not_written or not path.is_file():
            return _not_written.get(path), ""
        if path.stat().st_size > _MOST:
            raise RecordError("it is too large")
        kept = Ceilings.from_dict(msgspec.json.decode(path.read_bytes()))
        (found,) = kept.found
        if key != Key(found.framework, found.version, found.kind, found.threads, found.settings):
            raise RecordError("it is of another device")
        if found.is_disturbed:  # as earlier versions kept them
            return None, ""
    except (OSError, ValueError, RecursionError, RecordError) as error:
        return None, f"{path.name} cannot be read and was left out: {error}"
    return found, ""


def write(key: Key, ceiling: Ceiling) -> str:
    """Keep a ceiling; why it could not be kept, in words."""
    path = data_folder("ceilings") / _name(key)
    _not_written[path] = ceiling
    if make_data_folder("ceilings") is None:
        return f"{_FAILED}: Jupyter's data directory cannot be written"
    text = json.dumps(Ceilings((ceiling,), ceiling.taken, ceiling.seconds).to_dict())
    scratch = ""
    try:
        # A reader sees the old file or the new one, and never a part of it.
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8"
        ) as file:
            scratch = file.name
            file.write(text)
        os.replace(scratch, path)
        del _not_written[path]
    except OSError as error:
        if scratch:
            Path(scratch).unlink(missing_ok=True)
        return f"{_FAILED}: {error.strerror or error}"
    return ""


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
    """It tells the framework, and the rest as a number that names no machine."""
    facts = describe_machine()
    machine: Sequence[object] = [facts[name] for name in ("cpu", "usable_cpus", "cpu_quota")]
    number = hashlib.sha256(json.dumps([*machine, *key]).encode()).hexdigest()[:16]
    return f"{key.framework}-{number}.json"
