"""Files whose names only the code makes: what calls leave in directories that they may write to."""

import itertools
import os
import re
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import PurePath
from types import CodeType
from typing import Any

from ipyjaxbench.frameworks import Scope, contents_of
from ipyjaxbench.timing.names_in_code import find_descriptors
from ipyjaxbench.timing.notes import NEW_FILES, REMOVED_FILES
from ipyjaxbench.timing.open_descriptors import OpenDescriptors
from ipyjaxbench.usercode import (
    attributes,
    is_exactly,
    is_of,
    is_users_class,
    items_of,
    names_in,
    texts_in,
)

_MOST = 2_000  # entries that are looked at, the nearest first
_NOT_LISTED = -1  # in place of a size
_LONGEST = 4_095  # characters of a path
_NUMBERS = (int, float, complex, bool, type(None))
_MOST_TEXTS = 10_000  # and containers; a note says where there are more paths
#: By these names code writes or makes files; `open` does with a mode that says so.
_WRITERS = re.compile(
    r"(write|save|dump)|to_(csv|excel|feather|file|hdf|json|parquet|pickle|sql|netcdf|zarr)$"
    r"|(tofile|mkstemp|mkdtemp|NamedTemporaryFile|mkdir|makedirs|touch|rename|link|symlink_to"
    r"|hardlink_to|symlink|shutil|shelve|subprocess|Popen|system|sqlite3|memmap|FileHandler)$"
)
#: By these it makes some in the temporary directory, where all programs do.
_TEMPORARY = re.compile(r"tempfile|mk[ds]te?mp|gettempdir|\w*Temporary\w+|subprocess|Popen|system")
_REMOVERS = frozenset(("unlink", "rmtree", "rmdir", "removedirs", "rename", "renames", "move"))
_OF_OS = frozenset(("remove", "replace"))  # that others have under the same name
_MODE = re.compile(r"(?=.*[wax+])[rwaxbt+]{1,3}$")

Size = tuple[int, int]  # bytes, and when it was written


class WrittenFiles:
    """Looks at files before the first call, after it, and after the last one.

    Others write there, too. So a file counts that changed in the first call and after it, and new
    ones, or those that are gone, where both made or removed some.

    Args:
        scope: the code, and what it can reach.
    """

    def __init__(self, scope: Scope) -> None:
        codes, self._home = scope.codes, os.getcwd()
        values = [*scope.read_values.values(), *scope.captured.values()]
        self._roots: list[tuple[str, int]] = []
        if _may_write(codes, values):
            self._roots = [(self._home, 2), *_directories(codes, values)]
        self._unlisted: set[str] = set()  # directories for which there are too many entries
        self._is_first = True
        self._found = self._look()
        self._is_first = False
        self._after_first = self._found
        self._contents: dict[str, list[int]] = {}  # of files that the first call wrote
        statements = [*scope.snippet.statements, *scope.snippet.in_magics]
        known = find_descriptors(statements, scope.read_values)
        self._descriptors = OpenDescriptors(codes, [scope.read_values[each] for each in known])

    def inspect_first_call(self) -> None:
        """Look right after the first call; where it wrote nothing, nobody looks again."""
        self._after_first = self._look()
        self._descriptors.inspect_first_call()
        written = self._after_first.items() - self._found.items()
        if not written and not self.has_removed:
            self._roots = []
        self._contents = {path: contents_of(path) for path, _ in written}

    @property
    def has_removed(self) -> bool:
        """Whether the first call removed files: they do not come back where objects do."""
        return bool(self._found.keys() - self._after_first.keys())

    def names(self, apart: Iterable[str] = ()) -> Iterator[str]:
        """Yield paths of files that later calls changed too, and of the first of new ones.

        Args:
            apart: what is told already, paths among it.
        """
        told = {*map(os.path.abspath, apart)}
        first, now = self._after_first, self._look()
        for path, size in now.items():
            if path in told or path not in self._contents or first[path] == size:
                continue
            if size[0] == _NOT_LISTED or contents_of(path) != self._contents[path]:
                yield self._name(path)
        made = _by_directory(first.keys() - self._found.keys())
        later = _by_directory(now.keys() - first.keys())
        for directory in later.keys() & made.keys():
            yield f"{NEW_FILES}{self._name(min(later[directory]))}"
        removed = _by_directory(self._found.keys() - first.keys())
        gone = _by_directory(first.keys() - now.keys())
        for directory in gone.keys() & removed.keys():
            yield f"{REMOVED_FILES}{self._name(min(gone[directory]))}"
        yield from (self._name(n) for n in self._descriptors.names() if n not in told)

    def _look(self) -> dict[str, Size]:
        found: dict[str, Size] = {}
        ahead = deque(self._roots)
        while ahead:
            directory, depth = ahead.popleft()
            if len(found) >= _MOST and not self._is_first:
                entries = []
            else:
                entries = self._entries(directory, _MOST - len(found))
            if directory in self._unlisted and depth:
                found[directory] = _last_change(directory)
            for entry in entries:
                path = os.path.join(directory, entry.name)
                try:
                    is_directory = entry.is_dir(follow_symlinks=False)
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # it went away meanwhile
                    continue
                found[path] = (0, 0) if is_directory else (status.st_size, status.st_mtime_ns)
                if is_directory and depth and not entry.name.startswith((".", "_")):
                    ahead.append((path, depth - 1))
        return found

    def _entries(self, directory: str, room: int) -> list[os.DirEntry[str]]:
        """Return what is in a directory; nothing of one for which there was no room at first."""
        if self._is_first and room <= 0:
            self._unlisted.add(directory)
        if directory in self._unlisted:
            return []
        try:
            with os.scandir(directory) as found:
                entries = [*islice(found, _MOST + 1)]
        except OSError:
            return []
        if self._is_first and len(entries) > _MOST:
            self._unlisted.add(directory)
            return []
        return entries

    def _name(self, path: str) -> str:
        below = os.path.join(self._home, "")
        return path.removeprefix(below)


def _last_change(directory: str) -> Size:
    """Return when something came into a directory or left it, which is not listed."""
    try:
        return _NOT_LISTED, os.stat(directory).st_mtime_ns
    except OSError:  # it went away
        return _NOT_LISTED, 0


def _may_write(codes: Iterable[CodeType], values: Iterable[object]) -> bool:
    modes = any(type(each) is str and _MODE.match(each) for each in values)
    for code in codes:
        used = names_in(code)
        if any(map(_WRITERS.match, used)) or _removes(code):
            return True
        if "open" in used and (modes or any(map(_MODE.match, texts_in(code)))):
            return True
    return False


def _removes(code: CodeType) -> bool:
    used = names_in(code)
    is_of_os = "os" in used and not _OF_OS.isdisjoint(used)
    return is_of_os or not _REMOVERS.isdisjoint(used)


def _directories(codes: Iterable[CodeType], values: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Yield directories that are named, and the temporary one, and how far down to look."""
    codes = [*codes]
    removes = any(map(_removes, codes))
    found: dict[str, int] = {}  # how far down to look
    for path in dict.fromkeys([*(t for code in codes for t in texts_in(code)), *_named(values)]):
        try:
            if not 1 < len(path) <= _LONGEST:
                continue
            if is_directory := os.path.isdir(path):
                found[os.path.abspath(path)] = 1
            if removes and (is_directory or os.path.isfile(path)):
                found.setdefault(os.path.dirname(os.path.abspath(path)), 0)
        except ValueError:  # a text with a zero in it is no path
            continue
    yield from found.items()
    tempfile: Any = sys.modules.get("tempfile")
    is_used = any(map(_TEMPORARY.match, itertools.chain.from_iterable(map(names_in, codes))))
    if is_used and tempfile is not None and tempfile.tempdir is not None:  # to ask makes one
        yield str(tempfile.tempdir), 0


def _named(values: Iterable[Any]) -> Iterator[str]:
    """Yield texts and paths among values, and in containers and objects of the user's."""
    tempfile: Any = sys.modules.get("tempfile")
    ahead = deque(values)
    seen: dict[int, object] = {}  # held, so that no other gets their identity
    while ahead and len(seen) < _MOST_TEXTS:
        value = ahead.popleft()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if is_exactly(value, str):
            yield value
        elif is_of(value, PurePath):
            yield PurePath.__str__(value)
        elif tempfile is not None and is_exactly(value, tempfile.TemporaryDirectory):
            yield value.name
        elif is_exactly(value, list, tuple, set, dict, deque):
            ahead += (each for each in items_of(value, 0) if not is_exactly(each, *_NUMBERS))
        elif is_users_class(type(value)):
            ahead += attributes(value).values()


def _by_directory(paths: Collection[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(os.path.dirname(path), []).append(path)
    return found
