"""One use of a magic: what was typed, where it stands, and how its value is used."""

import ast
import dis
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import Any, Generic, TypeVar

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.command import Command, ShownOptions
from ipyjaxbench.errors import CODE_ERRORS, OLD_NAMES_END, SnippetError, called_from
from ipyjaxbench.jupyter.errors import lean_errors, one_line_errors, short_interrupts
from ipyjaxbench.jupyter.insert_await import ENTRY, code_awaits
from ipyjaxbench.jupyter.known_notes import BriefResult
from ipyjaxbench.jupyter.other_ranks import note_other_ranks
from ipyjaxbench.jupyter.screen import Progress, Screen, show
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.reports import Result
from ipyjaxbench.usercode import Namespace, Source, run_in_loop, run_in_new_loop

Options = TypeVar("Options")
T = TypeVar("T")
R = TypeVar("R", bound=Result)

#: How a call's value is used, by the instruction that follows it.
_USES = {
    "POP_TOP": "dropped",
    "RETURN_VALUE": "dropped",
    "PRINT_EXPR": "shown",
    "CALL_INTRINSIC_1": "shown",
}
_WITHOUT_EFFECT = ("CACHE", "EXTENDED_ARG", "NOP")


@dataclass(frozen=True)
class Invocation(Generic[Options]):
    """One use of a magic.

    Attributes:
        session: of the shell into which it was typed.
        command: what the magic takes.
        options: its own, with what the user configured.
        shown: options of all magics.
        code: what stands behind the options.
        cell: what stands below; None where the magic is a line.
        names: that code sees where the magic stands: a function's own come first.
        local_ns: those of the function alone.
        caller: the frame that holds the magic; None where it is called from Python.
        use: "used" (``r = %fwtime f(x)``), "shown" by IPython, or "dropped".
        is_awaited: whether the magic's value is awaited, so that it may be a coroutine.
    """

    session: Session
    command: Command[Options]
    options: Options
    shown: ShownOptions
    code: str
    cell: str | None
    names: Namespace
    local_ns: Namespace | None
    caller: FrameType | None
    use: str
    is_awaited: bool

    @classmethod
    def from_line(
        cls,
        session: Session,
        command: Command[Options],
        line: str,
        cell: str | None,
        local_ns: Namespace | None,
    ) -> "Invocation[Options]":
        """Return the use of a magic that is being called now; its line is all behind its name."""
        __tracebackhide__ = True
        with one_line_errors():
            split = command.split(line, session.settings.option_values())
        shared: Namespace = session.shell.user_ns
        inside = local_ns is not None and local_ns is not shared
        names = {**shared, **local_ns} if inside else shared  # type: ignore[dict-item]
        caller = _calling_frame()
        return cls(session, command, *split, cell, names, local_ns, caller, *_use_of_result(caller))

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

    @property
    def body(self) -> str:
        """The code: what stands below the options, or behind them, but not in both places."""
        if self.cell is None:
            return self.code
        if self.code:
            raise SnippetError(
                f"{self.code!r} is not an option. Write the code in the lines below."
            )
        return self.cell

    @cached_property
    def screen(self) -> Screen:
        """Where it shows how far it is, if that is wanted, and its result."""
        return Screen(self.shell, active=self.session.settings.progress and self.is_shown())

    @contextmanager
    def progress(self, doing: str) -> Iterator[Progress]:
        """Tell the screen, and servers by a file, how far a measurement of its code is."""
        __tracebackhide__ = True
        code = self.code if self.cell is None else self.cell
        heartbeat = self.session.heartbeat(code)
        progress = self.screen.progress(doing, heartbeat)
        if heartbeat is not None:
            self.screen.at_end.append(heartbeat.end)
        with heartbeat or nullcontext(), progress:
            yield progress

    @lean_errors
    @short_interrupts
    def run(self, work: Callable[["Invocation[Options]"], T]) -> Any:
        """Do the magic's work, whose code may await; return a coroutine where it is awaited."""
        __tracebackhide__ = True
        if self.is_awaited:
            return run_in_loop(self._run, work)
        if not code_awaits(self.shell, self.command, self.code, self.cell):
            return self._run(work)
        with one_line_errors():
            return run_in_new_loop(self._run, work)

    @short_interrupts
    def _run(self, work: Callable[["Invocation[Options]"], T]) -> T:
        __tracebackhide__ = True
        # What %fwtime runs fails as it fails without it: with its traceback.
        is_plain = self.command.name == "fwtime"
        errors = nullcontext() if is_plain else one_line_errors()
        with called_from(self.command.typed), errors, self.screen:
            is_cell = self.cell is not None
            note_other_ranks(self.session, self.command.name, self.options, is_cell=is_cell)
            return work(self)

    def is_shown(self, raised: BaseException | None = None) -> bool:
        """Return whether the magic shows its result, rather than IPython or not at all."""
        by_ipython = self._is_returned and self.use == "shown" and raised is None
        return not (self.shown.quiet or by_ipython)

    @property
    def _is_returned(self) -> bool:
        return self.shown.returned or self.use == "used"

    def present(self, result: R, raised: BaseException | None = None) -> R | None:
        """Show a result, save it under the name that was asked for, and return it where it is used.

        What ended the work early, an error of the user's code or the user, is raised after that, so
        that a notebook stops there.
        """
        __tracebackhide__ = True
        if self.is_shown(raised):
            self.show(result)
            self._show_renamed()
            self.session.show_history_notice(result)
        if self.shown.variable:
            self.shell.user_ns[self.shown.variable] = result
        if raised is not None:
            raise raised
        return result if self._is_returned else None

    def show(self, result: Result) -> None:
        """Show a result as a report, or with ``--json`` as its record."""
        if not self.shown.json:
            self.screen.replace(BriefResult(result, self.session.known_notes))
            return
        record = result.to_dict()
        form = {"application/json": record, "text/plain": json.dumps(record, indent=1)}
        self.screen.replace(form, raw=True)

    def _show_renamed(self) -> None:
        """Show one line for each option that was typed by its old name, once in a session."""
        renamed = {(self.command.name, *both) for both in self.shown.renamed}
        for magic, old, new in sorted(renamed - self.session.warned_renames):
            self.session.warned_renames.add((magic, old, new))
            line = f"{old} is now {new}. The old name still works, until version {OLD_NAMES_END}."
            show({"text/plain": line}, raw=True)

    def source(self, code: str, above: int | None = None) -> Source:
        """Return user code by IPython's transforms, with the line numbers that the editor shows."""
        text = "\n" * (self.above if above is None else above) + self.transformed(code)
        filename = self.filename(text)
        tree = self.shell.transform_ast(ast.parse(text, filename))
        return Source(tree, code, filename, self.shell.compile.flags)

    def transformed(self, code: str) -> str:
        """Return code by IPython's own transforms, with the blank lines on top, which they drop."""
        lines = code.splitlines()
        blank = next((number for number, line in enumerate(lines) if line.strip()), 0)
        try:
            transformed = self.shell.transform_cell(code)
        except SyntaxError:
            raise
        except CODE_ERRORS:  # IPython asks an object that a line begins with for its class
            transformed = self.shell.input_transformer_manager.transform_cell(code)
        return "\n" * blank + transformed  # type: ignore[no-any-return]

    def filename(self, text: str) -> str:
        """Return the name under which tracebacks find these lines."""
        number = self.shell.execution_count
        if self.caller is not None:
            number = self.session.cells.get(self.caller.f_code.co_filename, number)
        filename: str = self.shell.compile.cache(text, number)
        return filename


def _calling_frame() -> FrameType | None:
    """Return the frame of the user's code that holds the magic."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name not in ENTRY:
        frame = frame.f_back
    return frame.f_back if frame is not None else None


def _use_of_result(frame: FrameType | None) -> tuple[str, bool]:
    """Return how the value is used, and whether it is awaited first."""
    if frame is None:
        return "used", False
    following = (i for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti)
    real = (i for i in following if i.opname not in _WITHOUT_EFFECT)
    first = next(real, None)
    awaited = first is not None and first.opname == "GET_AWAITABLE"
    if awaited:
        end = next(i.argval for i in real if i.opname == "SEND")
        first = next((i for i in real if i.offset >= end and i.opname != "END_SEND"), None)
    name = first.opname if first is not None else "POP_TOP"
    return _USES.get(name, "used"), awaited
