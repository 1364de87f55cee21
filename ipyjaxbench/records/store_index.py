"""The index of the store: its entries without their samples; only what is new is read.

A process that reads the store again and again needs it, such as a server. It writes nothing.
"""

import os
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from ipyjaxbench.host import data_folder
from ipyjaxbench.records.entry import EntryHead, HistoryEntry
from ipyjaxbench.records.store import MAX_BYTES, scan

E = TypeVar("E", bound=EntryHead)
_EDGE = 64  # bytes in front of what is new: they show that the file was only appended to


@dataclass(frozen=True)
class StoreHeads:
    """What is in the store, without samples.

    Attributes:
        heads: entries by id, newest first. An id is the stem of the file, which is that of one
            process, and the number of the line: ``2026-11-01-4711-c0ffee00.3``.
        unread: for each file with lines that could not be read, its name and how many.
        version: changes whenever anything changed; equal in all processes that see the same.
    """

    heads: dict[str, EntryHead] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    version: str = ""


class StoreIndex:
    """Keeps the entries of the store without their samples; any thread may call it.

    Args:
        folder: of the history files; None for that in Jupyter's data directory.

    Attributes:
        folder: of the history files; it may be missing.
        contents: what the last refresh found.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or data_folder("history")
        self.contents = StoreHeads()
        self._files: dict[str, _File] = {}
        self._lines: dict[str, _Line] = {}
        self._lock = Lock()

    def refresh(self) -> StoreHeads:
        """Read what was appended since the last refresh; return what is in the store now."""
        with self._lock:
            known, self._files = self._files, {}
            changed = not self.contents.version
            for name, status in scan(self.folder):
                file = known.get(name) or _File(self.folder / name)
                try:
                    changed |= file.refresh(status)
                except FileNotFoundError:
                    continue
                self._files[name] = file
            if changed or known.keys() != self._files.keys():
                self._collect()
            return self.contents

    def read(self, entry_id: str) -> HistoryEntry | None:
        """Return an entry with its samples; None where there is none with this id.

        Args:
            entry_id: from anywhere; it is looked up, and no path is made of it.
        """
        line = self._lines.get(entry_id)
        if line is None:
            return None
        try:
            with line.path.open("rb") as file:
                file.seek(line.start)
                data = file.read(line.size)
        except OSError:
            return None
        # Between the last refresh and now the file may have been replaced.
        return _decode(HistoryEntry, data) if _decode(EntryHead, data) == line.head else None

    def _collect(self) -> None:
        """Put together what the files hold.

        Nothing is made for an old line: many new objects would bring on a garbage collection.
        """
        files = sorted(self._files.values(), key=lambda file: file.name)
        lines = [line for file in files for line in file.lines.values()]
        lines.sort(key=lambda line: line.head.when)
        lines.reverse()  # of equal moments the later line is the newer one
        self._lines = {line.entry_id: line for line in lines}
        seen = repr([(file.name, file.state, file.unread) for file in files])
        self.contents = StoreHeads(
            {line.entry_id: line.head for line in lines},
            {file.name: len(file.unread) for file in files if file.unread},
            blake2b(seen.encode(), digest_size=12).hexdigest(),
        )


class _Line(NamedTuple):
    entry_id: str
    path: Path
    head: EntryHead
    start: int  # bytes
    size: int


class _File:
    """The part of one history file that has been read.

    Attributes:
        lines: that hold entries, by number; the first line has number 1.
        unread: numbers of lines that could not be read; 0 is the file as a whole.
        state: by which one sees whether it has changed: inode, size, and time of the last change.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # A name that is not UTF-8 would fit into no JSON.
        self.name = os.fsencode(path.name).decode(errors="backslashreplace")
        self.stem = self.name.removesuffix(path.suffix)
        self.state: tuple[int, ...] = ()
        self._forget()

    def _forget(self) -> None:
        self.lines: dict[int, _Line] = {}
        self.unread: set[int] = set()
        self._ended = self._offset = 0  # whole lines, and where the next one begins
        self._edge = b""

    def refresh(self, status: os.stat_result) -> bool:
        """Read what is new, and return whether anything is.

        Raises:
            FileNotFoundError: it has just been removed.
        """
        state = status.st_ino, status.st_size, status.st_mtime_ns
        if state == self.state:
            return False
        if self.state and state[0] != self.state[0]:
            self._forget()
        try:
            data = self._read_on()
        except FileNotFoundError:
            raise
        except OSError:
            is_news = 0 not in self.unread
            self._forget()
            self.unread, self.state = {0}, ()
            return is_news
        self.unread.discard(0)
        self.state = state
        self._take(data)
        return True

    def _read_on(self) -> bytes:
        """Return what follows the whole lines that were read; all where those are not there."""
        with self.path.open("rb") as file:
            file.seek(self._offset - len(self._edge))
            data = file.read(max(MAX_BYTES - self._offset, 0) + len(self._edge))
            if data.startswith(self._edge):
                return data[len(self._edge) :]
            self._forget()
            file.seek(0)
            return file.read(MAX_BYTES)

    def _take(self, data: bytes) -> None:
        """Read new lines; the last one may not have its end yet, and is then read again."""
        self.lines.pop(self._ended + 1, None)
        self.unread.discard(self._ended + 1)
        start = self._offset
        *whole, rest = data.split(b"\n")
        for number, line in enumerate([*whole, rest], self._ended + 1):
            # A whole entry has to be there; what is kept of it are not its samples.
            head = _decode(EntryHead, line) if _decode(HistoryEntry, line) else None
            if head is not None:
                entry_id = f"{self.stem}.{number}"
                self.lines[number] = _Line(entry_id, self.path, head, start, len(line))
            elif line.strip():
                self.unread.add(number)
            start += len(line) + 1
        self._ended += len(whole)
        self._offset += len(data) - len(rest)
        self._edge = (self._edge + data[: len(data) - len(rest)])[-_EDGE:]


def _decode(kind: type[E], line: bytes) -> E | None:
    """Return the entry in a line; None where there is none that makes sense."""
    import msgspec

    key: Any = kind  # mypy takes a class with a hash of its own for one that has none
    try:
        entry: E = _decoder(key).decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return entry if entry.check() is None else None


@cache
def _decoder(kind: Any) -> Any:
    import msgspec

    return msgspec.json.Decoder(kind)
