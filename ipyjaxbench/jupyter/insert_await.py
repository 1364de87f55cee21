"""Puts ``await`` before magics whose code awaits: IPython then awaits them as any other code."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import MagicAlias

from ipyjaxbench.errors import IpyJaxBenchError

if TYPE_CHECKING:
    from ipyjaxbench.command import Command

# Compiled when first used, not at loading.
#: No whole words: a line of a cell magic's code begins behind the letter of an escaped line end.
_KEYWORD = r"await|async"
#: What IPython calls for a magic.
ENTRY = ("run_line_magic", "run_cell_magic")
_FUNCTIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
    ast.GeneratorExp,  # one that awaits is another kind of object
)


class AwaitInserter:
    """A step of IPython's that changes what was typed: it awaits the magics that are ours."""

    def __init__(self, shell: InteractiveShell, is_ours: Callable[[object], bool]) -> None:
        self._shell, self._is_ours = shell, is_ours

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell, with our magics awaited where that is needed."""
        text = "".join(lines)
        if not self._shell.autoawait or not re.search(_KEYWORD, text) or not _may_await():
            return lines
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return lines
        # Positions count bytes.
        changed = [line.encode() for line in text.splitlines(keepends=True)]
        for call in sorted(self._calls_to_await(tree.body), key=lambda c: -c.col_offset):
            line, start, end = call.lineno - 1, call.col_offset, call.end_col_offset
            if call.end_lineno == call.lineno:  # as IPython writes them
                old = changed[line]
                changed[line] = old[:start] + b"(await " + old[start:end] + b")" + old[end:]
        return [line.decode() for line in changed]

    def _calls_to_await(self, nodes: list[Any], *, here: bool = True) -> Iterator[ast.Call]:
        """Yield calls of our magics with code that awaits, where Python lets one await."""
        for node in nodes:
            if isinstance(node, ast.Await):
                inner: list[Any] = [*ast.iter_child_nodes(node.value)]
                yield from self._calls_to_await(inner, here=here)
                continue
            if here and isinstance(node, ast.Call) and self._awaits(node):
                yield node
            inside = isinstance(node, ast.AsyncFunctionDef) or not isinstance(node, _FUNCTIONS)
            may = isinstance(node, ast.AsyncFunctionDef) or (here and inside)
            yield from self._calls_to_await([*ast.iter_child_nodes(node)], here=may)

    def _awaits(self, call: ast.Call) -> bool:
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in ENTRY:
            return False
        constants = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
        typed = [value for value in constants if isinstance(value, str)]
        if len(typed) != len(call.args) or len(typed) not in (2, 3):
            return False
        name, line, *cell = typed
        registered = self._shell.magics_manager.magics["cell" if cell else "line"]
        alias = registered.get(name)
        if isinstance(alias, MagicAlias):
            name, line = alias.magic_name, f"{alias.magic_params or ''} {line}"
        if not self._is_ours(registered.get(name)):
            return False  # another extension's, which may have the same name
        from ipyjaxbench.jupyter.commands import COMMANDS

        command = COMMANDS[name]
        try:
            return code_awaits(self._shell, command, command.split(line)[-1], *cell)
        except IpyJaxBenchError:
            return False  # the magic raises it when it runs


def code_awaits(
    shell: InteractiveShell, command: Command[Any], code: str, cell: str | None = None
) -> bool:
    """Return whether the code of a magic, behind its options or below, awaits at its top level."""
    from ipyjaxbench.usercode import awaits

    has_code = command.takes_code or cell is not None
    if not has_code or not re.search(_KEYWORD, f"{code}\n{cell}"):
        return False
    try:
        return any(awaits(body) for body in _bodies(shell, command, code, cell))
    except (SyntaxError, IpyJaxBenchError):
        return False  # the magic raises it when it runs


def _bodies(
    shell: InteractiveShell, command: Command[Any], code: str, cell: str | None
) -> Iterator[list[ast.stmt]]:
    from ipyjaxbench.comparison import read_cell, transform_arms

    if command.name == "fwcompare" and cell is not None:
        text = shell.transform_cell(transform_arms(cell, shell.transform_cell))
        read = read_cell(text, ast.parse, "")
        sources = [read.setup, *(s for arm in read.arms for s in (arm.source, arm.setup))]
        yield from (source.tree.body for source in sources if source is not None)
        return
    for text in (code, cell):
        if text:
            yield ast.parse(shell.transform_cell(text)).body


def _may_await() -> bool:
    """Return whether the input may await: not where a magic of others runs it, as %%time does.

    They compile it as plain code, or give it to a shell whose event loop is at work already.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if frame.f_globals.get("__name__", "").startswith("ipyjaxbench."):
            return True  # a magic of ours runs it
        if code.co_name == "run_cell":
            from ipyjaxbench.usercode import loop_runs

            return not loop_runs()
        if code.co_name in ENTRY:
            return False
        frame = frame.f_back
    return True
