"""Masks and slices whose shape would depend on values, and assignments to parts of an array."""

import ast
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from ipyjaxbench.adapters.shared.diagnosis.ast_copy import as_read, as_written
from ipyjaxbench.adapters.shared.diagnosis.names import call
from ipyjaxbench.adapters.shared.diagnosis.rule_parts import exchange, name
from ipyjaxbench.adapters.shared.diagnosis.source_edit import STAND_INS, Edit, Site, stand_in

#: Reductions that take ``where=``, with what else they need then.
_REDUCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "sum": (), "mean": (), "any": (), "all": (), "prod": (), "std": (), "var": (),
    "max": (("initial", "-inf"),), "min": (("initial", "inf"),),
}  # fmt: skip
_OF_MASK, _BELOW = "jax.numpy.where!mask", "jax.numpy.where!below"
_MASKS = ast.Compare | ast.Name | ast.BinOp | ast.UnaryOp | ast.Call
#: Functions that give as many numbers as there are, and the keyword that fixes how many.
_SIZED = {
    **dict.fromkeys(["nonzero", "flatnonzero", "argwhere", "unique", "unique_values", "union1d",
                     "intersect1d", "setdiff1d", "setxor1d", "where"], "size"),
    "repeat": "total_repeat_length", "bincount": "length",
}  # fmt: skip
_N = 8
_PLACES = "N!"
STAND_INS[_PLACES] = _N


@stand_in(_OF_MASK)
def _same_shape(mask: Any, x: Any, other: Any) -> Any:
    """`jnp.where` of a mask that has a place for each number."""
    found = jnp.where(mask, x, other)
    if jnp.shape(mask) != found.shape or jnp.asarray(mask).dtype != bool:
        raise TypeError("the mask has another shape")
    return found


@stand_in(_BELOW)
def _rows_below(below: Any, x: Any, other: Any) -> Any:
    """The first numbers of a vector, and zeros."""
    if jnp.ndim(x) != 1:
        raise TypeError("no vector")
    return jnp.where(below, x, other)


def where_in_reduction(site: Site) -> Iterator[Edit]:
    """``x[mask].mean()``, as ``x.mean(where=mask)``."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=x, slice=mask), attr=kind),
                args=[], keywords=[],
            ) if kind in _REDUCTIONS and isinstance(mask, _MASKS):  # fmt: skip
                made = ast.Call(ast.Attribute(x, kind, ast.Load()), [], [])
                return _leaving_out(made, kind, mask)
            case ast.Call(
                func=function, args=[ast.Subscript(value=x, slice=mask)], keywords=[]
            ) if isinstance(mask, _MASKS) and isinstance(function, ast.Attribute | ast.Name):
                kind = getattr(site.value(function), "__name__", "")
                if kind in _REDUCTIONS and site.value(function) is getattr(jnp, kind, None):
                    return _leaving_out(ast.Call(function, [x], []), kind, mask)
        return None

    yield from exchange(site, change, "leaves out what the mask does")


def _leaving_out(made: ast.Call, kind: str, mask: ast.expr) -> ast.Call:
    made.keywords.append(ast.keyword("where", mask))
    for key, value in _REDUCTIONS[kind]:
        number: ast.expr = ast.Name("jax.numpy.inf", ast.Load())
        number = ast.UnaryOp(ast.USub(), number) if value.startswith("-") else number
        made.keywords.append(ast.keyword(key, number))
    return made


def zeros_for_mask(site: Site) -> Iterator[Edit]:
    """``return x[mask]`` as an array of the same shape."""
    match site.stmt:
        case ast.Return(value=ast.Subscript(value=x, slice=mask)) if isinstance(mask, _MASKS):
            made = call(_OF_MASK, mask, x, ast.Constant(0))
            changes = "keeps the shape, with 0 where the mask is False"
            yield Edit([ast.Return(made)], changes, same=False)


def zeros_for_slice(site: Site) -> Iterator[Edit]:
    """``return x[:n]`` of a vector, as a vector of the same length."""
    match site.stmt:
        case ast.Return(
            value=ast.Subscript(
                value=x, slice=ast.Slice(lower=None, upper=ast.Name() as n, step=None)
            )
        ):
            length = ast.Call(name("len"), [x], [])
            below = ast.Compare(call("jax.numpy.arange", length), [ast.Lt()], [n])
            made = call(_BELOW, below, x, ast.Constant(0))
            changes = f"keeps the shape, with 0 from {n.id} on; {n.id} is not negative"
            yield Edit([ast.Return(made)], changes, same=False)


def slice_of_fixed_size(site: Site) -> Iterator[Edit]:
    """``x[i : i + 3]``."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Subscript(
                value=x,
                slice=ast.Slice(
                    lower=ast.expr() as begin,
                    upper=ast.BinOp(left=left, op=ast.Add(), right=size),
                    step=None,
                ),
                ctx=ast.Load(),
            ):
                if ast.dump(left) != ast.dump(begin):
                    left, size = size, left
                if ast.dump(left) == ast.dump(begin):
                    return call("jax.lax.dynamic_slice_in_dim", x, begin, size)
        return None

    yield from exchange(site, change, "begins earlier where x would end too soon")


def where_for_masked_assignment(site: Site) -> Iterator[Edit]:
    """``x[mask] = v``, and ``x[mask] += v``."""
    target, value, op = _item_assigned(site.stmt)
    if target is None or value is None or not isinstance(target.slice, _MASKS):
        return
    x, mask = as_read(target.value), target.slice
    if isinstance(mask, ast.Name) and op is None and not isinstance(value, ast.Constant):
        return  # as likely an index
    match value:
        case ast.Subscript(value=y, slice=other) if ast.dump(other) == ast.dump(mask):
            value = y
    new = value if op is None else ast.BinOp(x, op, value)
    yield Edit([ast.Assign([as_written(target.value)], call(_OF_MASK, mask, new, x))])


def where_for_masked_at(site: Site) -> Iterator[Edit]:
    """``x.at[mask].set(v)``."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(value=ast.Attribute(value=x, attr="at"), slice=mask),
                    attr=how,
                ),
                args=[value],
                keywords=[],
            ) if isinstance(mask, _MASKS):
                op = {"add": ast.Add(), "multiply": ast.Mult(), "divide": ast.Div()}.get(how)
                new = ast.BinOp(x, op, value) if op else value
                return call(_OF_MASK, mask, new, x) if op or how == "set" else None
        return None

    yield from exchange(site, change)


_AT = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power"}


def at_for_item(site: Site) -> Iterator[Edit]:
    """``x[i] = v`` as ``x = x.at[i].set(v)``."""
    target, value, op = _item_assigned(site.stmt)
    if target is not None and value is not None:
        yield Edit([_with_at(target, as_read(target.value), value, op)])


def at_for_numpy_item(site: Site) -> Iterator[Edit]:
    """The same where ``x`` is an array of NumPy, which takes no tracers."""
    target, value, op = _item_assigned(site.stmt)
    if target is not None and value is not None:
        x = call("jax.numpy.asarray", as_read(target.value))
        yield Edit([_with_at(target, x, value, op)])


def _with_at(
    target: ast.Subscript, x: ast.expr, value: ast.expr, op: ast.operator | None
) -> ast.Assign:
    at = ast.Subscript(ast.Attribute(x, "at", ast.Load()), target.slice, ast.Load())
    how = "set" if op is None else _AT.get(type(op), "")
    if isinstance(op, ast.Sub):
        how, value = "add", ast.UnaryOp(ast.USub(), value)
    if not how:
        how = "set"
        value = ast.BinOp(ast.Subscript(x, target.slice, ast.Load()), op, value)  # type: ignore[arg-type]
    made = ast.Call(ast.Attribute(at, how, ast.Load()), [value], [])
    return ast.Assign([as_written(target.value)], made)


def _item_assigned(
    node: ast.stmt,
) -> tuple[ast.Subscript | None, ast.expr | None, ast.operator | None]:
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value, None
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            return target, value, op
    return None, None, None


def sized(site: Site) -> Iterator[Edit]:
    """``jnp.unique(x, size=N)``: as many places, whatever the values."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Attribute(value=x, attr="nonzero"), args=[], keywords=[]):
                return call("jax.numpy.nonzero", x, size=_places())
            case ast.Call(func=function, args=args, keywords=keywords):
                known = site.value(function)
                kind = getattr(known, "__name__", "")
                if kind not in _SIZED or getattr(jnp, kind, None) is not known:
                    return None
                if kind == "where" and len(args) != 1:
                    return None
                extra = ast.keyword(_SIZED[kind], _places())
                return ast.Call(function, args, [*keywords, extra])
        return None

    cost = f"N places whatever the values are, those too many are filled; tried with N = {_N}"
    yield from exchange(site, change, cost, same=False)


def _places() -> ast.expr:
    """A number when it is tried, N when it is told."""
    return ast.Name(_PLACES, ast.Load())
