"""Copies of syntax trees."""

import ast
from collections.abc import Sequence
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)
_PLACE = ("lineno", "end_lineno", "col_offset", "end_col_offset")


def copied(node: _Node) -> _Node:
    """A tree of its own.

    `copy.deepcopy` would follow what others leave on nodes: Python shares those of ``ctx`` among
    all trees, and the library that shows IPython's tracebacks hangs whole trees on them.
    """
    new = type(node)(**{name: _of_field(value) for name, value in ast.iter_fields(node)})
    for name in _PLACE:
        if hasattr(node, name):
            setattr(new, name, getattr(node, name))
    return new


def definition(name: str, arguments: ast.arguments, body: Sequence[ast.stmt]) -> ast.FunctionDef:
    """A function without decorators."""
    more: Any = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
    return ast.FunctionDef(name, arguments, list(body), [], **more)


def first_line(node: ast.FunctionDef) -> int:
    """The number that Python gives a function's code: that of its first decorator, if any."""
    decorators = [each.lineno for each in node.decorator_list]
    return min([node.lineno, *decorators])


def as_read(node: ast.expr) -> ast.expr:
    """What is assigned to, as what is read."""
    return _with(copied(node), ast.Load())


def as_written(node: ast.expr) -> ast.expr:
    """What is read, as what is assigned to."""
    return _with(copied(node), ast.Store())


def _with(node: ast.expr, context: ast.expr_context) -> ast.expr:
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        node.ctx = context
    return node


def settled(node: ast.AST, line: int) -> None:
    """Give nodes that are new the line of what they replace; the user's keep their own."""
    for each in ast.iter_child_nodes(node):
        settled(each, line)
    if isinstance(node, ast.stmt | ast.expr) and not hasattr(node, "lineno"):
        ends = [getattr(each, "end_lineno", line) for each in ast.iter_child_nodes(node)]
        node.lineno, node.end_lineno = line, max([line, *(end for end in ends if end)])
        node.col_offset = node.end_col_offset = 0


def _of_field(value: Any) -> Any:
    if isinstance(value, list):
        return [_of_field(each) for each in value]
    return copied(value) if isinstance(value, ast.AST) else value
