"""The names that the user's code loads while it runs, in one thread."""

import dis
import functools
import sys
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import Any

from ipyjaxbench.usercode.origin import is_users_file

#: By these a name is found that the code does not load.
_BY_TEXT = frozenset(("globals", "locals", "vars", "getattr", "eval", "exec", "environ", "getenv"))


class LoadedNames(AbstractContextManager["LoadedNames"]):
    """Notes each name that is loaded while the context is open: globals, attributes, and its own.

    From Python 3.13 on it notes nothing of code that runs for the first time within one: the code
    is prepared for it then.

    Attributes:
        runs: how often the same code is to run, each time within another one, until all is noted.
        names: that were loaded; None where another tracer runs, or names may be found by text.
    """

    runs = 1 if sys.version_info < (3, 13) else 2

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._is_open = False

    def __enter__(self) -> "LoadedNames":
        if sys.gettrace() is None:  # no debugger's
            sys._getframe().f_trace_opcodes = True  # Python 3.12 has to know before
            sys.settrace(self._on_call)
            self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            sys.settrace(None)

    @property
    def names(self) -> frozenset[str] | None:
        """Those that were loaded."""
        is_known = self._is_open and self._found.isdisjoint(_BY_TEXT)
        return frozenset(self._found) if is_known else None

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ARG002
        if not is_users_file(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._on_opcode

    def _on_opcode(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ARG002
        if event == "opcode":
            self._found.update(_loads(frame.f_code).get(frame.f_lasti, ()))
        return self._on_opcode


@functools.lru_cache(maxsize=1024)
def _loads(code: CodeType) -> dict[int, tuple[str, ...]]:
    """Return the names that instructions load, by their offsets."""
    found = {}
    for each in dis.get_instructions(code):
        names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        if each.opname.startswith(("LOAD_", "IMPORT_")) and each.opname != "LOAD_CONST":
            found[each.offset] = tuple(name for name in names if isinstance(name, str))
    return found
