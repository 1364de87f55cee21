"""Reads syntax trees of the user's code."""

import ast
from collections.abc import Iterable, Iterator, Sequence


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
