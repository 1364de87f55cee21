"""Arrays of doubles that NumPy makes in the statement itself, as its code shows them."""

import ast
import math
from collections.abc import Callable

#: They give float64 unless a type is asked for, which is looked for elsewhere; of these sizes.
_OF_SHAPE = {"ones", "zeros", "empty", "rand", "randn", "random", "random_sample"}
_OF_SEVERAL = {"linspace", "logspace", "geomspace", "eye", "identity"}
_DRAWS = {"normal", "uniform", "standard_normal", "exponential", "lognormal", "gamma", "beta"}
_OF_VALUES = {"array", "asarray"}
_SMOOTH = {"sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh", "square", "sort", "stack"}
_SAME_TYPE = {"T", "reshape", "copy", "transpose", "ravel", "flatten", "squeeze"}


def makes_doubles(node: ast.expr, is_numpys: Callable[[ast.expr], bool]) -> bool:
    """Whether an expression gives an array of several doubles.

    Example:
        >>> makes_doubles(ast.parse("np.ones(3)", mode="eval").body, lambda node: True)
        True
    """
    match node:
        case ast.BinOp(left=left, right=right):
            return any(makes_doubles(each, is_numpys) for each in (left, right))
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Call(func=ast.Attribute(value=owner, attr=name))
        ) if name in _SAME_TYPE:
            return makes_doubles(owner, is_numpys)
        case ast.Call(func=ast.Attribute(attr=name) as function) if is_numpys(function):
            has_doubles = any(makes_doubles(each, is_numpys) for each in node.args)
            return _is_made(name, node) or (has_doubles and name in _SMOOTH)
    return False


def _is_made(name: str, node: ast.Call) -> bool:
    sizes = [each.value for each in node.keywords if each.arg in ("shape", "size")]
    if name in _OF_SHAPE:
        return _several(sizes or node.args)
    if name == "arange":
        return any(_is_fraction(each) for each in node.args) and _several_steps(node.args)
    if name in _OF_SEVERAL:
        return True
    if name in _DRAWS:
        return bool(sizes) and _several(sizes)
    return name in _OF_VALUES and bool(node.args) and _has_fractions(node.args[0])


def _several(sizes: list[ast.expr]) -> bool:
    """Whether there are more than two numbers, as far as is written; two are a rate or scale."""
    try:
        known = [ast.literal_eval(each) for each in sizes]
        lengths = [n for each in known for n in (each if type(each) is tuple else [each])]
        return bool(math.prod(lengths) > 2)
    except (ValueError, TypeError):
        return True


def _is_fraction(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is float


def _several_steps(bounds: list[ast.expr]) -> bool:
    try:
        known = [ast.literal_eval(each) for each in bounds]
        start, stop, step = [0.0, *known, 1.0][-3:] if len(known) < 3 else known[:3]
        return bool((stop - start) / step > 2)
    except (ValueError, TypeError, ZeroDivisionError):
        return True


def _has_fractions(node: ast.expr) -> bool:
    numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return len(numbers) > 2 and float in map(type, numbers)
