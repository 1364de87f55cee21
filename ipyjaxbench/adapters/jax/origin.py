"""Which code is the user's: neither Python's nor a library's."""

import itertools
import linecache
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, TracebackType

import jax

from ipyjaxbench.usercode import GENERATED, PACKAGE, is_users_file

_NOT_SHOWN = (PACKAGE, f"{Path(jax.__file__).parent}{os.sep}", *GENERATED)  # of libraries' lines
_NO_FILE = "<string>"  # code that a library makes, as `dataclasses` does, or that `exec` was given


@dataclass(frozen=True)
class Place:
    """A line that was being run.

    Attributes:
        file: where it stands.
        line: its number.
        code: of the function that holds it.
        frame: with the values of that function's names.
        at: which of the code's instructions was being run.
    """

    file: str
    line: int
    code: CodeType
    frame: FrameType
    at: int


def places(error: BaseException) -> list[Place]:
    """The user's lines that led to an error, the innermost first.

    Where there are none, because a library's function was called, those of that library.
    """
    every = [*_places(error.__traceback__)][::-1]
    users = [place for place in every if is_users_file(place.file)]
    shown = [place for place in users if place.file != _NO_FILE]
    theirs = (place for place in every if not place.file.startswith(_NOT_SHOWN))
    return shown or users or [*theirs]


def source_of(place: Place) -> str:
    """The line as it stands in its file; empty where that is gone."""
    return linecache.getline(place.file, place.line, place.frame.f_globals).strip()


def expression_of(place: Place) -> str:
    """The expression that was being computed; the whole line where that is not known."""
    first, last, begin, end = next(itertools.islice(place.code.co_positions(), place.at // 2, None))
    if first is None or last is None or not source_of(place):
        return source_of(place)
    lines = linecache.getlines(place.file, place.frame.f_globals)[first - 1 : last]
    text = [line.encode() for line in lines]  # columns are counted in bytes
    text[-1] = text[-1][:end]
    text[0] = text[0][begin:]
    return b"".join(text).decode(errors="replace")


def _places(traceback: TracebackType | None) -> Iterator[Place]:
    while traceback is not None:
        frame = traceback.tb_frame
        code = frame.f_code
        yield Place(code.co_filename, traceback.tb_lineno, code, frame, traceback.tb_lasti)
        traceback = traceback.tb_next
