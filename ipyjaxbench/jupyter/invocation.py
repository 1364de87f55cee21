"""One use of a magic: what was typed, where it stands, and what becomes of its value."""

import ast
import dis
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, TypeVar

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.command import Command, ShownOptions
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.jupyter.autoawait import ENTRY
from ipyjaxbench.jupyter.awaited_code import code_awaits
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.usercode.awaiting import complete, spawned
from ipyjaxbench.usercode.snippet import Namespace, Source

Options = TypeVar("Options")
T = TypeVar("T")

#: What becomes of a call's value, by the instruction that follows it.
_USES = {
    "POP_TOP": "dropped",
    "RETURN_VALUE": "dropped",
    "PRINT_EXPR": "shown",
    "CALL_INTRINSIC_1": "shown",
}
_NOTHING = ("CACHE", "EXTENDED_ARG", "NOP")


@dataclass(frozen=True)
class Typed(Generic[Options]):
    """One use of a magic.

    Attributes:
        session: of the shell into which it was typed.
        command: what the magic takes.
        line: all that follows its name.
        cell: what stands below; None where the magic is a line.
        names: that code sees where the magic stands: a function's own come first.
        local_ns: those of the function alone.
        caller: the frame that holds the magic; None where it is called from Python.
        use: "used" (``r = %fwtime f(x)``), "shown" by IPython, or "dropped".
        is_awaited: whether the magic's value is awaited, so that it may be a coroutine.
    """

    session: Session
    command: Command[Options]
    line: str
    cell: str | None
    names: Namespace
    local_ns: Namespace | None
    caller: FrameType | None
    use: str
    is_awaited: bool

    @classmethod
    def of(
        cls,
        session: Session,
        command: Command[Options],
        line: str,
        cell: str | None,
        local_ns: Namespace | None,
    ) -> "Typed[Options]":
        """The use of a magic that is being called now."""
        shared: Namespace = session.shell.user_ns
        inside = local_ns is not None and local_ns is not shared
        names = {**shared, **local_ns} if inside else shared  # type: ignore[dict-item]
        caller = _calling_frame()
        use = _use_of_result(caller)
        return cls(session, command, line, cell, names, local_ns, caller, *use)

    @property
    def shell(self) -> InteractiveShell:
        """Into which it was typed."""
        return self.session.shell

    @property
    def above(self) -> int:
        """How many lines of the editor stand above the code."""
        if self.caller is None:
            return 0
        return self.caller.f_lineno - (self.cell is None)

    def body(self, rest: str) -> str:
        """The code: what stands below the options, or behind them.

        Raises:
            SnippetError: it stands in both places.
        """
        if self.cell is None:
            return rest
        if rest:
            raise SnippetError(f"{rest!r} stands where options stand: write code below")
        return self.cell

    def split(self) -> tuple[Options, ShownOptions, str]:
        """The options in front of the line, its own and those of all magics, and the rest."""
        return self.command.split(self.line, self.session.settings.chosen())

    def done(self, work: Callable[["Typed[Options]"], T]) -> Any:
        """Do what the magic is there for, with code that may await.

        Args:
            work: does it.

        Returns:
            What it returns; a coroutine of that where the magic is awaited.
        """
        __tracebackhide__ = True
        if self.is_awaited:
            return spawned(work, self)
        if not code_awaits(self.shell, self.command, self.line, self.cell):
            return work(self)
        with one_line_errors():
            return complete(work, self)

    def source(self, code: str, above: int | None = None) -> Source:
        """User code by IPython's own transforms, with the line numbers that the editor shows."""
        text = "\n" * (self.above if above is None else above) + self.transformed(code)
        filename = self.filename(text)
        tree = self.shell.transform_ast(ast.parse(text, filename))
        return Source(tree, code, filename, self.shell.compile.flags)

    def transformed(self, code: str) -> str:
        """Code by IPython's own transforms, line by line as it was: they drop blank ones on top."""
        lines = code.splitlines()
        blank = next((number for number, line in enumerate(lines) if line.strip()), 0)
        try:
            transformed = self.shell.transform_cell(code)
        except SyntaxError:
            raise
        except Exception:  # noqa: BLE001  IPython asks an object that a line begins with for its class
            transformed = self.shell.input_transformer_manager.transform_cell(code)
        return "\n" * blank + transformed  # type: ignore[no-any-return]

    def filename(self, text: str) -> str:
        """The name under which tracebacks find these lines."""
        number = self.shell.execution_count
        if self.caller is not None:
            # Cell numbers, from IPython 8 on.
            known = getattr(self.shell.compile, "_filename_map", {})
            number = known.get(self.caller.f_code.co_filename, number)
        filename: str = self.shell.compile.cache(text, number)
        return filename


def _calling_frame() -> FrameType | None:
    """The frame of the user's code that holds the magic."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name not in ENTRY:
        frame = frame.f_back
    return frame.f_back if frame is not None else None


def _use_of_result(frame: FrameType | None) -> tuple[str, bool]:
    """What becomes of the value, and whether it is awaited first."""
    if frame is None:
        return "used", False
    following = (i for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti)
    real = (i for i in following if i.opname not in _NOTHING)
    first = next(real, None)
    awaited = first is not None and first.opname == "GET_AWAITABLE"
    if awaited:
        end = next(i.argval for i in real if i.opname == "SEND")
        first = next((i for i in real if i.offset >= end and i.opname != "END_SEND"), None)
    name = first.opname if first is not None else "POP_TOP"
    return _USES.get(name, "used"), awaited
