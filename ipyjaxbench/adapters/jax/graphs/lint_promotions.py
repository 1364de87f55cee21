"""Arrays that become wider though no line says so."""

import ast
import functools
import linecache
import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.adapters.jax.graphs.program import Place
from ipyjaxbench.graphs import line_of, notes
from ipyjaxbench.reports import Note

_PRODUCTS = ("dot_general", "conv_general_dilated")
#: What makes an array of nothing: the dtype is that of the new one.
_MAKERS = {"ones", "zeros", "full", "empty", "eye", "arange", "linspace", "normal", "uniform"}
_TYPES = ("dtype", "preferred_element_type")


def promotions(jaxpr: Any) -> Iterator[Note]:
    """Yield a note for each line on which an array is computed with as a wider one.

    Sums are left out: JAX collects them in a wider dtype, and goes back.
    """
    places: dict[Place, tuple[str, str, int]] = {}
    for equation, (file, line), old, new in _widened(jaxpr, None):
        is_product = equation.primitive.name in _PRODUCTS
        if line and (is_product or not _is_asked_for(_statement(file, line), str(new))):
            nbytes = new.itemsize * math.prod(old.shape)
            places.setdefault((file, line), (str(old.dtype), str(new), nbytes))
    for (file, line), (old_name, new_name, nbytes) in places.items():
        yield notes.promoted(line, line_of(file, line), old_name, new_name, nbytes)


def _is_asked_for(statement: ast.AST | None, dtype: str) -> bool:
    """Whether code converts something to a dtype, and does not only name it."""
    nodes = ast.walk(statement) if statement else ()
    return any(_converts(node, dtype) for node in nodes if isinstance(node, ast.Call))


def _statement(file: str, line: int) -> ast.AST | None:
    """Return the smallest statement or lambda that holds a line; None without its source."""
    smallest: ast.AST | None = None
    for node in ast.walk(_tree("".join(linecache.getlines(file)))):
        if not isinstance(node, ast.stmt | ast.Lambda):
            continue
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            smallest = node  # the outer ones come first
    return smallest


@functools.lru_cache(maxsize=32)
def _tree(source: str) -> ast.AST:
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.Module([], [])


def _converts(call: ast.Call, dtype: str) -> bool:
    function = call.func
    name = getattr(function, "attr", getattr(function, "id", ""))
    is_of_data = any(not _is_constant(arg) for arg in call.args[:1])
    if name in ("astype", "convert_element_type"):
        return True
    if name in _MAKERS:
        return False
    if any(keyword.arg in _TYPES for keyword in call.keywords):
        return is_of_data or (isinstance(function, ast.Attribute) and not call.args)
    return is_of_data and (name == dtype or (name in ("array", "asarray") and len(call.args) > 1))


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _widened(jaxpr: Any, place: Place | None) -> Iterator[tuple[Any, Place, Any, Any]]:
    """Yield equations that take an array as a wider one: where, its type, and the wider dtype."""
    reduced = _only_reduced(jaxpr)
    for equation in jaxpr.eqns:
        types = [variable.aval for variable in equation.invars]
        here = place or program.place_of(equation.source_info)
        if equation.primitive.name == "convert_element_type":
            new = equation.outvars[0]
            if types[0].shape and new not in reduced and _is_wider(types[0].dtype, new.aval.dtype):
                yield equation, here, types[0], new.aval.dtype
        elif equation.primitive.name in _PRODUCTS:
            one, other = types[:2]
            for narrow, wide in ((one, other), (other, one)):
                if _is_wider(narrow.dtype, wide.dtype):
                    yield equation, here, narrow, wide.dtype
        for inner in program.programs_in(equation):
            yield from _widened(inner, here if program.is_of_library(equation) else place)


def _only_reduced(jaxpr: Any) -> set[Any]:
    """Return what is used by sums and the like alone."""
    used: dict[Any, list[str]] = {}
    for equation in jaxpr.eqns:
        for variable in program.variables(equation.invars):
            used.setdefault(variable, []).append(equation.primitive.name)
    for variable in program.variables(jaxpr.outvars):
        used.setdefault(variable, []).append("")
    return {v for v, names in used.items() if all(n.startswith("reduce_") for n in names)}


def _is_wider(old: Any, new: Any) -> bool:
    both = jnp.issubdtype(old, jnp.floating) and jnp.issubdtype(new, jnp.floating)
    return bool(both and new.itemsize > old.itemsize)
