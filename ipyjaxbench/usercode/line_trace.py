"""Which line of the user's code runs: each change of it is told while the code runs."""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from ipyjaxbench.usercode.origin import is_users_file


class CodeLine(NamedTuple):
    """One line of the user's code.

    Attributes:
        number: of the line in its cell or file.
        function: that it is in; "" outside of functions.
        file: its path; that of a cell names no file that exists.
    """

    number: int
    function: str
    file: str

    def words(self) -> str:
        """Return the line as a report names it.

        Example:
            >>> CodeLine(14, "step", "<cell 3>").words(), CodeLine(3, "", "").words()
            ('line 14, in step', 'line 3')
        """
        of_file = f" of {os.path.basename(self.file)}" if os.path.isfile(self.file) else ""
        return f"line {self.number}{of_file}" + (f", in {self.function}" if self.function else "")


def innermost_line(frame: FrameType | None) -> CodeLine | None:
    """Return the line of the user's code that a frame, or the nearest one outside of it, runs."""
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    name = frame.f_code.co_name
    function = "" if name == "<module>" else name
    return CodeLine(frame.f_lineno or 0, function, frame.f_code.co_filename)


class LineTrace:
    """Tells when another line of the user's code begins to run, on the thread that opens it.

    A debugger, or a tool that measures coverage, keeps its own trace: then no line is told.

    Args:
        tell: called with the frame, before its line runs.
    """

    def __init__(self, tell: Callable[[FrameType], object]) -> None:
        self._tell = tell

    def __enter__(self) -> "LineTrace":
        self._is_free = sys.gettrace() is None
        if self._is_free:
            sys.settrace(self._on_call)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_free:
            sys.settrace(None)

    def _on_call(self, frame: FrameType, event: str, value: object) -> Any:  # noqa: ARG002
        return self._on_event if is_users_file(frame.f_code.co_filename) else None

    def _on_event(self, frame: FrameType, event: str, value: object) -> Any:  # noqa: ARG002
        if event == "line":
            self._tell(frame)
        elif event == "return" and frame.f_back is not None:
            self._tell(frame.f_back)  # goes on with its line
        return self._on_event
