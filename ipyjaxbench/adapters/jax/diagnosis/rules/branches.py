"""``if`` without a value: both sides are computed, or `jax.lax.cond` chooses while it runs."""

import ast
from collections.abc import Iterator
from functools import reduce
from typing import Any

import jax.numpy as jnp

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.names import STAND_INS
from ipyjaxbench.adapters.shared.diagnosis.patterns import exchange_rule
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import (
    assignment,
    call,
    function,
    is_straight,
    name,
    names_bound,
    names_or_tuple,
    parameters,
)

_ONE = "traces both branches, runs one"
_WHERE = "jax.numpy.where.__sides"


def _where_like_sides(mask: Any, yes: Any, no: Any) -> Any:
    """Compute `jnp.where`; refuse a result of another shape or dtype than its sides.

    A Python number may become an array: that is what it would become in what follows.
    """
    result = jnp.where(mask, yes, no)
    for side in (yes, no):
        if isinstance(side, bool | int | float | complex):
            continue
        if jnp.shape(side) != result.shape or jnp.asarray(side).dtype != result.dtype:
            raise TypeError("the result is other than one side")
    return result


STAND_INS[_WHERE] = _where_like_sides
condition = Logic("jax.numpy", operators=True).condition
WHERE_IN_EXPRESSIONS, *WHERE_FOR_IF = Choice(_WHERE, condition).rules


@exchange_rule()
def logical_functions(_: Site, node: ast.expr) -> ast.expr | None:
    """``a > 0 and b > 0``, where no ``if`` asks for it."""
    match node:
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return condition(node)
    return None


def cond_for_returns(site: Site) -> Iterator[Edit]:
    """Branches of several statements that return, or that return several values."""
    if not isinstance(site.stmt, ast.If):
        return
    no = site.stmt.orelse or site.following
    rest = 1 if site.stmt.orelse else 1 + len(site.following)
    if not (_returns(site.stmt.body) and _returns(no)):
        return
    test = condition(site.stmt.test)
    match site.stmt.body, no:
        case [ast.Return(value=ast.expr() as a)], [ast.Return(value=ast.expr() as b)]:
            sides = [ast.Lambda(parameters([]), side) for side in (a, b)]
            yield Edit([ast.Return(call("jax.lax.cond", test, *sides))], _ONE, rest)
            return
    # A name that a branch binds would be its own: what it reads before has to be handed over.
    shared = [n for n in names_bound([*site.stmt.body, *no]) if n in site.bound_before]
    functions = _branches(shared, site.stmt.body, no)
    yield Edit([*functions, ast.Return(_cond(test, shared))], _ONE, rest)


def _returns(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return) and is_straight(body[:-1])


def cond_for_assigned(site: Site) -> Iterator[Edit]:
    """Branches of several statements that bind names."""
    node = site.stmt
    if not isinstance(node, ast.If) or not is_straight([*node.body, *node.orelse]):
        return
    yes, no = names_bound(node.body), names_bound(node.orelse)
    before = site.bound_before
    names = [n for n in dict.fromkeys([*yes, *no]) if n in before or (n in yes and n in no)]
    if not names:
        return
    shared = [n for n in names if n in before]
    back = ast.Return(names_or_tuple(names))
    functions = _branches(shared, [*node.body, back], [*node.orelse, back])
    yield Edit([*functions, assignment(names, _cond(condition(node.test), shared))], _ONE)


def _branches(shared: list[str], yes: list[ast.stmt], no: list[ast.stmt]) -> list[ast.stmt]:
    return [function("if_true", shared, yes), function("if_false", shared, no)]


def _cond(test: ast.expr, shared: list[str]) -> ast.Call:
    return call("jax.lax.cond", test, *map(name, ["if_true", "if_false", *shared]))


#: For each built-in function what it is for one argument, and for several.
_BUILTINS = {
    max: ("jax.numpy.max", "jax.numpy.maximum"), min: ("jax.numpy.min", "jax.numpy.minimum"),
    any: ("jax.numpy.any", ""), all: ("jax.numpy.all", ""), sorted: ("jax.numpy.sort", ""),
    round: ("jax.numpy.round", ""), sum: ("jax.numpy.sum", ""),
}  # fmt: skip


@exchange_rule("stays an array")
def jax_for_builtins(site: Site, node: ast.expr) -> ast.expr | None:
    """``max(a, b)`` compares in Python; `jnp.maximum` while it runs."""
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Name):
        return None
    value = site.value(node.func)
    one, two = _BUILTINS.get(value, ("", "")) if callable(value) else ("", "")
    if len(node.args) == 1 and one:
        return call(one, *node.args)
    if len(node.args) > 1 and two:
        return reduce(lambda left, right: call(two, left, right), node.args)
    return None
