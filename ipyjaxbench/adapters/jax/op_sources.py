"""Which of the user's lines each operation of a compiled program comes from, by XLA's own text."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import jax

from ipyjaxbench.adapters.shared.xplane import Event
from ipyjaxbench.timing import SourceLine
from ipyjaxbench.usercode import is_users_file

_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ROW = re.compile(r"^(\d+) (.*)$")
_FIELD = re.compile(r"(\w+)=(\d+)")
#: ``%y = f32[8] add(...), metadata={op_name="..." stack_frame_id=3}``, before that
#: ``metadata={op_name="..." source_file="cell.py" source_line=3}``.
_NAMED = re.compile(r"^\s*(?:ROOT )?%?(?P<name>[\w.\-]+) = .*metadata=\{(?P<metadata>.*?)\}", re.M)
_FRAME = re.compile(r"\bstack_frame_id=(\d+)")
_LINE = re.compile(r'\bsource_file="([^"]*)".*\bsource_line=(\d+)')
_MAX_DEPTH = 200  # frames that lead to an operation


class OpSources:
    """Looks up the operations of a profile; programs are read when one of theirs is asked for."""

    def __init__(self) -> None:
        self._of_module = cache(_find)

    def find(self, event: Event) -> SourceLine | None:
        """Return the line; None where that is not the user's, or programs do not agree."""
        operation, module = (str(event.stats.get(name, "")) for name in ("hlo_op", "hlo_module"))
        return self._of_module(module).get(operation) if operation and module else None


def _find(module: str) -> Mapping[str, SourceLine]:
    """Return the lines in the programs of a name, where these agree."""
    client: Any = jax.devices()[0].client
    found: dict[str, set[SourceLine | None]] = {}
    for program in (m for e in client.live_executables() for m in e.hlo_modules()):
        if program.name == module:
            for operation, line in lines_in(program.to_string()).items():
                found.setdefault(operation, set()).add(line)
    return {name: line for name, (line, *more) in found.items() if line is not None and not more}


def lines_in(hlo: str) -> dict[str, SourceLine | None]:
    """Return the user's innermost line of each operation in an optimized program's text.

    Example:
        >>> hlo = '%y = f32[8] add(%x, %x), metadata={op_name="add" source_file="a.py" '
        >>> lines_in(hlo + "source_line=3}")
        {'y': SourceLine(file='a.py', line=3, function='')}
    """
    stacks = _Stacks.read(hlo)
    return {m["name"]: _line_of(m["metadata"], stacks) for m in _NAMED.finditer(hlo)}


def _line_of(metadata: str, stacks: "_Stacks") -> SourceLine | None:
    if frame := _FRAME.search(metadata):
        return stacks.users_line(int(frame[1]))
    line = _LINE.search(metadata)
    return SourceLine(line[1], int(line[2]), "") if line and is_users_file(line[1]) else None


class _Stacks(NamedTuple):
    """The tables in front of a program, which its operations refer to."""

    files: dict[int, str]
    functions: dict[int, str]
    locations: dict[int, dict[str, int]]
    frames: dict[int, dict[str, int]]

    @classmethod
    def read(cls, hlo: str) -> "_Stacks":
        tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
        current: dict[int, str] = {}
        for text in hlo.splitlines():
            if text.startswith(("%", "ENTRY")):
                break
            if text in tables:
                current = tables[text]
            elif row := _ROW.match(text):
                current[int(row[1])] = row[2]
        files, functions, locations, frames = (tables[name] for name in _TABLES)
        return cls(_names(files), _names(functions), _numbers(locations), _numbers(frames))

    def users_line(self, frame: int) -> SourceLine | None:
        """Return the innermost line of the user's on a stack."""
        for _ in range(_MAX_DEPTH):
            row = self.frames.get(frame, {})
            at = self.locations.get(row.get("file_location_id", 0), {})
            file = self.files.get(at.get("file_name_id", 0), "")
            if file and is_users_file(file):
                function = self.functions.get(at.get("function_name_id", 0), "")
                named = "" if function == "<module>" else function
                return SourceLine(file, at.get("line", 0), named)
            parent = row.get("parent_frame_id", 0)
            if parent in (0, frame):
                return None
            frame = parent
        return None


def _names(table: dict[int, str]) -> dict[int, str]:
    return {number: row.strip('"') for number, row in table.items()}


def _numbers(table: dict[int, str]) -> dict[int, dict[str, int]]:
    return {
        number: {key: int(value) for key, value in _FIELD.findall(row)}
        for number, row in table.items()
    }
