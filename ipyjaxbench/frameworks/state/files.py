"""Files that code writes by their paths: no object of the session shows what became of them."""

import os
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePath

from ipyjaxbench.frameworks.state.module_use import CodeNames
from ipyjaxbench.frameworks.state.undo import Setting

_MOST_PARTS = 10_000  # texts in values that are looked up
_MOST_BYTES = 16 * 2**20  # a larger file is compared by its date alone
_MOST_BYTES_OF_ALL, _MIN_BYTES = (
    128 * 2**20,
    2**17,
)  # of all files together; a small one counts as the least
_LONGEST = 4_095  # characters of a path
_WRITERS = frozenset((
    "open", "print", "tofile", "FileHandler", "chmod", "lchmod", "truncate", "ftruncate", "utime",
    "pwrite", "unlink", "rmtree", "rename", "remove",
))  # fmt: skip
_WRITERS_BEGIN = ("write", "save", "dump", "to_")


class NamedFiles:
    """The files that code names, as text, by a variable or by what one holds."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}
        self._parts: dict[str, None] = {}
        self._cut: dict[str, None] = {}
        self._writes = self._dates = False

    def add_code(self, names: CodeNames) -> None:
        """Add the texts in some code; they count where any code names something that writes."""
        self._writes |= any(n in _WRITERS or n.startswith(_WRITERS_BEGIN) for n in names.used)
        self._dates |= "utime" in names.used
        self._paths |= dict.fromkeys(names.texts)

    def add_value(self, value: object) -> None:
        """Add what a name stands for, if it is a path or a text."""
        kind = type(value)
        if kind is str or (issubclass(kind, PurePath) and kind.__module__.startswith("pathlib")):
            self._paths[str(value)] = None

    def add_part(self, name: str, text: str) -> None:
        """Add a text that stands somewhere in what a name stands for; it may be any text."""
        if len(self._parts) < _MOST_PARTS:
            self._parts[text] = None
        elif os.sep in text:
            self._cut[name] = None

    def cut(self) -> Iterable[str]:
        """Return names of what holds more paths than are looked up."""
        return self._cut if self._writes else ()

    def states(self) -> Iterator[tuple[str, Setting]]:
        """Yield what each file holds that is there, by its path as the code has it."""
        left = _MOST_BYTES_OF_ALL
        for path in {**self._paths, **self._parts} if self._writes else ():
            found = os.path.abspath(path) if 0 < len(path) <= _LONGEST else ""
            if os.path.isfile(found):
                read = partial(contents_of, found, dates=self._dates, reads=left > 0)
                left -= max(os.path.getsize(found), _MIN_BYTES)
                yield path, Setting(read, None)


def contents_of(path: str, *, dates: bool = False, reads: bool = True) -> list[int]:
    """Return a file's size, who may use it, and what tells its content; nothing without a file.

    Args:
        path: of the file.
        dates: also return when it was written; else that is told of a large one alone, and of
            others a checksum.
        reads: whether one that is not large is read for that.
    """
    try:
        if not os.path.isfile(path):
            return []
        status = os.stat(path)
        if status.st_size > _MOST_BYTES or not reads:
            return [status.st_size, status.st_mode, status.st_mtime_ns]
        written = [status.st_mtime_ns] if dates else []
        return [status.st_size, status.st_mode, zlib.crc32(Path(path).read_bytes()), *written]
    except (OSError, ValueError):  # ValueError: a text with a zero in it is no path
        return []
