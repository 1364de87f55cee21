"""What the rules of rewriting are made of: expressions that are exchanged, conditions, bodies."""

import ast
from collections.abc import Callable, Iterator

from ipyjaxbench.adapters.jax.diagnosis.ast_copy import copied, definition
from ipyjaxbench.adapters.jax.diagnosis.names import call
from ipyjaxbench.adapters.jax.diagnosis.source_edit import Edit, Site

_LEAVES = (
    ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal,
    ast.Raise, ast.Delete, ast.Await, ast.FunctionDef, ast.ClassDef,
)  # fmt: skip
#: What an expression becomes; None where it stays.
Change = Callable[[ast.expr], ast.expr | None]


def exchanged(
    site: Site, change: Change, changes: str = "", *, same: bool = True
) -> Iterator[Edit]:
    """The statement with all expressions exchanged that can be, then with each of them alone."""
    count = _Exchange(change)
    whole = count.made(site.stmt)
    if not count.done:
        return
    yield Edit([whole], changes, same=same)
    if count.done > 1:
        for number in range(count.done):
            one = _Exchange(change, number)
            yield Edit([one.made(site.stmt)], changes, same=same)


class _Exchange(ast.NodeTransformer):
    """Exchanges expressions of a statement; the statements in it stay as they are."""

    def __init__(self, change: Change, only: int | None = None) -> None:
        self._change, self._only, self.done = change, only, 0

    def made(self, node: ast.stmt) -> ast.stmt:
        new = copied(node)
        for name, value in ast.iter_fields(new):
            if isinstance(value, ast.expr):
                setattr(new, name, self.visit(value))
            elif name in ("targets", "items"):
                setattr(new, name, [self.visit(each) for each in value])
        return new

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        new = self._change(node) if isinstance(node, ast.expr) else None
        if new is None:
            return node
        self.done += 1
        return new if self._only in (None, self.done - 1) else node


def condition(test: ast.expr) -> ast.expr:
    """A test as one expression of arrays: ``and``, ``or`` and ``not`` ask for a Python bool."""
    match test:
        case ast.BoolOp(op=op, values=values):
            found, *parts = map(condition, values)
            for part in parts:
                found = _both(found, part) if isinstance(op, ast.And) else _either(found, part)
            return found
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = condition(operand)
            is_bool = _is_bool(inner)
            return ast.UnaryOp(ast.Invert(), inner) if is_bool else call(_NOT, inner)
        case ast.Compare(left=left, ops=ops, comparators=others) if len(ops) > 1:
            sides = [left, *others]
            pairs = [ast.Compare(sides[i], [op], [sides[i + 1]]) for i, op in enumerate(ops)]
            return condition(ast.BoolOp(ast.And(), list(pairs)))
    return test


_NOT = "jax.numpy.logical_not"


def _both(one: ast.expr, other: ast.expr) -> ast.expr:
    if _is_bool(one) and _is_bool(other):
        return ast.BinOp(one, ast.BitAnd(), other)
    return call("jax.numpy.logical_and", one, other)


def _either(one: ast.expr, other: ast.expr) -> ast.expr:
    if _is_bool(one) and _is_bool(other):
        return ast.BinOp(one, ast.BitOr(), other)
    return call("jax.numpy.logical_or", one, other)


def _is_bool(node: ast.expr) -> bool:
    """Whether the values are true and false, as far as the code shows."""
    match node:
        case ast.Compare(ops=[op]):
            return not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_bool(operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return _is_bool(left) and _is_bool(right)
    return False


def name(text: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(text, ast.Load())


def assigned(names: list[str], value: ast.expr) -> ast.Assign:
    """One name, or several, for one value."""
    targets: list[ast.expr] = [ast.Name(each, ast.Store()) for each in names]
    target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    return ast.Assign([target], value)


def together(values: list[ast.expr]) -> ast.expr:
    """One value, or a tuple of several."""
    return values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())


def function(called: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """A definition."""
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    return definition(called, arguments, body)


def short(parameters: list[str], body: ast.expr) -> ast.Lambda:
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
