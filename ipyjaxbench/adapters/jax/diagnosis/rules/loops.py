"""Loops that ask for a number of turns, or for an end, as loops of JAX."""

import ast
from collections.abc import Iterator

from ipyjaxbench.adapters.jax.diagnosis.rules.branches import condition
from ipyjaxbench.adapters.shared.diagnosis.names import call
from ipyjaxbench.adapters.shared.diagnosis.rule_parts import (
    assignment,
    bound_in,
    function,
    is_plain,
    make_lambda,
    name,
    read_in,
    value_or_tuple,
    values_assigned,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site

_LOOP = "runs as a loop on the device"


def fori_loop(site: Site) -> Iterator[Edit]:
    """``for i in range(n)``."""
    match site.stmt:
        case ast.For(
            target=ast.Name(id=i),
            iter=ast.Call(func=ast.Name(id="range"), args=[*ends], keywords=[]),
            body=body,
            orelse=[],
        ) if len(ends) in (1, 2) and is_plain(body):
            pass
        case _:
            return
    carried = _carried(site, body, {i})
    if not carried or i in carried:
        return
    start, stop = ends if len(ends) == 2 else (ast.Constant(0), ends[0])
    values = values_assigned(body)
    if len(carried) == 1 and values is not None and [*values] == carried:
        step: ast.expr = make_lambda([i, *carried], values[carried[0]])
        loop = call("jax.lax.fori_loop", start, stop, step, name(carried[0]))
        yield Edit([assignment(carried, loop)], _LOOP)
        return
    turn = function("body", [i, "carry"], _with_carry(carried, body))
    loop = call("jax.lax.fori_loop", start, stop, name("body"), _together(carried))
    yield Edit([turn, assignment(carried, loop)], _LOOP)


def while_loop(site: Site) -> Iterator[Edit]:
    """``while``."""
    match site.stmt:
        case ast.While(test=test, body=body, orelse=[]) if is_plain(body):
            pass
        case _:
            return
    carried = _carried(site, body, set())
    carried += [n for n in bound_in(body) if n in set(read_in(test)) and n not in carried]
    if not carried:
        return
    values = values_assigned(body)
    if len(carried) == 1 and values is not None and [*values] == carried:
        (x,) = carried
        functions = make_lambda(carried, condition(test)), make_lambda(carried, values[x])
        loop = call("jax.lax.while_loop", *functions, name(x))
        yield Edit([assignment(carried, loop)], _LOOP)
        return
    goes_on = function("goes_on", ["carry"], _with_carry(carried, [], condition(test)))
    turn = function("body", ["carry"], _with_carry(carried, body))
    loop = call("jax.lax.while_loop", name("goes_on"), name("body"), _together(carried))
    yield Edit([goes_on, turn, assignment(carried, loop)], _LOOP)


def _carried(site: Site, body: list[ast.stmt], given: set[str]) -> list[str]:
    """Names that a turn hands on: to the next one, or to what follows the loop."""
    bound, before = bound_in(body), site.bound_before
    after = {n for each in site.after for n in read_in(each)}
    return [n for n in bound if n not in given and (n in before or n in after)]


def _with_carry(
    carried: list[str], body: list[ast.stmt], result: ast.expr | None = None
) -> list[ast.stmt]:
    """The body of a function of what is carried."""
    back = ast.Return(result or _together(carried))
    return [assignment(carried, name("carry")), *body, back]


def _together(names: list[str]) -> ast.expr:
    return value_or_tuple([name(each) for each in names])
