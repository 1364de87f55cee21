"""Parts of rules that rewrite code: exchanged expressions, assignments, functions, bodies."""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.ast_copy import copied, definition
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site

_LEAVES = (
    ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal,
    ast.Raise, ast.Delete, ast.Await, ast.FunctionDef, ast.ClassDef,
)  # fmt: skip
#: What an expression becomes; None where it stays.
Change = Callable[[ast.expr], ast.expr | None]


def exchange(site: Site, change: Change, changes: str = "", *, same: bool = True) -> Iterator[Edit]:
    """Yield the statement with all expressions exchanged that can be, then each of them alone."""
    count = _Exchange(change)
    whole = count.statement(site.stmt)
    if not count.done:
        return
    yield Edit([whole], changes, same=same)
    if count.done > 1:
        yield from exchange_each(site, change, changes, same=same)


def exchange_each(
    site: Site, change: Change, changes: str = "", *, same: bool = True
) -> Iterator[Edit]:
    """Yield the statement with one expression exchanged, for each that can be."""
    count = _Exchange(change)
    count.statement(site.stmt)
    for number in range(count.done):
        yield Edit([_Exchange(change, number).statement(site.stmt)], changes, same=same)


def exchange_everywhere(site: Site, change: Change, changes: str) -> Iterator[Edit]:
    """Yield the statement and those after it with each expression exchanged, in inner ones too."""
    every = _Exchange(change)
    new = [every.visit(copied(each)) for each in (site.stmt, *site.after)]
    if every.done:
        yield Edit(new, changes, len(new))


class _Exchange(ast.NodeTransformer):
    """Exchanges expressions of a statement; the statements in it stay as they are."""

    def __init__(self, change: Change, only: int | None = None) -> None:
        self._change, self._only, self.done = change, only, 0

    def statement(self, node: ast.stmt) -> ast.stmt:
        new = copied(node)
        for name, value in ast.iter_fields(new):
            if isinstance(value, ast.expr):
                setattr(new, name, self.visit(value))
            elif name in ("targets", "items"):
                setattr(new, name, [self.visit(each) for each in value])
        return new

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        new = self._change(node) if isinstance(node, ast.expr) else None
        if new is None:
            return node
        self.done += 1
        return new if self._only in (None, self.done - 1) else node


def name(text: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(text, ast.Load())


def assignment(names: list[str], value: ast.expr) -> ast.Assign:
    """One name, or several, for one value."""
    targets: list[ast.expr] = [ast.Name(each, ast.Store()) for each in names]
    target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    return ast.Assign([target], value)


def value_or_tuple(values: list[ast.expr]) -> ast.expr:
    """One value, or a tuple of several."""
    return values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())


def function(called: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """A definition."""
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    return definition(called, arguments, body)


def make_lambda(parameters: list[str], body: ast.expr) -> ast.Lambda:
    """A lambda."""
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    return ast.Lambda(arguments, body)


def values_assigned(body: list[ast.stmt]) -> dict[str, ast.expr] | None:
    """Name and value for each statement, where all are plain and none uses what another binds."""
    found: dict[str, ast.expr] = {}
    for each in body:
        bound = _assigned_by(each)
        read = {n for value in bound.values() for n in read_in(value)} if bound else set()
        if not bound or found.keys() & {*bound, *read}:
            return None
        found |= bound
    return found


def _assigned_by(node: ast.stmt) -> dict[str, ast.expr]:
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return {target: value}
        case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
            return {target: value}
        case ast.AugAssign(target=ast.Name(id=target), op=op, value=right):
            return {target: ast.BinOp(name(target), op, right)}
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            plain = [each.id for each in names if isinstance(each, ast.Name)]
            if len(plain) == len(values) == len(set(plain)) == len(names):
                return dict(zip(plain, values, strict=True))
    return {}


def read_in(node: ast.AST) -> Iterator[str]:
    """Names that are read."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each.id
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def bound_in(body: list[ast.stmt]) -> list[str]:
    """Names that statements bind, in their order."""
    every = (node for each in body for node in ast.walk(each))
    names = [n.id for n in every if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(names))


def is_plain(body: list[ast.stmt]) -> bool:
    """Whether statements bind names and compute, and nothing leaves them halfway."""
    nodes = (node for each in body for node in ast.walk(each))
    return not any(isinstance(node, _LEAVES) for node in nodes)
