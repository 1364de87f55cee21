"""The user's lines that led to an error."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType

from ipyjaxbench.usercode import (
    GENERATED,
    PACKAGE,
    expression_of_instruction,
    is_file_of,
    is_users_file,
)

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
    """Return the user's lines that led to an error, innermost first; else those of a library."""
    every = [*_places(error.__traceback__)][::-1]
    users = [place for place in every if is_users_file(place.file)]
    shown = [place for place in users if place.file != _NO_FILE]
    return shown or users or [place for place in every if _is_librarys(place.file)]


def expression_of(place: Place) -> str:
    """Return the expression that was being computed; the whole line where that is not known."""
    return expression_of_instruction(place.frame, place.at, place.line)[1]


def _is_librarys(file: str) -> bool:
    """Whether a file that is not the user's is of a library that uses JAX."""
    return not (file.startswith((PACKAGE, *GENERATED)) or is_file_of(file, "jax"))


def _places(traceback: TracebackType | None) -> Iterator[Place]:
    while traceback is not None:
        frame = traceback.tb_frame
        code = frame.f_code
        yield Place(code.co_filename, traceback.tb_lineno, code, frame, traceback.tb_lasti)
        traceback = traceback.tb_next
