"""Rules that rewrite code which a graph cannot have."""

import ast

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.patterns import (
    Holes,
    exchange_rule,
    fill_pattern,
    library_rule,
    pattern_rule,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Site

_STAYS, _CAST = "stays a tensor", "casts one operand"
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


def _tensorflow_name(dotted: str) -> str:
    """TensorFlow's function in place of one of NumPy."""
    library, _, function = dotted.partition(".")
    is_other = library != "numpy" or "." in function or function in _OTHER_DEFAULTS
    return "" if is_other else f"tf.{_OTHER_NAMES.get(function, function)}"


def _tensorflow_numpy_name(dotted: str) -> str:
    """The same function of `tf.experimental.numpy`, where TensorFlow itself has none."""
    library, _, function = dotted.partition(".")
    return f"tf.experimental.numpy.{function}" if library == "numpy" and "." not in function else ""


@exchange_rule(_CAST, whole=False)
def _cast_right(_: Site, node: ast.expr) -> ast.expr | None:
    """``x * n`` of two types: the right side takes the type of the left."""
    match node:
        case ast.BinOp(left=ast.Name() as x, op=op, right=n):
            return ast.BinOp(x, op, fill_pattern("tf.cast(N, X.dtype)", {"N": n, "X": x}))
    return None


@exchange_rule(_CAST, whole=False)
def _cast_left(_: Site, node: ast.expr) -> ast.expr | None:
    """``n * x`` of two types: the left side takes the type of the right."""
    match node:
        case ast.BinOp(left=n, op=op, right=ast.Name() as x):
            return ast.BinOp(fill_pattern("tf.cast(N, X.dtype)", {"N": n, "X": x}), op, x)
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
    library_rule(_tensorflow_name),
    library_rule(_tensorflow_numpy_name),
    *Choice("tf.where", Logic("tf", operators=False).condition).rules,
    pattern_rule(
        {
            "for I in range(N):\n    X = V": (
                "X = tf.while_loop(lambda I, X: I < N, lambda I, X: (I + 1, V), (0, X))[1]"
            )
        },
        "the loop runs in the graph",
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
