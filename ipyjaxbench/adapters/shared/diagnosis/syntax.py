"""Syntax trees: made of names and values, and asked what they read and bind."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ipyjaxbench.usercode import copy_tree

_JUMPS = (
    ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal,
    ast.Raise, ast.Delete, ast.Await, ast.FunctionDef, ast.ClassDef,
)  # fmt: skip


def with_context(node: ast.expr, context: ast.expr_context) -> ast.expr:
    """Return a copy of a name, attribute or item that is read or assigned to; others as they are.

    Example:
        >>> with_context(ast.Name("x", ast.Load()), ast.Store()).ctx.__class__.__name__
        'Store'
    """
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        node = copy_tree(node)
        node.ctx = context
    return node


def set_lines(node: ast.AST, line: int) -> None:
    """Give nodes that are new the line of what they replace; the user's keep their own."""
    for child in ast.iter_child_nodes(node):
        set_lines(child, line)
    if isinstance(node, ast.stmt | ast.expr) and not hasattr(node, "lineno"):
        ends = [getattr(child, "end_lineno", line) for child in ast.iter_child_nodes(node)]
        node.lineno, node.end_lineno = line, max([line, *(end for end in ends if end)])
        node.col_offset = node.end_col_offset = 0


def first_line(node: ast.FunctionDef) -> int:
    """Return the line that Python gives a function's code: that of its first decorator, if any."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def name(text: str) -> ast.Name:
    """Return a name that is read."""
    return ast.Name(text, ast.Load())


def call(dotted: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """Return a call of a function, of a library's by its full name."""
    return ast.Call(name(dotted), list(args), [ast.keyword(n, v) for n, v in keywords.items()])


def assignment(names: list[str], value: ast.expr) -> ast.Assign:
    """Return an assignment of one value to one name, or to several."""
    targets: list[ast.expr] = [ast.Name(target, ast.Store()) for target in names]
    target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    return ast.Assign([target], value)


def value_or_tuple(values: list[ast.expr]) -> ast.expr:
    """Return one value itself, several as a tuple."""
    return values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())


def names_or_tuple(names: list[str]) -> ast.expr:
    """Return one name as it is read, several as a tuple."""
    return value_or_tuple([name(text) for text in names])


def parameters(names: Sequence[str]) -> ast.arguments:
    """Return parameters by position, without defaults."""
    return ast.arguments([], [ast.arg(text) for text in names], None, [], [], None, [])


def function(
    called: str, arguments: ast.arguments | Sequence[str], body: Sequence[ast.stmt]
) -> ast.FunctionDef:
    """Return a definition without decorators."""
    more: Any = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
    if not isinstance(arguments, ast.arguments):
        arguments = parameters(arguments)
    return ast.FunctionDef(called, arguments, list(body), [], **more)


def values_assigned(body: list[ast.stmt]) -> dict[str, ast.expr] | None:
    """Return the value of each name, where statements only assign and use no other's result."""
    values: dict[str, ast.expr] = {}
    for statement in body:
        bound = _assigned_by(statement)
        read = {text for value in bound.values() for text in names_read(value)}
        if not bound or values.keys() & {*bound, *read}:
            return None
        values |= bound
    return values


def _assigned_by(node: ast.stmt) -> dict[str, ast.expr]:
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return {target: value}
        case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
            return {target: value}
        case ast.AugAssign(target=ast.Name(id=target), op=op, value=right):
            return {target: ast.BinOp(name(target), op, right)}
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            plain = [target.id for target in targets if isinstance(target, ast.Name)]
            if len(plain) == len(values) == len(set(plain)) == len(targets):
                return dict(zip(plain, values, strict=True))
    return {}


def names_read(node: ast.AST) -> Iterator[str]:
    """Yield each name that is read."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id
        elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id


def names_bound(body: list[ast.stmt]) -> list[str]:
    """Return the names that statements bind, in their order."""
    nodes = (node for statement in body for node in ast.walk(statement))
    names = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(names))


def is_straight(body: list[ast.stmt]) -> bool:
    """Whether statements bind names and compute, and nothing leaves them halfway."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return not any(isinstance(node, _JUMPS) for node in nodes)
