"""Open files that functions of the user's write by their numbers, as `os.pwrite` does."""

import dis
import itertools
import os
from collections.abc import Collection, Iterator
from types import CodeType

from ipyjaxbench.frameworks import amounts, written

_WRITERS = frozenset((
    "write", "writev", "pwrite", "pwritev", "ftruncate", "sendfile", "copy_file_range", "splice",
))  # fmt: skip
_FOLDER = "/proc/self/fd"  # only Linux tells which are open, and of what
_FIRST = 3  # below are those of the process for text
_PIPE = "pipe:"

State = tuple[int, ...]


class OpenDescriptors:
    """Looks at open files and pipes before the first call, after it, and after the last one.

    Others write there, too. So one counts that changed in the first call and after it.

    Args:
        codes: of the code and of functions of the user's.
        known: numbers that are looked at by themselves.
    """

    def __init__(self, codes: Collection[CodeType], known: Collection[int]) -> None:
        self._known = {str(number) for number in known}
        self._is_on = any(map(_writes_by_number, codes))
        self._found = self._look()
        self._after_first = self._found

    def inspect_first_call(self) -> None:
        """Look right after the first call; where it wrote nothing, nobody looks again."""
        self._after_first = self._look()
        self._is_on = bool(self._after_first.items() - self._found.items())

    def names(self) -> Iterator[str]:
        """Yield what each is of that later calls changed too, once."""
        now, told = self._look(), set[str]()
        for (number, path), state in self._after_first.items():
            is_written = self._found.get((number, path), state) != state
            is_told = path in told
            if is_written and not is_told and now.get((number, path), state)[:-1] != state[:-1]:
                told.add(path)
                yield f"descriptor {number}" if path.startswith(_PIPE) else path

    def _look(self) -> dict[tuple[str, str], State]:
        if not self._is_on:
            return {}
        try:
            found = dict(_states(each for each in os.listdir(_FOLDER) if int(each) >= _FIRST))
        except OSError:
            return {}
        known = {path for number, path in found if number in self._known}  # both ends of a pipe
        return {key: state for key, state in found.items() if key[1] not in known}


def _states(numbers: Iterator[str]) -> Iterator[tuple[tuple[str, str], State]]:
    """Yield where each is, what tells its content, and when it was written."""
    for number in numbers:
        try:
            path = os.readlink(f"{_FOLDER}/{number}")
            when = os.fstat(int(number)).st_mtime_ns
        except OSError:  # it was closed
            continue
        if path.startswith(_PIPE) or os.path.isfile(path):
            yield (number, path), (*amounts(int(number)), *written(int(number)), when)


def _writes_by_number(code: CodeType) -> bool:
    if _WRITERS.isdisjoint(code.co_names):
        return any(_writes_by_number(each) for each in code.co_consts if type(each) is CodeType)
    names = [str(each.argval) for each in dis.get_instructions(code) if each.opname[:4] == "LOAD"]
    others = _WRITERS - {"write"}  # that files have, too
    return not others.isdisjoint(code.co_names) or ("os", "write") in itertools.pairwise(names)
