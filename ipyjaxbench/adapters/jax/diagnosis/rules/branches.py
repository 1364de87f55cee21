"""``if`` without a value: both sides are computed, or `jax.lax.cond` chooses while it runs."""

import ast
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from ipyjaxbench.adapters.jax.diagnosis.names import call, library
from ipyjaxbench.adapters.jax.diagnosis.rules.parts import (
    assigned,
    bound_in,
    condition,
    exchanged,
    function,
    is_plain,
    name,
    short,
    together,
    values_assigned,
)
from ipyjaxbench.adapters.jax.diagnosis.source_edit import Edit, Site, checked

_BOTH = "computes both sides and takes one"
_ONE = "traces both sides and computes one"
_WHERE = "jax.numpy.where!sides"


@checked(_WHERE)
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


def where_for_choice(site: Site) -> Iterator[Edit]:
    """``a if c else b``."""

    def change(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.IfExp):
            return None
        return call(_WHERE, condition(node.test), node.body, node.orelse)

    yield from exchanged(site, change, _BOTH)


def logical(site: Site) -> Iterator[Edit]:
    """``a > 0 and b > 0``, where no ``if`` asks for it."""

    def change(node: ast.expr) -> ast.expr | None:
        is_logical = isinstance(node, ast.BoolOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
        return condition(node) if is_logical else None

    yield from exchanged(site, change)


def where_for_returns(site: Site) -> Iterator[Edit]:
    """``if c: return a`` with what is returned otherwise, also in ``elif``."""
    if not isinstance(site.stmt, ast.If):
        return
    value = _value_of([site.stmt, *site.after])
    if value is not None:
        ends = bool(site.stmt.orelse) and _value_of([site.stmt]) is not None
        count = 1 if ends else 1 + len(site.after)
        yield Edit([ast.Return(value)], _BOTH, count)


def _value_of(body: list[ast.stmt]) -> ast.expr | None:
    """What statements return, as one expression."""
    match body:
        case [ast.Return(value=ast.expr() as value), *_]:
            return value
        case [ast.If(test=test, body=inner, orelse=other), *rest]:
            yes, no = _value_of(inner), _value_of([*other, *rest])
            if yes is not None and no is not None:
                return call(_WHERE, condition(test), yes, no)
    return None


def where_for_assigned(site: Site) -> Iterator[Edit]:
    """``if c: x = a``, with or without an ``else``, for one name or several."""
    if isinstance(site.stmt, ast.If):
        values = _values_of(site.stmt)
        if values:
            yield Edit([assigned([*values], together([*values.values()]))], _BOTH)


def _values_of(node: ast.If) -> dict[str, ast.expr] | None:
    """What each name that a branch binds becomes."""
    yes = values_assigned(node.body)
    match node.orelse:
        case [ast.If() as inner]:
            no = _values_of(inner)
        case _:
            no = values_assigned(node.orelse)
    if yes is None or no is None:
        return None
    test = condition(node.test)
    return {n: call(_WHERE, test, yes.get(n, name(n)), no.get(n, name(n))) for n in {**yes, **no}}


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
            chosen = call("jax.lax.cond", test, short([], a), short([], b))
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
    back = ast.Return(together([name(n) for n in names]))
    functions: list[ast.stmt] = [
        function("if_true", handed, [*node.body, back]),
        function("if_false", handed, [*node.orelse, back]),
    ]
    chosen = call("jax.lax.cond", condition(node.test), name("if_true"), name("if_false"),
                  *map(name, handed))  # fmt: skip
    yield Edit([*functions, assigned(names, chosen)], _ONE)


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

    yield from exchanged(site, change, "stays an array")
