"""Functions of Python and NumPy that ask for numbers, and what JAX has in their place."""

import ast
import math
import re
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from ipyjaxbench.adapters.shared.diagnosis.names import value_of
from ipyjaxbench.adapters.shared.diagnosis.patterns import (
    exchange_rule,
    library_rule,
    match_pattern,
    pattern_rule,
)
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import call

#: Functions of `math` that have another name in JAX.
_RENAMED = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "dist": "", "fsum": "sum", "fmod": "fmod",
    "pow": "power", "lgamma": "scipy.special.gammaln", "gamma": "scipy.special.gamma",
    "erf": "scipy.special.erf", "erfc": "scipy.special.erfc",
}  # fmt: skip
_MODULES = (math, np, jnp)
_STAYS = "stays an array"
#: What stands behind a percent sign, as ".2f" of ".2f done".
_PERCENT_FORMAT = re.compile(r"^([.0-9]*[dfeg])")


def _jax_name(dotted: str) -> str:
    """JAX's function of the same name in place of one of NumPy or `math`."""
    library, _, rest = dotted.partition(".")
    rest = _RENAMED.get(rest, rest) if library == "math" else rest
    if library not in ("math", "numpy") or not rest:
        return ""
    is_scipys = library == "math" and rest.startswith("scipy")
    theirs = f"jax.{rest}" if is_scipys else f"jax.numpy.{rest}"
    return theirs if callable(value_of(theirs)) else ""


def _numpy_name(dotted: str) -> str:
    """NumPy's function in place of one of jax.numpy: it computes with shapes, which are known."""
    theirs = dotted.replace("jax.numpy", "numpy")
    return theirs if dotted.startswith("jax.numpy.") and value_of(theirs) is not None else ""


jax_for_numpy = library_rule(_jax_name, _MODULES)
numpy_for_jax = library_rule(
    _numpy_name, _MODULES, "NumPy computes it during tracing, from shapes alone"
)


def _makes_text(stmt: ast.stmt) -> bool:
    """Whether a statement, without those in it, makes a text or a hash of a value."""
    heads = (child for child in ast.iter_child_nodes(stmt) if isinstance(child, ast.expr))
    for node in (inner for head in heads for inner in ast.walk(head)):
        match node:
            case ast.FormattedValue():
                return True
            case ast.Call(func=ast.Name(id="str" | "repr" | "ascii" | "format" | "hash" | "id")):
                return True
    return False


#: ``int(x)`` wants a Python number; an array can be turned into whole numbers too.
array_for_number = pattern_rule(
    {
        "int(X)": "jax.numpy.asarray(X, int)",
        "float(X)": "jax.numpy.asarray(X, float)",
        "bool(X)": "jax.numpy.asarray(X, bool)",
        "X.item()": "X",
        "X.tolist()": "X",
    },
    _STAYS,
    lambda site, _: not _makes_text(site.stmt),  # that of a tracer is not the number's
)
#: A list of numbers takes no tracer as an index; an array does.
array_for_list = pattern_rule(
    {"X[I]": "jax.numpy.asarray(X)[I]"},
    _STAYS,
    lambda _, holes: isinstance(holes["X"], ast.Name | ast.List),
)


@exchange_rule("an index out of range selects the last function")
def switch_for_list(_: Site, node: ast.expr) -> ast.expr | None:
    """One of several functions."""
    match node:
        case ast.Call(func=ast.Subscript(value=several, slice=index), args=args, keywords=[]):
            return call("jax.lax.switch", index, several, *args)
    return None


def debug_print(site: Site) -> Iterator[Edit]:
    """``print(f"{x:.2f}")`` needs the number while tracing; `jax.debug.print` waits for it."""
    match site.stmt:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[printed], keywords=[])):
            parts = _formatted(printed)
        case _:
            return
    if parts is not None:
        text, values = parts
        made = call("jax.debug.print", ast.Constant(text), *map(_array_of, values))
        yield Edit([ast.Expr(made)], "prints when the program runs, not during tracing")


def _formatted(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """A text with braces, and the values for them."""
    match node:
        case ast.JoinedStr(values=parts):
            return _read_parts(parts)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format"),
            args=args, keywords=[],
        ):  # fmt: skip
            return text, args
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod(), right=right):
            return _read_percents(text, right.elts if isinstance(right, ast.Tuple) else [right])
    return None


def _read_percents(text: str, values: list[ast.expr]) -> tuple[str, list[ast.expr]] | None:
    first, *pieces = _escaped(text).split("%")
    formats = [_PERCENT_FORMAT.match(piece) for piece in pieces]
    if len(formats) != len(values) or not all(formats):
        return None
    rest = (_PERCENT_FORMAT.sub(r"{:\1}", piece) for piece in pieces)
    return "".join([first, *rest]), values


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _array_of(node: ast.expr) -> ast.expr:
    """What was made a Python number in order to print it."""
    matches = (match_pattern(pattern, node) for pattern in ("int(X)", "float(X)", "X.item()"))
    return next((holes["X"] for holes in matches if holes), node)


def _read_parts(parts: list[ast.expr]) -> tuple[str, list[ast.expr]] | None:
    text, values = "", []
    for part in parts:
        match part:
            case ast.Constant(value=str() as literal):
                text += _escaped(literal)
                continue
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                text += "{}"
            case ast.FormattedValue(
                value=value, conversion=-1,
                format_spec=ast.JoinedStr(values=[ast.Constant(value=str() as kind)]),
            ):  # fmt: skip
                text += f"{{:{kind}}}"
            case _:
                return None
        values.append(value)
    return text, values
