"""Files that code writes by their paths: no object of the session shows what became of them."""

import os
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePath

from ipyjaxbench.frameworks.state.module_use import CodeNames
from ipyjaxbench.frameworks.state.undo import Setting

_MOST_READ = 1_000  # files; of others it is told when they were written
_MOST_BYTES = 16 * 2**20  # of a file that is read
_LONGEST = 4_095  # characters of a path
_WRITERS = frozenset((
    "open", "print", "tofile", "FileHandler", "chmod", "lchmod", "truncate", "ftruncate", "utime",
    "pwrite", "unlink", "rmtree", "rename", "remove",
))  # fmt: skip
_WRITERS_BEGIN = ("write", "save", "dump", "to_")


class NamedFiles:
    """The files that code names, as text or by a variable."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}
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

    def states(self) -> Iterator[tuple[str, Setting]]:
        """Yield what each file holds that is there, by its path as the code has it."""
        left = _MOST_READ
        for path in self._paths if self._writes else ():
            found = os.path.abspath(path)
            if 0 < len(path) <= _LONGEST and os.path.isfile(found):
                read = partial(contents_of, found, dates=self._dates, reads=left > 0)
                left -= 1
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
