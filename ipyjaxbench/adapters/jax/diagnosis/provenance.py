"""Which arguments a failing expression depends on, asked of JAX while it traces."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.adapters.jax.diagnosis import bodies
from ipyjaxbench.adapters.jax.graphs.static_search import blamed, words_of_function
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call, is_a, message_of

_OLD_COUNTER = "loop_carry[0]"  # of a fori_loop, in older versions
_TRACED = "while tracing the function"
#: JAX's words of a tracer that is of no function which jit traces.
_OF_BODY = re.compile(
    rf"{_TRACED} [\s\S]*? for (?!p?jit\b|make_jaxpr|eval_shape|checkpoint|remat)\w"
)


def requested_arguments(error: BaseException, call: Call) -> list[str]:
    """Return the arguments that the failing expression depends on, or that which led to it.

    JAX names them for each tracer, while they are being traced, and not later. What is within
    a loop, or another jit, has arguments of its own: then what was given to that is asked.
    """
    inner: origin.Place | None = None
    for place in origin.places(error):
        leaves = [*_leaves_in(place, error, inner)]
        messages = [_message_about(leaf) for leaf in leaves]
        known = [name for text in messages for name in blamed(Exception(text), call)]
        if known and not any(map(_is_number_of_body, leaves)):
            return list(dict.fromkeys(known))
        inner = place
    return []


def requested_in_body(error: BaseException) -> str:
    """Return which function of JAX gave the number that is asked for; empty if it is an argument.

    While they are being traced, JAX names for each tracer the function that it is of.
    """
    for place in origin.places(error)[:1]:
        if any(map(_is_number_of_body, _leaves_in(place, error, None))):
            return bodies.caller_of(place.frame)
    return ""


def _leaves_in(
    place: origin.Place, error: BaseException, inner: origin.Place | None
) -> Iterator[Any]:
    """Yield what the names in an expression stand for."""
    names = dict.fromkeys(_names_in(origin.expression_of(place), error, inner))
    values = place.frame.f_locals
    return (leaf for name in names if name in values for leaf in trees.leaves(values[name]))


def _is_number_of_body(leaf: Any) -> bool:
    if not is_a(leaf, jax.core.Tracer) or leaf.shape:
        return False
    if bodies.is_of_vmap(leaf):
        return True
    message = _message_about(leaf)
    # Older versions name the function only while it is traced, and a body's trace has ended.
    return bool(_OF_BODY.search(message)) or (bool(message) and _TRACED not in message)


def names_in(place: origin.Place) -> list[str]:
    """Return the names in the expression that was being computed."""
    return [*dict.fromkeys(_names_in(origin.expression_of(place), Exception(), None))]


def _names_in(text: str, error: BaseException, inner: origin.Place | None) -> Iterator[str]:
    """Yield names in an expression; those of a function in it are its own.

    Of a loop or a branch they are those of what is given to its body for what is at fault there.
    """
    try:
        tree: ast.AST = ast.parse(text.strip())
    except SyntaxError:  # a part of a statement
        return
    if inner is not None and (given := _given_to_body(tree, error, inner)) is not None:
        tree = given
    # The order is that of the code, not that of the tree.
    nodes = [node for node in _walk_outside_lambdas(tree) if isinstance(node, ast.Name)]
    for node in sorted(nodes, key=lambda name: (name.lineno, name.col_offset)):
        yield node.id


def _walk_outside_lambdas(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.Lambda):
            yield from _walk_outside_lambdas(node)


def _given_to_body(tree: ast.AST, error: BaseException, inner: origin.Place) -> ast.AST | None:
    """Return what a loop or a branch is given for the arguments of its body that are at fault.

    That is all but the predicate where these are not known; None for a loop, since what it carries
    comes from all that it is given.
    """
    match tree:
        case ast.Module([ast.Expr(ast.Call() as call)]):
            given = _given_by_position(call)
        case _:
            return None
    if not given:
        return None
    parameters = inner.code.co_varnames[: inner.code.co_argcount]
    words = words_of_function(error)
    names = {re.split(r"[.\[]", name)[0] for name in words} or _asked_by_name(inner)
    at = [0] if words == [_OLD_COUNTER] else [parameters.index(n) for n in names & {*parameters}]
    is_known = (
        bool(at) and max(at) < len(given) and (words == [_OLD_COUNTER] or names <= {*parameters})
    )
    parts = [given[n] for n in sorted(at)] if is_known else given
    return None if None in parts else ast.Tuple([each for each in parts if each], ast.Load())


def _asked_by_name(place: origin.Place) -> set[str]:
    """Return the names in an expression whose values are asked for: numbers, if there are some."""
    values: dict[str, Any] = {name: place.frame.f_locals.get(name) for name in names_in(place)}
    traced = {name: each for name, each in values.items() if is_a(each, jax.core.Tracer)}
    return {name for name, each in traced.items() if not each.shape} or {*traced}


def _given_by_position(call: ast.Call) -> list[ast.expr | None]:
    """Return what each argument of a body stands for; None for what a loop carries on."""
    match call:
        case ast.Call(ast.Call(ast.Attribute(attr="vmap") | ast.Name("vmap")), args):
            return [*args]
        case ast.Call(ast.Attribute(attr=name) | ast.Name(name), args):
            pass
        case _:
            return []
    match name, args:
        case "scan", [_, _, rows, *_]:
            return [None, rows]
        case "fori_loop", [start, stop, *_]:
            return [ast.Tuple([start, stop], ast.Load()), None]
        case "cond", [_, _, ast.Lambda(), _, ast.Lambda()]:  # each branch has its own operand
            return []
        case "cond", [_, _, _, *operands]:
            return [*operands, *(each.value for each in call.keywords if each.arg == "operand")]
        case "switch", [_, _, *operands]:
            return [*operands]
    return []


def _message_about(leaf: Any) -> str:
    """Return JAX's words for a tracer that is asked for its numbers.

    What stands in for one row, or for a derivative, is asked for what it is made of.
    """
    for _ in range(8):
        parts = [getattr(leaf, name, None) for name in ("val", "primal")]
        inner = [part for part in parts if is_a(part, jax.core.Tracer)]
        if not inner:
            break
        leaf = inner[0]
    if not is_a(leaf, jax.core.Tracer):
        return ""
    try:
        np.asarray(leaf)
    except CODE_ERRORS as error:  # that is what is asked for
        return message_of(error)
    return ""
