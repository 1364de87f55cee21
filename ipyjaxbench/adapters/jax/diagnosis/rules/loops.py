"""Loops that ask for a number of turns, or for an end, as loops of JAX."""

import ast
from collections.abc import Iterator

import jax

from ipyjaxbench.adapters.jax.diagnosis.rules.branches import condition
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import (
    assignment,
    call,
    function,
    is_straight,
    name,
    names_bound,
    names_or_tuple,
    names_read,
    parameters,
    values_assigned,
)

_LOOP = "the loop runs on the device"


def fori_loop(site: Site) -> Iterator[Edit]:
    """``for i in range(n)``."""
    match site.stmt:
        case ast.For(
            target=ast.Name(id=i),
            iter=ast.Call(func=ast.Name(id="range"), args=[*ends], keywords=[]),
            body=body,
            orelse=[],
        ) if len(ends) in (1, 2) and is_straight(body):
            pass
        case _:
            return
    carried = [n for n in _carried(site, body) if n != i]
    start, stop = ends if len(ends) == 2 else (ast.Constant(0), ends[0])
    if carried:
        yield _loop("fori_loop", [start, stop], [i], carried, body)


def python_loop(site: Site) -> Iterator[Edit]:
    """``y = jax.lax.fori_loop(start, stop, body, x)``, whose counter is a number in Python."""
    match site.stmt:
        case ast.Return(value=ast.Call(args=[start, stop, body, first], keywords=[]) as loop):
            kept = ""
        case ast.Assign(
            targets=[ast.Name(id=kept)],
            value=ast.Call(args=[start, stop, body, first], keywords=[]) as loop,
        ):
            pass
        case _:
            return
    if site.value(loop.func) is not jax.lax.fori_loop:
        return
    match body:
        case ast.Lambda(args=ast.arguments(args=[ast.arg(turn), ast.arg(carried)]), body=result):
            pass
        case _:
            turn, carried = "i", kept or "carry"
            result = ast.Call(body, [name(turn), name(carried)], [])
    if {turn, carried} & site.bound_before:
        return
    ends = [stop] if isinstance(start, ast.Constant) and start.value == 0 else [start, stop]
    target, taken = ast.Name(turn, ast.Store()), assignment([carried], result)
    new = [assignment([carried], first), ast.For(target, call("range", *ends), [taken], [])]
    if carried != kept:
        new.append(assignment([kept], name(carried)) if kept else ast.Return(name(carried)))
    yield Edit(new, "traces each turn, so that many turns compile slowly")


def while_loop(site: Site) -> Iterator[Edit]:
    """``while``."""
    match site.stmt:
        case ast.While(test=test, body=body, orelse=[]) if is_straight(body):
            pass
        case _:
            return
    carried = _carried(site, body)
    carried += [n for n in names_bound(body) if n in {*names_read(test)} and n not in carried]
    if carried:
        yield _loop("while_loop", [], [], carried, body, condition(test))


def _carried(site: Site, body: list[ast.stmt]) -> list[str]:
    """Names that a turn hands on: to the next one, or to what follows the loop."""
    used = site.bound_before | {n for statement in site.following for n in names_read(statement)}
    return [n for n in names_bound(body) if n in used]


def _loop(
    kind: str,
    ends: list[ast.expr],
    turn: list[str],
    carried: list[str],
    body: list[ast.stmt],
    test: ast.expr | None = None,
) -> Edit:
    """Make a loop of lambdas where it computes one name alone, else of functions."""
    values = values_assigned(body)
    loop = f"jax.lax.{kind}"
    if len(carried) == 1 and values is not None and [*values] == carried:
        results = [values[carried[0]]] if test is None else [test, values[carried[0]]]
        steps = [ast.Lambda(parameters([*turn, *carried]), result) for result in results]
        return Edit([assignment(carried, call(loop, *ends, *steps, name(carried[0])))], _LOOP)
    taken, back = assignment(carried, name("carry")), ast.Return(names_or_tuple(carried))
    functions = [function("body", [*turn, "carry"], [taken, *body, back])]
    if test is not None:
        functions.insert(0, function("goes_on", ["carry"], [taken, ast.Return(test)]))
    steps_by_name = [name(step.name) for step in functions]
    made = call(loop, *ends, *steps_by_name, names_or_tuple(carried))
    return Edit([*functions, assignment(carried, made)], _LOOP)
