"""``if`` without a value: both sides are computed, and a function of arrays takes one."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ipyjaxbench.adapters.shared.diagnosis.patterns import exchange_rule
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import (
    assignment,
    call,
    name,
    value_or_tuple,
    values_assigned,
)

_BOTH = "computes both branches, then selects one"


@dataclass(frozen=True)
class Logic:
    """A library's functions for ``and``, ``or`` and ``not``, which ask for a Python bool.

    Attributes:
        module: that has ``logical_and``, ``logical_or`` and ``logical_not``.
        operators: whether ``&``, ``|`` and ``~`` stand for them where values are true or false.
    """

    module: str
    operators: bool

    def condition(self, test: ast.expr) -> ast.expr:
        """Return a test as one expression of arrays."""
        match test:
            case ast.BoolOp(op=op, values=values):
                whole, *parts = map(self.condition, values)
                for part in parts:
                    whole = self._joined(whole, part, is_and=isinstance(op, ast.And))
                return whole
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.condition(operand)
                if self.operators and _is_bool(inner):
                    return ast.UnaryOp(ast.Invert(), inner)
                return call(f"{self.module}.logical_not", inner)
            case ast.Compare(left=left, ops=ops, comparators=others) if len(ops) > 1:
                sides = [left, *others]
                pairs = [ast.Compare(sides[i], [op], [sides[i + 1]]) for i, op in enumerate(ops)]
                return self.condition(ast.BoolOp(ast.And(), list(pairs)))
        return test

    def _joined(self, one: ast.expr, other: ast.expr, *, is_and: bool) -> ast.expr:
        if self.operators and _is_bool(one) and _is_bool(other):
            return ast.BinOp(one, ast.BitAnd() if is_and else ast.BitOr(), other)
        return call(f"{self.module}.logical_{'and' if is_and else 'or'}", one, other)


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


@dataclass(frozen=True)
class Choice:
    """Rules that replace ``if`` by a library's ``where``.

    Attributes:
        where: the function's full name.
        condition: what a test becomes.
    """

    where: str
    condition: Callable[[ast.expr], ast.expr]

    @property
    def rules(self) -> tuple[Rule, Rule, Rule]:
        """Those for expressions, for what is returned, and for what is assigned."""
        return (
            exchange_rule(_BOTH)(self._replace_expression),
            self._replace_returns,
            self._replace_assignments,
        )

    def _replace_expression(self, _: Site, node: ast.expr) -> ast.expr | None:
        """``a if c else b``."""
        if not isinstance(node, ast.IfExp):
            return None
        return call(self.where, self.condition(node.test), node.body, node.orelse)

    def _replace_returns(self, site: Site) -> Iterator[Edit]:
        """``if c: return a`` with what is returned otherwise, also in ``elif``."""
        if not isinstance(site.stmt, ast.If):
            return
        value = self._returned([site.stmt, *site.following])
        if value is not None:
            ends = bool(site.stmt.orelse) and self._returned([site.stmt]) is not None
            count = 1 if ends else 1 + len(site.following)
            yield Edit([ast.Return(value)], _BOTH, count)

    def _returned(self, body: list[ast.stmt]) -> ast.expr | None:
        """Return what statements return, as one expression."""
        match body:
            case [ast.Return(value=ast.expr() as value), *_]:
                return value
            case [ast.If(test=test, body=inner, orelse=other), *rest]:
                yes, no = self._returned(inner), self._returned([*other, *rest])
                if yes is not None and no is not None:
                    return call(self.where, self.condition(test), yes, no)
        return None

    def _replace_assignments(self, site: Site) -> Iterator[Edit]:
        """``if c: x = a``, with or without an ``else``, for one name or several."""
        if isinstance(site.stmt, ast.If):
            values = self._assigned(site.stmt)
            if values:
                yield Edit([assignment([*values], value_or_tuple([*values.values()]))], _BOTH)

    def _assigned(self, node: ast.If) -> dict[str, ast.expr] | None:
        """Return what each name that a branch binds becomes."""
        yes = values_assigned(node.body)
        match node.orelse:
            case [ast.If() as inner]:
                no = self._assigned(inner)
            case _:
                no = values_assigned(node.orelse)
        if yes is None or no is None:
            return None
        test = self.condition(node.test)
        names = {**yes, **no}
        return {n: call(self.where, test, yes.get(n, name(n)), no.get(n, name(n))) for n in names}
