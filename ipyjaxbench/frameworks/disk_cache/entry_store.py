"""What entries of compilation caches were made of, kept in our own data folder.

A cache keeps hashes alone, so that what was hashed is kept here in words. The cache's own folder is
never written to, and what cannot be kept is given up: a compilation never fails for it.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ipyjaxbench.host import data_folder, make_data_folder, open_private, replace_file

_FOLDER, _SUFFIX = "disk_cache", ".jsonl"
_MAX_ENTRIES = 32  # of a program
_MAX_FILES = 1_000
_MAX_BYTES = 1_000_000  # read of a file
_MAX_NAME = 40  # letters
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")

#: Part of the key -> its fields, each with its value, all of it text.
Parts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Entry:
    """An entry of a cache: its key, when it was made, and what the key was made of."""

    key: str
    when: float
    parts: Parts


def read_entries(framework: str, folder: str, program: str) -> list[Entry]:
    """Return what is known of entries of a program in a cache folder, the oldest first."""
    import msgspec

    try:
        with open(data_folder(_FOLDER) / _name(framework, folder, program), "rb") as file:
            lines = file.read(_MAX_BYTES).splitlines()
    except OSError:  # none was kept, or it cannot be read
        return []
    entries = []
    for line in lines:
        with suppress(msgspec.MsgspecError, RecursionError):  # cut short, as on a full disk
            entries.append(msgspec.json.decode(line, type=Entry))
    return entries


def keep_entry(framework: str, folder: str, program: str, entry: Entry) -> None:
    """Keep what an entry is made of; processes that do so at once lose nothing."""
    import msgspec

    place = make_data_folder(_FOLDER)
    if place is None:
        return
    path = place / _name(framework, folder, program)
    line = msgspec.json.encode(entry) + b"\n"
    with suppress(OSError):
        if not path.exists():
            _make_room(place)
        with open(path, "ab", buffering=0, opener=open_private) as file:
            file.write(line)
        entries = read_entries(framework, folder, program)
        if len(entries) > 2 * _MAX_ENTRIES:
            kept = (msgspec.json.encode(each).decode() for each in entries[-_MAX_ENTRIES:])
            replace_file(path, "".join(f"{each}\n" for each in kept))


def _name(framework: str, folder: str, program: str) -> str:
    """Return a file's name: the program's, and a number for what no file name can hold."""
    number = hashlib.sha256("\0".join((framework, folder, program)).encode()).hexdigest()[:16]
    return f"{_UNSAFE.sub('_', program)[:_MAX_NAME]}-{number}{_SUFFIX}"


def _make_room(place: Path) -> None:
    """Remove the files that were not written to for longest, where there are too many."""
    files = [entry for entry in os.scandir(place) if entry.name.endswith(_SUFFIX)]
    if len(files) < _MAX_FILES:
        return
    files.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in files[: len(files) - _MAX_FILES + 1]:
        os.unlink(entry.path)
