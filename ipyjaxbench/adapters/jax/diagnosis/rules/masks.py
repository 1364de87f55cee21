"""Masks and slices whose shape would depend on values, and assignments to parts of an array."""

import ast
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from ipyjaxbench.adapters.shared.diagnosis.names import STAND_INS
from ipyjaxbench.adapters.shared.diagnosis.patterns import (
    Holes,
    exchange_rule,
    fill_pattern,
    match_pattern,
    pattern_rule,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import call, name

#: Reductions that take ``where=``, with the number that they begin with then, if it has to be said.
_REDUCTIONS = {
    "sum": "", "mean": "", "any": "", "all": "", "prod": "", "std": "", "var": "",
    "max": "-jax.numpy.inf", "min": "jax.numpy.inf",
}  # fmt: skip
_SLICE = "jax.lax.dynamic_slice_in_dim"
_MASKS = ast.Compare | ast.Name | ast.BinOp | ast.UnaryOp | ast.Call
#: Functions that give as many numbers as there are, and the keyword that fixes how many.
_SIZED = {
    **dict.fromkeys(["nonzero", "flatnonzero", "argwhere", "unique", "unique_values", "union1d",
                     "intersect1d", "setdiff1d", "setxor1d", "where"], "size"),
    "repeat": "total_repeat_length", "bincount": "length",
}  # fmt: skip
#: A number of places when it is tried, N when it is shown.
_PLACES = "N.__places"
STAND_INS[_PLACES] = 8


def _where_of_same_shape(mask: Any, x: Any, other: Any) -> Any:
    """`jnp.where` of a mask that has a place for each number."""
    result = jnp.where(mask, x, other)
    if jnp.shape(mask) != result.shape or jnp.asarray(mask).dtype != bool:
        raise TypeError("the mask has another shape")
    return result


def _where_below(below: Any, x: Any, other: Any) -> Any:
    """The first numbers of a vector, and zeros."""
    if jnp.ndim(x) != 1:
        raise TypeError("no vector")
    return jnp.where(below, x, other)


STAND_INS["jax.numpy.where.__mask"] = _where_of_same_shape
STAND_INS["jax.numpy.where.__below"] = _where_below


def _has_mask(_: Site, holes: Holes) -> bool:
    return isinstance(holes["M"], _MASKS)


def _name_in_jax_numpy(site: Site, function: ast.expr) -> str:
    """The name of a function of jax.numpy; empty for any other expression."""
    value = site.value(function)
    known = getattr(value, "__name__", "")
    return known if known and getattr(jnp, known, None) is value else ""


def _reduction(site: Site, node: ast.expr) -> tuple[ast.expr, ast.expr, str, ast.Call] | None:
    """Return an array, what is taken of it, how that is reduced, and the call for the array."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Subscript(value=x, slice=part), attr=kind),
            args=[], keywords=[],
        ):  # fmt: skip
            new = ast.Call(ast.Attribute(x, kind, ast.Load()), [], [])
        case ast.Call(func=function, args=[ast.Subscript(value=x, slice=part)], keywords=[]):
            kind, new = _name_in_jax_numpy(site, function), ast.Call(function, [x], [])
        case _:
            return None
    return (x, part, kind, new) if kind in _REDUCTIONS else None


def _reduce_where(whole: ast.Call, kind: str, mask: ast.expr) -> ast.Call:
    whole.keywords.append(ast.keyword("where", mask))
    if _REDUCTIONS[kind]:
        whole.keywords.append(ast.keyword("initial", fill_pattern(_REDUCTIONS[kind], {})))
    return whole


@exchange_rule("reduces only where the mask is True")
def where_in_reduction(site: Site, node: ast.expr) -> ast.expr | None:
    """``x[mask].mean()``, as ``x.mean(where=mask)``."""
    match _reduction(site, node):
        case (_, part, kind, new) if isinstance(part, _MASKS):
            return _reduce_where(new, kind, part)
    return None


@exchange_rule("a negative number of elements would count from 0, not from the end")
def where_in_reduction_of_first(site: Site, node: ast.expr) -> ast.expr | None:
    """``x[:n].sum()``, as ``x.sum(where=jnp.arange(x.size) < n)``: of vectors alone."""
    match _reduction(site, node):
        case (x, ast.Slice(lower=None, upper=ast.expr() as stop, step=None), kind, new):
            # What has more axes than one, and the size of all, cannot be broadcast to this.
            places = {"X": x, "N": stop}
            return _reduce_where(new, kind, fill_pattern("jax.numpy.arange(X.size) < N", places))
    return None


zeros_for_mask = pattern_rule(
    {"return X[M]": "return jax.numpy.where.__mask(M, X, 0)"},
    "keeps the shape: 0 where the mask is False",
    _has_mask,
    same=False,
)
zeros_for_slice = pattern_rule(
    {"return X[:N]": "return jax.numpy.where.__below(jax.numpy.arange(len(X)) < N, X, 0)"},
    "keeps the shape: 0 from index {N} on; {N} must not be negative",
    lambda _, holes: isinstance(holes["N"], ast.Name),
    same=False,
)
slice_of_fixed_size = pattern_rule(
    {
        **dict.fromkeys(["X[B : B + S]", "X[B : S + B]"], f"{_SLICE}(X, B, S)"),
        **dict.fromkeys(["X[I * S : (I + 1) * S]", "X[I * S : S * (I + 1)]"],
                        f"{_SLICE}(X, I * S, S)"),
        "X[:, B : B + S]": f"{_SLICE}(X, B, S, axis=1)",
        "X[..., B : B + S]": f"{_SLICE}(X, B, S, axis=-1)",
    },
    "near the end of the array, the slice starts earlier to fit",
)  # fmt: skip


def _where_for_masked_assignment(site: Site) -> Iterator[Edit]:
    """``x[mask] = v``, and ``x[mask] += v``."""
    assigned = _item_assigned(site.stmt)
    if assigned is None or not isinstance(assigned[0].slice, _MASKS):
        return
    target, value, op = assigned
    x, mask = target.value, target.slice
    if isinstance(mask, ast.Name) and op is None and not isinstance(value, ast.Constant):
        return  # as likely an index
    match value:
        case ast.Subscript(value=y, slice=other) if ast.dump(other) == ast.dump(mask):
            value = y
    new = value if op is None else ast.BinOp(x, op, value)
    yield Edit([fill_pattern("X = jax.numpy.where.__mask(M, V, X)", {"X": x, "M": mask, "V": new})])


_where_for_masked_at = pattern_rule(
    {
        "X.at[M].set(V)": "jax.numpy.where.__mask(M, V, X)",
        "X.at[M].add(V)": "jax.numpy.where.__mask(M, X + V, X)",
        "X.at[M].multiply(V)": "jax.numpy.where.__mask(M, X * V, X)",
        "X.at[M].divide(V)": "jax.numpy.where.__mask(M, X / V, X)",
    },
    fits=_has_mask,
)


def _at_rule(array: str) -> Rule:
    """Make the rule for ``x[i] = v`` as ``x = x.at[i].set(v)``, of x or what is made of it."""
    methods: dict[type, str] = {
        type(None): "set(V)",
        ast.Add: "add(V)",
        ast.Sub: "add(-V)",
        ast.Mult: "multiply(V)",
        ast.Div: "divide(V)",
        ast.Pow: "power(V)",
    }

    def rule(site: Site) -> Iterator[Edit]:
        if (assigned := _item_assigned(site.stmt)) is None:
            return
        target, value, op = assigned
        holes = {"X": target.value, "I": target.slice, "V": value}
        if op is not None and type(op) not in methods:
            holes["V"] = ast.BinOp(fill_pattern(f"{array}[I]", holes), op, value)
        yield Edit([fill_pattern(f"X = {array}.at[I].{methods.get(type(op), 'set(V)')}", holes)])

    return rule


def _item_assigned(
    node: ast.stmt,
) -> tuple[ast.Subscript, ast.expr, ast.operator | None] | None:
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value, None
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            return target, value, op
    return None


FOR_ASSIGNED_ITEMS = (
    _where_for_masked_assignment,
    _where_for_masked_at,
    _at_rule("X"),
    _at_rule("jax.numpy.asarray(X)"),  # an array of NumPy takes no tracers
)


@exchange_rule(
    f"always returns N elements, padded with a fill value; verified with N = {STAND_INS[_PLACES]}",
    same=False,
)
def fixed_size(site: Site, node: ast.expr) -> ast.expr | None:
    """``jnp.unique(x, size=N)``: as many places, whatever the values."""
    if holes := match_pattern("X.nonzero()", node):
        return call("jax.numpy.nonzero", holes["X"], size=name(_PLACES))
    match node:
        case ast.Call(func=function, args=args, keywords=keywords):
            kind = _name_in_jax_numpy(site, function)
            if kind not in _SIZED or (kind == "where" and len(args) != 1):
                return None
            extra = ast.keyword(_SIZED[kind], name(_PLACES))
            return ast.Call(function, args, [*keywords, extra])
    return None
