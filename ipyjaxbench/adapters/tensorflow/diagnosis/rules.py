"""Rules that rewrite code which a graph cannot have."""

import ast

import numpy as np

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.patterns import (
    Holes,
    exchange_rule,
    filled,
    pattern_rule,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import name

_STAYS, _CAST = "stays a tensor", "changes the type of one side"
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


def _numpy_name(site: Site, node: ast.expr) -> str:
    """The name of the function of NumPy that is called; empty for anything else."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() as module, attr=function)):
            return function if site.value(module) is np else ""
    return ""


@exchange_rule()
def _tensorflow_for_numpy(site: Site, node: ast.expr) -> ast.expr | None:
    """The same function of TensorFlow."""
    function = _numpy_name(site, node)
    if not isinstance(node, ast.Call) or not function or function in _OTHER_DEFAULTS:
        return None
    return ast.Call(name(f"tf.{_OTHER_NAMES.get(function, function)}"), node.args, node.keywords)


@exchange_rule()
def _numpy_of_tensorflow(site: Site, node: ast.expr) -> ast.expr | None:
    """The same function of `tf.experimental.numpy`, where TensorFlow itself has none."""
    function = _numpy_name(site, node)
    if not isinstance(node, ast.Call) or not function:
        return None
    return ast.Call(name(f"tf.experimental.numpy.{function}"), node.args, node.keywords)


@exchange_rule(_CAST, whole=False)
def _cast_right(_: Site, node: ast.expr) -> ast.expr | None:
    """``x * n`` of two types: the right side takes the type of the left."""
    match node:
        case ast.BinOp(left=ast.Name() as x, op=op, right=n):
            return ast.BinOp(x, op, filled("tf.cast(N, X.dtype)", {"N": n, "X": x}))
    return None


@exchange_rule(_CAST, whole=False)
def _cast_left(_: Site, node: ast.expr) -> ast.expr | None:
    """``n * x`` of two types: the left side takes the type of the right."""
    match node:
        case ast.BinOp(left=n, op=op, right=ast.Name() as x):
            return ast.BinOp(filled("tf.cast(N, X.dtype)", {"N": n, "X": x}), op, x)
    return None


def _is_number_index(_: Site, holes: Holes) -> bool:
    return not isinstance(holes["I"], ast.Slice | ast.Tuple | ast.Constant)


def _is_fixed_item(_: Site, holes: Holes) -> bool:
    match holes["X"], holes["I"]:
        case ast.Name(), ast.Constant(value=int(index)):
            return index >= 0
    return False


def _counts(_: Site, holes: Holes) -> bool:
    return isinstance(holes["I"], ast.Name) and isinstance(holes["X"], ast.Name)


RULES = (
    _tensorflow_for_numpy,
    _numpy_of_tensorflow,
    *Choice("tf.where", Logic("tf", operators=False).condition).rules,
    pattern_rule(
        {
            "for I in range(N):\n    X = V": (
                "X = tf.while_loop(lambda I, X: I < N, lambda I, X: (I + 1, V), (0, X))[1]"
            )
        },
        "runs as a loop in the graph",
        _counts,
    ),
    # These ask for a Python number; a tensor can be turned into other numbers too.
    pattern_rule(
        {
            "int(X)": "tf.cast(X, tf.int32)",
            "float(X)": "tf.cast(X, tf.float32)",
            "bool(X)": "tf.cast(X, tf.bool)",
        },
        _STAYS,
    ),
    pattern_rule({"X.numpy()": "X", "X.item()": "X"}, _STAYS),
    pattern_rule({"X[I]": "tf.gather(X, I)"}, "the list becomes a tensor", _is_number_index),
    _cast_right,
    _cast_left,
    # Tensors do not change.
    pattern_rule(
        {
            "X[I] = V": (
                "X = tf.tensor_scatter_nd_update(X, [[I]], [tf.broadcast_to(V, X[I].shape)])"
            )
        },
        "makes a new tensor",
        _is_fixed_item,
    ),
)
