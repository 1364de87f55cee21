"""Reads syntax trees of the user's code."""

import ast
from collections.abc import Iterable, Iterator, Sequence

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


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


def nodes_in_scope(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of the same scope: not those inside of functions and classes."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from nodes_in_scope(list(ast.iter_child_nodes(node)))


def first_line(code: str) -> str:
    r"""Return one line for code: that of what it ends with, where it begins with definitions.

    Example:
        >>> first_line("f(x)\ny"), first_line("def f(x):\n    return x\n\nf(3)")
        ('f(x) …', '… f(3)')
    """
    first, *more = code.strip().splitlines() or [""]
    if not more:
        return first
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # magics, or a strange record
        return f"{first} …"
    run = [node for node in body if not isinstance(node, _DEFINITIONS)]
    if not run or run[0] is body[0]:
        return f"{first} …"
    line = code.splitlines()[run[-1].lineno - 1].strip()
    return f"… {line}" + (" …" if run[-1].end_lineno != run[-1].lineno else "")
