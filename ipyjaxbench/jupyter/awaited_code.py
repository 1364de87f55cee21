"""Which magics have code that awaits, and how their lines read with ``await`` before them."""

import ast
from collections.abc import Iterator
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import MagicAlias

from ipyjaxbench.command import Command
from ipyjaxbench.comparison import cell as arms
from ipyjaxbench.errors import IpyJaxBenchError
from ipyjaxbench.jupyter.autoawait import ENTRY, WORD
from ipyjaxbench.jupyter.commands import COMMANDS, COMPARE
from ipyjaxbench.jupyter.magics import FrameworkMagics
from ipyjaxbench.usercode.snippet import awaits

_FUNCTIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
    ast.GeneratorExp,  # one that awaits is another kind of object
)


def awaited(shell: InteractiveShell, lines: list[str]) -> list[str]:
    """The lines of a cell, with our magics awaited where that is needed.

    Args:
        shell: into which they were typed.
        lines: as IPython's other steps have changed them.
    """
    text = "".join(lines)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return lines
    # Positions count bytes.
    changed = [line.encode() for line in text.splitlines(keepends=True)]
    for call in sorted(_to_await(shell, tree.body), key=lambda c: -c.col_offset):
        line, start, end = call.lineno - 1, call.col_offset, call.end_col_offset
        if call.end_lineno == call.lineno:  # as IPython writes them
            old = changed[line]
            changed[line] = old[:start] + b"(await " + old[start:end] + b")" + old[end:]
    return [line.decode() for line in changed]


def _to_await(
    shell: InteractiveShell, nodes: list[Any], *, here: bool = True
) -> Iterator[ast.Call]:
    """Calls of our magics with code that awaits, where Python lets one await."""
    for node in nodes:
        if isinstance(node, ast.Await):
            inner: list[Any] = [*ast.iter_child_nodes(node.value)]
            yield from _to_await(shell, inner, here=here)
            continue
        if here and isinstance(node, ast.Call) and _awaits(shell, node):
            yield node
        inside = isinstance(node, ast.AsyncFunctionDef) or not isinstance(node, _FUNCTIONS)
        may = isinstance(node, ast.AsyncFunctionDef) or (here and inside)
        yield from _to_await(shell, [*ast.iter_child_nodes(node)], here=may)


def _awaits(shell: InteractiveShell, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ENTRY:
        return False
    constants = [each.value for each in call.args if isinstance(each, ast.Constant)]
    typed = [value for value in constants if isinstance(value, str)]
    if len(typed) != len(call.args) or len(typed) not in (2, 3):
        return False
    name, line, *cell = typed
    kind = "cell" if cell else "line"
    known = shell.magics_manager.magics[kind]
    alias = known.get(name)
    if isinstance(alias, MagicAlias):
        name, line = alias.magic_name, f"{alias.magic_params or ''} {line}"
    if not isinstance(getattr(known.get(name), "__self__", None), FrameworkMagics):
        return False  # another extension's, which may have the same name
    return code_awaits(shell, COMMANDS[name], line, *cell)


def code_awaits(
    shell: InteractiveShell, command: Command[Any], line: str, cell: str | None = None
) -> bool:
    """Whether the code that a magic is given awaits at its top level."""
    has_code = command.takes_code or cell is not None
    if not has_code or not WORD.search(f"{line}\n{cell}"):
        return False
    try:
        _, _, rest = command.split(line)
        return any(awaits(body) for body in _bodies(shell, command, rest, cell))
    except (SyntaxError, IpyJaxBenchError):
        return False  # it is told when the magic runs


def _bodies(
    shell: InteractiveShell, command: Command[Any], rest: str, cell: str | None
) -> Iterator[list[ast.stmt]]:
    if command is COMPARE and cell is not None:
        text = shell.transform_cell(arms.transformed(cell, shell.transform_cell))
        read = arms.read(text, ast.parse, "")
        sources = [read.setup, *(each for arm in read.arms for each in (arm.source, arm.setup))]
        yield from (source.tree.body for source in sources if source is not None)
        return
    for code in (rest, cell):
        if code:
            yield ast.parse(shell.transform_cell(code)).body
