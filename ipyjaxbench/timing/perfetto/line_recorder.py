"""Which of the user's lines Python runs, and when: by Python's own hook for debuggers."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from ipyjaxbench.usercode import OUR_LINES, is_users_file, names_of_module

#: Lines that are recorded at most: a loop over numbers runs millions of them.
MAX_LINES = 20_000
_NO_FILE = "<string>"  # code that a library makes, as `dataclasses` does


class LineSpan(NamedTuple):
    """One line of the user's code, while Python runs it and what it calls."""

    file: str
    line: int
    function: str  # that it stands in; "" outside of functions
    begun: int  # nanoseconds on the wall
    ended: int


class LineRecorder:
    """Collects lines of the thread that it is switched on in.

    Args:
        wall: reads nanoseconds.

    Attributes:
        spans: what ran, in the order in which it ended.
        reason: why there are no spans, or not all, in words.
    """

    def __init__(self, wall: Callable[[], int]) -> None:
        self._wall = wall
        self.spans: list[LineSpan] = []
        self.reason = ""

    def clear(self) -> None:
        """Forget what was recorded."""
        self.spans, self.reason = [], ""

    @contextmanager
    def on(self) -> Iterator[None]:
        """Record lines meanwhile; a debugger that is on is left alone."""
        __tracebackhide__ = True
        if sys.gettrace() is not None:
            self.reason = "without lines, as a debugger or a coverage tool is on"
            yield
            return
        sys.settrace(self._on_call)
        try:
            yield
        finally:
            sys.settrace(None)

    def _on_call(self, frame: FrameType, event: str, _: object) -> Any:
        file = frame.f_code.co_filename
        if event != "call" or file == _NO_FILE or not is_users_file(file):
            return None
        if _is_in_library(frame):
            return None
        name, line, begun = frame.f_code.co_name, 0, 0
        function = "" if name == "<module>" else name
        wall, spans = self._wall, self.spans

        def on_event(frame: FrameType, event: str, _: object) -> Any:
            nonlocal line, begun
            if event not in ("line", "return"):
                return on_event
            now = wall()
            if 0 < line < OUR_LINES:
                spans.append(LineSpan(file, line, function, begun, now))
                if len(spans) >= MAX_LINES:  # what lines are inside of goes on unrecorded
                    self.reason = f"only the first {MAX_LINES:,} lines"
                    sys.settrace(None)
            line, begun = (0 if event == "return" else frame.f_lineno), now
            return on_event

        return on_event


def _is_in_library(frame: FrameType) -> bool:
    """Whether a library made the code, as Inductor does, in a file that is not among its own."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    module = sys.modules.get(package)
    file = None if module is None else names_of_module(module).get("__file__")
    return package != "__main__" and type(file) is str and not is_users_file(file)
