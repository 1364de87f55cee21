"""Peaks that were measured before: a file for each machine, device, framework and version."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ipyjaxbench.device.peaks import DevicePeaks, Peaks
from ipyjaxbench.errors import RecordError
from ipyjaxbench.host import data_folder, describe_machine, make_data_folder, replace_file
from ipyjaxbench.reports import Note

_FOLDER = "ceilings"  # the name that earlier versions gave it
_MAX_BYTES = 100_000  # of a file; a larger one is none of ours
#: By the file that could not be written: this session has them all the same.
_not_written: dict[Path, DevicePeaks] = {}


class Key(NamedTuple):
    """What peaks depend on, beside the machine."""

    framework: str
    version: str
    kind: str
    threads: int | None
    settings: str


def read(key: Key) -> tuple[DevicePeaks | None, list[Note]]:
    """Return the peaks that were stored, and what is wrong with their file."""
    path = data_folder(_FOLDER) / _name(key)
    try:
        if path in _not_written or not path.is_file():
            return _not_written.get(path), []
        peaks = _decode(path)
        if key != Key(*(getattr(peaks, name) for name in Key._fields)):
            raise RecordError("of another device")
    except (OSError, ValueError, RecursionError, RecordError) as error:
        text = f"ignored {path.name}: {error}"
        return None, [Note("peaks-unread", text)]
    # Earlier versions stored those that other programs disturbed.
    return None if peaks.is_disturbed else peaks, []


def _decode(path: Path) -> DevicePeaks:
    import msgspec

    if path.stat().st_size > _MAX_BYTES:
        raise RecordError("too large")
    (peaks,) = Peaks.from_dict(msgspec.json.decode(path.read_bytes())).found
    return peaks


def write(key: Key, peaks: DevicePeaks) -> list[Note]:
    """Store the peaks of a device; return why that failed."""
    path = data_folder(_FOLDER) / _name(key)
    _not_written[path] = peaks
    if make_data_folder(_FOLDER) is None:
        return _failure_note("Jupyter's data directory is not writable")
    text = json.dumps(Peaks((peaks,), peaks.taken, peaks.seconds).to_dict())
    try:
        replace_file(path, text)
    except OSError as error:
        return _failure_note(error.strerror or error)
    del _not_written[path]
    return []


def _failure_note(reason: object) -> list[Note]:
    text = f"peaks were not stored for other sessions: {reason}"
    return [Note("peaks-not-kept", text)]


def stored_peaks() -> tuple[DevicePeaks, ...]:
    """Return what was stored for this machine, whichever framework; asks no framework."""
    found = []
    for path in sorted(data_folder(_FOLDER).glob("*.json")):
        try:
            peaks = _decode(path)
        except (OSError, ValueError, RecursionError, RecordError):
            continue
        key = Key(*(getattr(peaks, name) for name in Key._fields))
        if path.name == _name(key) and not peaks.is_disturbed:
            found.append(peaks)
    return tuple(found)


def has_peaks(framework: str) -> bool:
    """Whether peaks of a framework were kept, of whichever device."""
    folder = data_folder(_FOLDER)
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
