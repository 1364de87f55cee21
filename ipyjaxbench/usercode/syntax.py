"""Reads syntax trees of the user's code."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

_DEFINITION = re.compile(r"@|(?:async\s+def|def|class|import|from)\b")
#: Begins a line that goes on with what began above it.
_GOES_ON = re.compile(r"[)\]}#]|(?:elif|else|except|finally)\b")
_MOST = 20_000  # characters at each end of code that are looked at
_POSITION = ("lineno", "end_lineno", "col_offset", "end_col_offset")
_Node = TypeVar("_Node", bound=ast.AST)


def copy_tree(node: _Node) -> _Node:
    """Return a tree of its own.

    `copy.deepcopy` would follow what others leave on nodes: Python shares those of ``ctx`` among
    all trees, and the library that shows IPython's tracebacks hangs whole trees on them.
    """
    new = type(node)(**{name: _copied_field(value) for name, value in ast.iter_fields(node)})
    for name in _POSITION:
        if hasattr(node, name):
            setattr(new, name, getattr(node, name))
    return new


def _copied_field(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied_field(item) for item in value]
    return copy_tree(value) if isinstance(value, ast.AST) else value


def nodes_of(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Walk over all nodes of some statements."""
    return ast.walk(ast.Module([*statements], []))


def arguments(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, by position and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def only_value(statements: Sequence[ast.stmt]) -> ast.expr | None:
    """Return the expression that the code is, as in ``f(x)`` or ``y = f(x)``; None elsewhere."""
    only = statements[0] if len(statements) == 1 else None
    return only.value if isinstance(only, ast.Expr | ast.Assign) else None


def root_name(node: ast.expr) -> str:
    """Return ``x`` of ``x``, ``x.y`` and ``x[0].y``; "" of anything else."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_plain(node: ast.expr) -> bool:
    """Whether it is a name, a dotted name or a constant: evaluating it runs no code."""
    if isinstance(node, ast.Attribute):
        return is_plain(node.value)
    return isinstance(node, ast.Name | ast.Constant)


def awaits(nodes: Sequence[ast.AST]) -> bool:
    """Whether code awaits outside of the functions that it defines.

    Example:
        >>> awaits(ast.parse("await f()").body), awaits(ast.parse("async def g(): pass").body)
        (True, False)
    """
    kinds = ast.Await | ast.AsyncFor | ast.AsyncWith
    return any(
        node.is_async if isinstance(node, ast.comprehension) else isinstance(node, kinds)
        for node in nodes_in_scope(nodes)
    )


def imports_more(tree: ast.AST) -> bool:
    """Whether code imports what the session has not.

    Example:
        >>> imports_more(ast.parse("import ast")), imports_more(ast.parse("from this import s"))
        (False, True)
    """
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module] if node.module and not node.level else []
    return any(name not in sys.modules for name in names)


def nodes_in_scope(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of the same scope: not those inside of functions and classes."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from nodes_in_scope(list(ast.iter_child_nodes(node)))


def first_line(code: str) -> str:
    r"""Return one line for code: that of what it ends with, where it begins with definitions.

    It looks at lines, for to parse the code of a saved notebook can take minutes, and at the two
    ends of long code.

    Example:
        >>> first_line("f(x)\ny"), first_line("def f(x):\n    return x\n\nf(3)")
        ('f(x) …', '… f(3)')
    """
    code = code.strip()
    first, *more = code[:_MOST].splitlines() or [""]
    if len(code) <= _MOST and not more:
        return first
    begin = next((line for line in (first, *more) if line and line[0] != "#"), first)
    if _DEFINITION.match(begin):
        lines = code[-_MOST:].splitlines()
        for number, line in reversed([*enumerate(lines, 1)]):
            if line and not (line[0].isspace() or _GOES_ON.match(line) or _DEFINITION.match(line)):
                return f"… {line.strip()}" + (" …" if number < len(lines) else "")
    return f"{first} …"
