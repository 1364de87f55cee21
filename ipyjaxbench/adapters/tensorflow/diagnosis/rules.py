"""Rules that rewrite code which a graph cannot have."""

import ast
from collections.abc import Iterator

import numpy as np

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.names import call, library
from ipyjaxbench.adapters.shared.diagnosis.rule_parts import (
    assignment,
    exchange,
    exchange_each,
    make_lambda,
    name,
    value_or_tuple,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site

_STAYS, _CAST = "stays a tensor", "changes the type of one side"
_KINDS = {"int": "tf.int32", "float": "tf.float32", "bool": "tf.bool"}
#: Functions of NumPy that TensorFlow calls otherwise.
_OTHER_NAMES = {
    "sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min",
    "amax": "reduce_max", "amin": "reduce_min", "prod": "reduce_prod", "any": "reduce_any",
    "all": "reduce_all", "std": "math.reduce_std", "var": "math.reduce_variance",
    "dot": "tensordot", "concatenate": "concat", "arctan": "atan", "arcsin": "asin",
    "arccos": "acos", "log": "math.log", "log1p": "math.log1p", "expm1": "math.expm1",
    "power": "pow", "absolute": "abs",
    "floor": "math.floor", "ceil": "math.ceil", "rint": "math.rint", "isnan": "math.is_nan",
    "isinf": "math.is_inf", "isfinite": "math.is_finite", "vstack": "experimental.numpy.vstack",
    "hstack": "experimental.numpy.hstack", "sqrt": "sqrt", "clip": "clip_by_value",
}  # fmt: skip
#: Those of the same name that take another axis or make other dtypes where nothing is said.
_OTHER_DEFAULTS = ("argmax", "argmin", "cumsum", "cumprod", "unique", "zeros", "ones", "eye",
                   "linspace", "split", "roll")  # fmt: skip
_LOGIC = Logic("tf.logical_and", "tf.logical_or", "tf.logical_not", operators=False)
_CHOICE = Choice("tf.where", _LOGIC.condition)


def _renamed(site: Site, node: ast.expr) -> tuple[str, ast.Call] | None:
    """A call of a function of NumPy, and that function's name."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() as module, attr=attribute)):
            if site.value(module) is np:
                return attribute, node
    return None


def tensorflow_for_numpy(site: Site) -> Iterator[Edit]:
    """The same function of TensorFlow."""

    def change(node: ast.expr) -> ast.expr | None:
        found = _renamed(site, node)
        if found is None or found[0] in _OTHER_DEFAULTS:
            return None
        function, old = found
        new = library(f"tf.{_OTHER_NAMES.get(function, function)}")
        return ast.Call(new, old.args, old.keywords)

    yield from exchange(site, change)


def numpy_of_tensorflow(site: Site) -> Iterator[Edit]:
    """The same function of `tf.experimental.numpy`, where TensorFlow itself has none."""

    def change(node: ast.expr) -> ast.expr | None:
        found = _renamed(site, node)
        if found is None:
            return None
        function, old = found
        return ast.Call(library(f"tf.experimental.numpy.{function}"), old.args, old.keywords)

    yield from exchange(site, change)


def cast_for_number(site: Site) -> Iterator[Edit]:
    """``float(x)`` wants a Python number; a tensor can be turned into other numbers too."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Name(id=kind), args=[x]) if kind in _KINDS:
                return call("tf.cast", x, library(_KINDS[kind]))
        return None

    yield from exchange(site, change, _STAYS)


def tensor_for_numpy(site: Site) -> Iterator[Edit]:
    """``x.numpy()`` and ``x.item()`` are the tensor itself."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="numpy" | "item"), args=[]):
                return value
        return None

    yield from exchange(site, change, _STAYS)


def while_loop(site: Site) -> Iterator[Edit]:
    """A loop that changes one name, as a loop in the graph."""
    match site.stmt:
        case ast.For(
            target=ast.Name(id=i),
            iter=ast.Call(func=ast.Name(id="range"), args=[n]),
            body=[ast.Assign(targets=[ast.Name(id=x)], value=value)],
            orelse=[],
        ):
            below = make_lambda([i, x], ast.Compare(name(i), [ast.Lt()], [n]))
            turn = value_or_tuple([ast.BinOp(name(i), ast.Add(), ast.Constant(1)), value])
            start = value_or_tuple([ast.Constant(0), name(x)])
            loop = call("tf.while_loop", below, make_lambda([i, x], turn), start)
            last = ast.Subscript(loop, ast.Constant(1), ast.Load())
            yield Edit([assignment([x], last)], "runs as a loop in the graph")


def cast_right(site: Site) -> Iterator[Edit]:
    """``x * n`` of two types: the right side takes the type of the left."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.BinOp(left=ast.Name() as x, op=op, right=n):
                return ast.BinOp(x, op, _cast_like(n, x))
        return None

    yield from exchange_each(site, change, _CAST)


def cast_left(site: Site) -> Iterator[Edit]:
    """``n * x`` of two types: the left side takes the type of the right."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.BinOp(left=n, op=op, right=ast.Name() as x):
                return ast.BinOp(_cast_like(n, x), op, x)
        return None

    yield from exchange_each(site, change, _CAST)


def gather_for_index(site: Site) -> Iterator[Edit]:
    """``list[n]`` wants a Python number."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Subscript(slice=ast.Slice() | ast.Tuple() | ast.Constant()):
                return None
            case ast.Subscript(value=x, slice=index, ctx=ast.Load()):
                return call("tf.gather", x, index)
        return None

    yield from exchange(site, change, "the list becomes a tensor")


def update_for_assignment(site: Site) -> Iterator[Edit]:
    """``x[i] = v``: tensors do not change."""
    match site.stmt:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=x), slice=ast.Constant(value=int(i)))],
            value=value,
        ) if i >= 0:
            row = ast.Subscript(name(x), ast.Constant(i), ast.Load())
            indices = ast.List([ast.List([ast.Constant(i)], ast.Load())], ast.Load())
            whole = call("tf.broadcast_to", value, ast.Attribute(row, "shape", ast.Load()))
            updates = ast.List([whole], ast.Load())
            new = call("tf.tensor_scatter_nd_update", name(x), indices, updates)
            yield Edit([assignment([x], new)], "makes a new tensor")


RULES = (
    tensorflow_for_numpy,
    numpy_of_tensorflow,
    _CHOICE.in_expressions,
    _CHOICE.in_returns,
    _CHOICE.in_assignments,
    while_loop,
    cast_for_number,
    tensor_for_numpy,
    gather_for_index,
    cast_right,
    cast_left,
    update_for_assignment,
)


def _cast_like(value: ast.expr, other: ast.expr) -> ast.expr:
    return call("tf.cast", value, ast.Attribute(other, "dtype", ast.Load()))
