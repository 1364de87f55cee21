"""Which arguments a failing expression depends on, asked of JAX while it traces."""

import ast
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.adapters.jax.graphs.static_search import blamed, words_of_function
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call, is_a, message_of


def requested_arguments(error: BaseException, call: Call) -> list[str]:
    """Return the arguments that the failing expression depends on, or that which led to it.

    JAX names them for each tracer, while they are being traced, and not later. What is within
    a loop, or another jit, has arguments of its own: then what was given to that is asked.
    """
    inner: origin.Place | None = None
    for place in origin.places(error):
        names = dict.fromkeys(_names_in(origin.expression_of(place), error, inner))
        values = [place.frame.f_locals[name] for name in names if name in place.frame.f_locals]
        messages = [_message_about(leaf) for value in values for leaf in trees.leaves(value)]
        known = [name for text in messages for name in blamed(Exception(text), call)]
        if known:
            return list(dict.fromkeys(known))
        inner = place
    return []


def names_in(place: origin.Place) -> list[str]:
    """Return the names in the expression that was being computed."""
    return [*dict.fromkeys(_names_in(origin.expression_of(place), Exception(), None))]


def _names_in(text: str, error: BaseException, inner: origin.Place | None) -> Iterator[str]:
    """Yield names in an expression; of a scan whose rows are at fault, those of what it scans."""
    try:
        tree: ast.AST = ast.parse(text.strip())
    except SyntaxError:  # a part of a statement
        return
    if inner is not None and (rows := _rows_of_scan(tree, error, inner)) is not None:
        tree = rows
    # The order is that of the code, not that of the tree.
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in sorted(nodes, key=lambda name: (name.lineno, name.col_offset)):
        yield node.id


def _rows_of_scan(tree: ast.AST, error: BaseException, inner: origin.Place) -> ast.expr | None:
    """Return what a scan goes along, where JAX blames the second argument of its body alone."""
    if not isinstance(tree, ast.Module) or len(tree.body) != 1:
        return None
    match tree.body[0]:
        case ast.Expr(ast.Call(ast.Attribute(attr="scan") | ast.Name("scan"), [_, _, rows, *_])):
            parameters = inner.code.co_varnames[: inner.code.co_argcount]
            named = words_of_function(error)
            base = {name.partition("[")[0].partition(".")[0] for name in named}
            return rows if base and base == {*parameters[1:2]} else None
    return None


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
