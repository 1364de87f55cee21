"""Code as it was typed into a shell: its text, its namespace, and what becomes of its value."""

import ast
import dis
import sys
from types import FrameType

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.snippet import Namespace, Snippet, Source

_ENTRY = ("run_line_magic", "run_cell_magic")
#: What becomes of a call's value, by the instruction that follows it.
_USES = {
    "POP_TOP": "dropped",
    "RETURN_VALUE": "dropped",
    "PRINT_EXPR": "shown",
    "CALL_INTRINSIC_1": "shown",
}


def namespace_of(shell: InteractiveShell, local_ns: Namespace | None) -> Namespace:
    """The names that code sees where the magic stands: a function's own come first."""
    shared: Namespace = shell.user_ns
    if local_ns is None or local_ns is shared:
        return shared
    return {**shared, **local_ns}


def snippets_of(
    shell: InteractiveShell, line: str, cell: str | None, names: Namespace
) -> tuple[Snippet, Snippet | None]:
    """The code to time, and what a cell's first line sets up for it."""
    caller = calling_frame()
    above = caller.f_lineno - 1 if caller is not None else 0
    of_line = source_of(shell, line, above, caller)
    if cell is None:
        return Snippet(of_line, names), None
    snippet = Snippet(source_of(shell, cell, above + 1, caller), names)
    return snippet, Snippet(of_line, names) if line else None


def source_of(shell: InteractiveShell, code: str, above: int, caller: FrameType | None) -> Source:
    """User code by IPython's own transforms, with the line numbers that the editor shows."""
    text = "\n" * above + shell.transform_cell(code)
    filename = filename_of(shell, text, caller)
    tree = shell.transform_ast(ast.parse(text, filename))
    return Source(tree, code, filename, shell.compile.flags)


def filename_of(shell: InteractiveShell, text: str, caller: FrameType | None) -> str:
    """The name under which tracebacks find these lines."""
    number = shell.execution_count
    if caller is not None:
        known = getattr(shell.compile, "_filename_map", {})  # cell numbers, from IPython 8 on
        number = known.get(caller.f_code.co_filename, number)
    filename: str = shell.compile.cache(text, number)
    return filename


def calling_frame() -> FrameType | None:
    """The frame of the user's code that holds the magic."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name not in _ENTRY:
        frame = frame.f_back
    return frame.f_back if frame is not None else None


def use_of_result() -> str:
    """What becomes of the magic's value: used (``r = %fwtime f(x)``), shown by IPython, dropped."""
    frame = calling_frame()
    if frame is None:
        return "used"
    following = (i for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti)
    real = (i.opname for i in following if i.opname not in ("CACHE", "EXTENDED_ARG", "NOP"))
    return _USES.get(next(real, "POP_TOP"), "used")
