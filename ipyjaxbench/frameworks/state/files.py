"""Files that code writes by their paths: no object of the session shows what became of them."""

import os
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path, PurePath

from ipyjaxbench.frameworks.state.module_use import CodeNames
from ipyjaxbench.frameworks.state.undo import Setting

_MOST = 1_000  # paths that are looked up
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
        short = (each for each in self._paths if 0 < len(each) <= _LONGEST)
        for path in islice(short, _MOST) if self._writes else ():
            found = os.path.abspath(path)
            if contents_of(found):
                read = partial(contents_of, found, dates=self._dates)
                yield path, Setting(read, None)


def contents_of(path: str, *, dates: bool = False) -> list[int]:
    """Return a file's size, who may use it, and what tells its content; nothing without a file.

    Args:
        path: of the file.
        dates: also return when it was written; else that is told of a large one alone, and of
            others a checksum.
    """
    try:
        if not os.path.isfile(path):
            return []
        status = os.stat(path)
        if status.st_size > _MOST_BYTES:
            return [status.st_size, status.st_mode, status.st_mtime_ns]
        written = [status.st_mtime_ns] if dates else []
        return [status.st_size, status.st_mode, zlib.crc32(Path(path).read_bytes()), *written]
    except (OSError, ValueError):  # ValueError: a text with a zero in it is no path
        return []
