"""``if`` without a value: both sides are computed, or `jax.lax.cond` chooses while it runs."""

import ast
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.names import call, library
from ipyjaxbench.adapters.shared.diagnosis.rule_parts import (
    assignment,
    bound_in,
    exchange,
    function,
    is_plain,
    make_lambda,
    name,
    value_or_tuple,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site, stand_in

_ONE = "traces both sides and computes one"
_WHERE = "jax.numpy.where!sides"


@stand_in(_WHERE)
def _one_side(mask: Any, yes: Any, no: Any) -> Any:
    """`jnp.where`, where the result is what either side alone would be.

    A Python number may become an array: that is what it would become in what follows.
    """
    found = jnp.where(mask, yes, no)
    for side in (yes, no):
        if isinstance(side, bool | int | float | complex):
            continue
        if jnp.shape(side) != found.shape or jnp.asarray(side).dtype != found.dtype:
            raise TypeError("the result is other than one side")
    return found


LOGIC = Logic(
    "jax.numpy.logical_and", "jax.numpy.logical_or", "jax.numpy.logical_not", operators=True
)
condition = LOGIC.condition
WHERE = Choice(_WHERE, condition)


def logical(site: Site) -> Iterator[Edit]:
    """``a > 0 and b > 0``, where no ``if`` asks for it."""

    def change(node: ast.expr) -> ast.expr | None:
        is_logical = isinstance(node, ast.BoolOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
        return condition(node) if is_logical else None

    yield from exchange(site, change)


def cond_for_returns(site: Site) -> Iterator[Edit]:
    """Branches of several statements that return, or that return several values."""
    if not isinstance(site.stmt, ast.If):
        return
    no = site.stmt.orelse or site.after
    rest = 1 if site.stmt.orelse else 1 + len(site.after)
    if not (_returns(site.stmt.body) and _returns(no)):
        return
    test = condition(site.stmt.test)
    match site.stmt.body, no:
        case [ast.Return(value=ast.expr() as a)], [ast.Return(value=ast.expr() as b)]:
            chosen = call("jax.lax.cond", test, make_lambda([], a), make_lambda([], b))
            yield Edit([ast.Return(chosen)], _ONE, rest)
            return
    # A name that a branch binds would be its own: what it reads before has to be handed over.
    shared = [n for n in bound_in([*site.stmt.body, *no]) if n in site.bound_before]
    functions: list[ast.stmt] = [
        function("if_true", shared, site.stmt.body), function("if_false", shared, no),
    ]  # fmt: skip
    handed = [test, name("if_true"), name("if_false"), *map(name, shared)]
    yield Edit([*functions, ast.Return(call("jax.lax.cond", *handed))], _ONE, rest)


def _returns(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return) and is_plain(body[:-1])


def cond_for_assigned(site: Site) -> Iterator[Edit]:
    """Branches of several statements that bind names."""
    node = site.stmt
    if not isinstance(node, ast.If) or not is_plain([*node.body, *node.orelse]):
        return
    yes, no = bound_in(node.body), bound_in(node.orelse)
    before = site.bound_before
    names = [n for n in dict.fromkeys([*yes, *no]) if n in before or (n in yes and n in no)]
    if not names:
        return
    handed = [n for n in names if n in before]
    back = ast.Return(value_or_tuple([name(n) for n in names]))
    functions: list[ast.stmt] = [
        function("if_true", handed, [*node.body, back]),
        function("if_false", handed, [*node.orelse, back]),
    ]
    chosen = call("jax.lax.cond", condition(node.test), name("if_true"), name("if_false"),
                  *map(name, handed))  # fmt: skip
    yield Edit([*functions, assignment(names, chosen)], _ONE)


_BUILTINS = {
    max: ("jax.numpy.max", "jax.numpy.maximum"), min: ("jax.numpy.min", "jax.numpy.minimum"),
    any: ("jax.numpy.any", ""), all: ("jax.numpy.all", ""), sorted: ("jax.numpy.sort", ""),
    round: ("jax.numpy.round", ""), sum: ("jax.numpy.sum", ""),
}  # fmt: skip


def jax_for_builtins(site: Site) -> Iterator[Edit]:
    """``max(a, b)`` compares in Python; `jnp.maximum` while it runs."""

    def change(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Name):
            return None
        known = site.value(node.func)
        one, two = _BUILTINS.get(known, ("", "")) if callable(known) else ("", "")
        if len(node.args) == 1 and one:
            return ast.Call(library(one), node.args, [])
        if len(node.args) > 1 and two:
            found = node.args[0]
            for each in node.args[1:]:
                found = call(two, found, each)
            return found
        return None

    yield from exchange(site, change, "stays an array")
