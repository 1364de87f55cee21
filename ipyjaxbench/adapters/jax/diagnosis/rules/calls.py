"""Functions of Python and NumPy that ask for numbers, and what JAX has in their place."""

import ast
import math
from collections.abc import Iterator
from types import ModuleType

import jax.numpy as jnp
import numpy as np

from ipyjaxbench.adapters.shared.diagnosis.names import attribute_of, call, library, value_of
from ipyjaxbench.adapters.shared.diagnosis.rule_parts import exchange, name
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site

#: Functions of `math` that have another name in JAX.
_RENAMED = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "dist": "", "fsum": "sum", "fmod": "fmod",
    "pow": "power", "lgamma": "scipy.special.gammaln", "gamma": "scipy.special.gamma",
    "erf": "scipy.special.erf", "erfc": "scipy.special.erfc",
}  # fmt: skip
_STAYS = "stays an array"


def jax_for_numpy(site: Site) -> Iterator[Edit]:
    """``np.sin(x)`` and ``math.sqrt(x)``, by the function of the same name in `jax.numpy`."""

    def change(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call):
            return None
        dotted = _full_name(site, node.func)
        theirs = _in_jax(dotted)
        return ast.Call(library(theirs), node.args, node.keywords) if theirs else None

    yield from exchange(site, change)


def numpy_for_jax(site: Site) -> Iterator[Edit]:
    """Shapes are known while tracing: NumPy computes with them."""

    def change(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call):
            return None
        dotted = _full_name(site, node.func)
        theirs = dotted.replace("jax.numpy", "numpy", 1)
        if not dotted.startswith("jax.numpy.") or value_of(theirs) is None:
            return None
        return ast.Call(library(theirs), node.args, node.keywords)

    changes = "NumPy computes it while tracing, from shapes alone"
    yield from exchange(site, change, changes)


def _full_name(site: Site, node: ast.expr) -> str:
    """Such as "numpy.linalg.norm", however the code says it."""
    if isinstance(node, ast.Attribute):
        owner = site.value(node.value)
        return f"{owner.__name__}.{node.attr}" if isinstance(owner, ModuleType) else ""
    known = site.value(node)
    kind = getattr(known, "__name__", "")
    for module in (math, np, jnp):
        if kind and known is attribute_of(module, kind):
            return f"{module.__name__}.{kind}"
    return ""


def _in_jax(dotted: str) -> str:
    """The full name of JAX's function in place of one of NumPy or `math`; empty without one."""
    library_, _, rest = dotted.partition(".")
    if library_ == "math":
        rest = _RENAMED.get(rest, rest)
        theirs = f"jax.{rest}" if rest.startswith("scipy") else f"jax.numpy.{rest}"
    elif library_ == "numpy":
        theirs = f"jax.numpy.{rest}"
    else:
        return ""
    return theirs if rest and callable(value_of(theirs)) else ""


def array_for_number(site: Site) -> Iterator[Edit]:
    """``int(x)`` wants a Python number; an array can be turned into whole numbers too."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Name(id=kind), args=[value], keywords=[]) if kind in (
                "int",
                "float",
                "bool",
            ):
                return call("jax.numpy.asarray", value, name(kind))
            case ast.Call(
                func=ast.Attribute(value=value, attr="item" | "tolist"), args=[], keywords=[]
            ):
                return value
        return None

    if not _makes_text(site.stmt):  # that of a tracer is not the number's
        yield from exchange(site, change, _STAYS)


def _makes_text(stmt: ast.stmt) -> bool:
    """Whether a statement, without those in it, makes a text or a hash of a value."""
    heads = (each for each in ast.iter_child_nodes(stmt) if isinstance(each, ast.expr))
    for node in (inner for each in heads for inner in ast.walk(each)):
        match node:
            case ast.FormattedValue():
                return True
            case ast.Call(func=ast.Name(id="str" | "repr" | "ascii" | "format" | "hash" | "id")):
                return True
    return False


def array_for_list(site: Site) -> Iterator[Edit]:
    """A list of numbers takes no tracer as an index; an array does."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Subscript(value=ast.Name() | ast.List() as x, ctx=ast.Load()):
                return ast.Subscript(call("jax.numpy.asarray", x), node.slice, ast.Load())
        return None

    yield from exchange(site, change, _STAYS)


def switch_for_list(site: Site) -> Iterator[Edit]:
    """One of several functions."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Subscript(value=several, slice=index), args=args, keywords=[]):
                return call("jax.lax.switch", index, several, *args)
        return None

    yield from exchange(site, change, "an index too large takes the last")


def debug_print(site: Site) -> Iterator[Edit]:
    """``print(f"{x:.2f}")`` needs the number while tracing; `jax.debug.print` waits for it."""
    match site.stmt:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[text], keywords=[])):
            found = _formatted(text)
        case _:
            return
    if found is not None:
        words, values = found
        made = call("jax.debug.print", ast.Constant(words), *values)
        yield Edit([ast.Expr(made)], "prints when it runs, not when it is traced")


def _formatted(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """A text with braces, and the values for them."""
    match node:
        case ast.JoinedStr(values=parts):
            return _of_parts(parts)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as words), attr="format"),
            args=args, keywords=[],
        ):  # fmt: skip
            return words, [_array_of(each) for each in args]
        case ast.BinOp(left=ast.Constant(value=str() as words), op=ast.Mod(), right=right):
            return _of_percents(words, right.elts if isinstance(right, ast.Tuple) else [right])
    return None


def _of_percents(words: str, values: list[ast.expr]) -> tuple[str, list[ast.expr]] | None:
    first, *pieces = words.replace("{", "{{").replace("}", "}}").split("%")
    kinds = [_kind_of(piece) for piece in pieces]
    if len(kinds) != len(values) or not all(kinds):
        return None
    for kind, piece in zip(kinds, pieces, strict=True):
        first += f"{{:{kind}}}{piece[len(kind) :]}"
    return first, [_array_of(each) for each in values]


def _array_of(node: ast.expr) -> ast.expr:
    """What was made a Python number in order to print it."""
    match node:
        case ast.Call(func=ast.Name(id="int" | "float"), args=[value], keywords=[]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
            return value
    return node


def _kind_of(piece: str) -> str:
    """What stands behind a percent sign: ".2f" of ".2f done"."""
    for index, letter in enumerate(piece):
        if letter in "dfeg":
            return piece[: index + 1]
        if letter not in ".0123456789":
            return ""
    return ""


def _of_parts(parts: list[ast.expr]) -> tuple[str, list[ast.expr]] | None:
    words, values = "", []
    for part in parts:
        match part:
            case ast.Constant(value=str() as text):
                words += text.replace("{", "{{").replace("}", "}}")
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                words += "{}"
                values.append(_array_of(value))
            case ast.FormattedValue(
                value=value, conversion=-1,
                format_spec=ast.JoinedStr(values=[ast.Constant(value=str() as kind)]),
            ):  # fmt: skip
                words += f"{{:{kind}}}"
                values.append(_array_of(value))
            case _:
                return None
    return words, values
