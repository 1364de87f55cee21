"""The store of past measurements: one file of JSON lines for each process, and no locks.

A process appends to its own file alone, so that a shared home on a network needs no locks either.
What cannot be written is given up: a measurement never fails because of its history.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Any

from ipyjaxbench.host import Clock, make_data_folder, open_private
from ipyjaxbench.records.entry import HistoryEntry

_DAY = 86400.0
_MAX_AGE = 365 * _DAY
_MAX_FILES = 1_000
MAX_BYTES = 64_000_000  # of all files, and read of one
_SUFFIX, _NOTICE = ".jsonl", "README.txt"


class Journal:
    """Appends to the file of this process, which is made when there is something to keep.

    Attributes:
        trouble: why the last entries could not be kept; empty where they were.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self._file: FileIO | None = None
        self._owner = 0
        self._torn = False

    def append(self, entries: Iterable[HistoryEntry]) -> None:
        """Keep entries, each in a line of its own; what fails is said in `trouble`."""
        import msgspec

        lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        if not lines:
            return
        try:
            file = self._open()
            # After a line that was cut short, as on a full disk, the next one begins anew.
            whole = b"\n" + lines if self._torn else lines
            self._torn = True
            self._torn = file.write(whole) != len(whole)
            self.trouble = "the disk is full" if self._torn else ""
        except OSError as error:
            self.trouble = error.strerror or type(error).__name__

    @property
    def run(self) -> str:
        """Stem of the file of this process, which names its run; empty while there is none."""
        if self._file is None or self._owner != os.getpid():
            return ""
        return os.path.basename(os.fsdecode(self._file.name)).removesuffix(_SUFFIX)

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # of a network that is gone
                file.close()

    def _open(self) -> FileIO:
        """Return the file, made anew where it was removed or is not in the folder that is read.

        So is it in a process that was forked.
        """
        place = make_data_folder("history")
        if self._file is not None:
            with suppress(OSError):
                is_own = self._owner == os.getpid() and Path(self._file.name).parent == place
                if is_own and os.fstat(self._file.fileno()).st_nlink:
                    return self._file
            self.close()
        if place is None:
            raise OSError(0, "Jupyter's data directory is not writable")
        _limit_size(place)
        now = datetime.now().strftime("%Y-%m-%d")
        path = place / f"{now}-{os.getpid()}-{os.urandom(4).hex()}{_SUFFIX}"
        file = FileIO(path, "ab", opener=open_private)
        self._file, self._owner, self._torn = file, os.getpid(), False
        return self._file


@dataclass(frozen=True)
class StoreContents:
    """What is in the store.

    Attributes:
        entries: those that could be read, the newest first.
        unread: for each file with lines that could not be read, its name and how many.
    """

    entries: tuple[HistoryEntry, ...]
    unread: dict[str, int]


def make_history_notice(
    for_what: str = "%fwhistory and --against",
    off: str = "%config IpyJaxBench.history = False",
) -> str:
    """Return where measurements are saved and how to turn that off, once for each home.

    A file beside them says the same, and that it was shown.

    Args:
        for_what: what reads them.
        off: what turns it off.
    """
    place = make_data_folder("history")
    if place is None:
        return ""
    notice = (
        f"Measurements are saved in {place} with their code, directory and notebook, for"
        f" {for_what}. To save none: {off}."
    )
    try:
        with open(place / _NOTICE, "x", encoding="utf-8", opener=open_private) as file:
            file.write(f"{notice}\nIPYJAXBENCH_HISTORY=0 in the environment does the same.\n")
    except OSError:  # it was said, or nothing is kept
        return ""
    return f"{notice} (Shown once.)"


def read_store() -> StoreContents:
    """Return all that is in the store; a line that cannot be read is left out, and counted."""
    entries: list[HistoryEntry] = []
    unread: dict[str, int] = {}
    for path, _ in list_files(make_data_folder("history")):
        read, unread_lines = _read(path)
        entries += read
        if unread_lines:
            unread[path.name] = unread_lines
    return make_contents(entries, unread)


def make_contents(
    entries: Iterable[HistoryEntry], unread: dict[str, int] | None = None
) -> StoreContents:
    """Return entries as those of a store, the newest first."""
    newest_first = sorted(entries, key=lambda entry: entry.when, reverse=True)
    return StoreContents(tuple(newest_first), unread or {})


def prune_store(age: float) -> tuple[int, int]:
    """Remove files whose last entry is older, in seconds; return how many, and their entries."""
    files = lines = 0
    limit = Clock.calendar().now() * 1e-9 - age
    for path, status in list_files(make_data_folder("history")):
        if status.st_mtime < limit:
            entries, _ = _read(path)
            if _remove(path):
                files += 1
                lines += len(entries)
    return files, lines


def _read(path: Path) -> tuple[list[HistoryEntry], int]:
    """Return the entries of one file, and how many lines could not be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES)
    except OSError:
        return [], 1
    import msgspec

    decoder = _decoder()
    try:
        entries = decoder.decode_lines(data)
        bad = 0
    except (msgspec.MsgspecError, ValueError, RecursionError):
        entries, bad = [], 0
        for line in data.split(b"\n"):
            try:
                if line.strip():
                    entries.append(decoder.decode(line))
            except (msgspec.MsgspecError, ValueError, RecursionError):
                bad += 1
    sound = [entry for entry in entries if entry.check() is None]
    return sound, bad + len(entries) - len(sound)


def _limit_size(place: Path) -> None:
    """Remove files that are too old, and the oldest of too many."""
    limit = Clock.calendar().now() * 1e-9 - _MAX_AGE
    size = 0
    newest_first = sorted(list_files(place), key=lambda file: file[1].st_mtime, reverse=True)
    for number, (path, status) in enumerate(newest_first, 1):
        size += status.st_size
        if status.st_mtime < limit or size > MAX_BYTES or number > _MAX_FILES:
            _remove(path)


def list_files(place: Path | None) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files of the store; one that vanishes meanwhile is left out."""
    yield from ((place / name, status) for name, status in scan(place)) if place else ()


def scan(place: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the names of the store's files: of a thousand, paths would take as long again."""
    try:
        entries = list(os.scandir(place))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False)
        except OSError:
            continue


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.json.Decoder(HistoryEntry)
