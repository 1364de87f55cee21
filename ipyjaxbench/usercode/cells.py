"""Which cell of a notebook some code was typed in, and how to have its definition run again."""

import ast
import linecache
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ipyjaxbench.usercode.classes import module_of
from ipyjaxbench.usercode.holders import variables_of
from ipyjaxbench.usercode.objects import is_of, text_of

#: Maps of shells, from the file names that they give cells to execution numbers, as in ``In [3]``.
CELLS: list[Mapping[str, int]] = []
_MOST_TYPED = 60  # letters of a statement that is to be typed again


def cell_of(file: str) -> int:
    """Return the execution number of the cell that a code object's file is; 0 where it is none.

    Example:
        >>> CELLS.append({"<cell>": 3})
        >>> cell_of("<cell>"), cell_of("module.py")
        (3, 0)
        >>> _ = CELLS.pop()
    """
    return next((cells[file] for cells in CELLS if file in cells), 0)


def assignment_of(value: object) -> str:
    """Return the assignment in a cell that gave a value its name; "" where that is not known.

    Only one that calls something, and is short enough to be typed again.
    """
    return next(filter(None, map(_latest_assignment, variables_of(value))), "")


def reads_itself(assignment: str) -> bool:
    """Whether it gives another value when it is run again.

    Example:
        >>> reads_itself("f = jit(f)"), reads_itself("g = jit(f)"), reads_itself("")
        (True, False, False)
    """
    name, _, value = assignment.partition(" = ")
    return bool(value) and bool(re.search(rf"\b{re.escape(name)}\b", value))


def _latest_assignment(name: str) -> str:
    files = ((number, file) for cells in CELLS for file, number in reversed([*cells.items()]))
    for _, file in sorted(files, key=lambda pair: -pair[0]):  # of cells of one number the last
        text = "".join(linecache.getlines(file))
        if not re.search(rf"\b{re.escape(name)}\b", text):
            continue
        bound = [*_bound(text, name)]
        # What a magic runs is a text in its cell.
        if bound or re.search(rf"\b{re.escape(name)}\s*=[^=]", text):
            return bound[-1] if bound else ""
    return ""


@lru_cache(maxsize=64)
def _statements(text: str) -> tuple[ast.stmt, ...]:
    """Return the statements of a cell, those in loops and conditions too."""
    try:
        left: list[ast.AST] = [ast.parse(text)]
    except SyntaxError:
        return ()
    found: list[ast.stmt] = []
    while left:
        node = left.pop()
        found += [node] if isinstance(node, ast.stmt) else []
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            left += ast.iter_child_nodes(node)
    return tuple(sorted(found, key=lambda node: node.lineno))


def _bound(text: str, name: str) -> Iterator[str]:
    """Yield each statement that gives a name a value; "" for one that is not to be typed again."""
    for node in _statements(text):
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == [name]:
            typed = f"{name} = {ast.get_source_segment(text, node.value)}"
            is_short = "\n" not in typed and len(typed) <= _MOST_TYPED
            yield typed if is_short and isinstance(node.value, ast.Call) else ""
        elif name in _names_bound(node):
            yield ""


def _names_bound(node: ast.stmt) -> set[str]:
    """Return the names to which one statement gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def is_of_module(function: Any) -> bool:
    """Whether a function or a class was defined in a file, and not in a cell."""
    module = module_of(function) if is_of(function, type) else text_of(function, "__module__")
    return module != "__main__" and bool(text_of(sys.modules.get(module), "__file__"))


def how_to_define(function: object, name: str) -> str:
    """Return what to do so that the definition of a function or a class runs again.

    Args:
        function: or the class.
        name: of it, quoted as it is to be shown.

    Example:
        >>> how_to_define(how_to_define, "`f`")
        'reload the module that defines `f` and import `f` again'
    """
    if is_of_module(function):
        return f"reload the module that defines {name} and import {name} again"
    return f"run the cell that defines {name} again"
