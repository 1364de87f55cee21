"""Floating-point operations of one equation of a jaxpr."""

import math
from collections.abc import Iterator
from typing import Any

#: One operation for each number that they give.
ELEMENTWISE = frozenset(
    (
        *("add", "add_any", "sub", "mul", "div", "rem", "max", "min", "neg", "abs", "sign"),
        *("floor", "ceil", "round", "pow", "integer_pow", "square", "sqrt", "rsqrt", "cbrt"),
        *("exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "logistic", "erf"),
        *("erfc", "erf_inv", "lgamma", "digamma", "select_n", "clamp"),
    )
)
#: One operation for each number that they take.
REDUCTIONS = frozenset(
    (
        *("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "argmax", "argmin"),
        *("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"),
    )
)
#: They compute what the one program in them does, with the same inputs and outputs.
_CALLS = frozenset(
    (
        *("pjit", "jit", "closed_call", "core_call", "remat", "remat2", "checkpoint"),
        *("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"),
    )
)
#: Real operations in one of complex numbers: a product is four of them and two sums.
_OF_COMPLEX = {
    **dict.fromkeys(("add", "add_any", "sub", "neg"), 2.0),
    **dict.fromkeys(("reduce_sum", "reduce_window_sum", "cumsum"), 2.0),
    **dict.fromkeys(("dot_general", "conv_general_dilated"), 4.0),
    "mul": 6.0,
    "div": 11.0,
    "abs": 4.0,
}


def inner_jaxpr(jaxpr: Any) -> Any:
    """Return a jaxpr without its constants."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def called_program(step: Any) -> Any | None:
    """Return the program that an equation calls with the same inputs; None if it calls none."""
    if step.primitive.name not in _CALLS:
        return None
    for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        inner = step.params.get(name)
        if inner is not None and len(inner_jaxpr(inner).invars) == len(step.invars):
            return inner
    return None


def operations_of(step: Any) -> float:
    """Return the floating-point operations of an equation, but for those of programs in it."""
    name, params = step.primitive.name, step.params
    if name == "dot_general":
        ((left, _), _) = params["dimension_numbers"]
        shape = step.invars[0].aval.shape
        return 2 * _size(step.outvars[0]) * float(math.prod(shape[axis] for axis in left))
    if name == "conv_general_dilated":
        kernel = step.invars[1].aval.shape
        taps = math.prod(kernel) / max(kernel[params["dimension_numbers"].rhs_spec[0]], 1)
        return 2 * _size(step.outvars[0]) * float(taps / math.prod(params["lhs_dilation"]))
    if name in ELEMENTWISE:
        return _size(step.outvars[0])
    if name in REDUCTIONS:
        return _size(step.invars[0])
    combiner = _combiner(step)
    each = 1.0 if combiner is None else math.fsum(map(operations_of, _flat(combiner)))
    return _combinations(step) * each


def real_operations(step: Any) -> float:
    """Return how many real operations one of an equation is, on average; 1 if it is real."""
    if (combiner := _combiner(step)) is not None:
        counted = [(operations_of(each), real_operations(each)) for each in _flat(combiner)]
        every = math.fsum(operations for operations, _ in counted)
        return math.fsum(math.prod(pair) for pair in counted) / every if every else 1.0
    dtype = getattr(step.invars[0].aval, "dtype", None) if step.invars else None
    if getattr(dtype, "kind", "") != "c":
        return 1.0
    return _OF_COMPLEX.get(step.primitive.name, 1.0)


def combines(step: Any) -> bool:
    """Whether an equation combines numbers in pairs; a program in it says how."""
    name = str(step.primitive.name)
    return name == "reduce" or name.startswith(("reduce_window", "select_and_", "scatter"))


def _combiner(step: Any) -> Any | None:
    """Return the program with which an equation combines two numbers; None where it has none."""
    combiner = step.params.get("update_jaxpr", step.params.get("jaxpr")) if combines(step) else None
    return None if combiner is None else inner_jaxpr(combiner)


def _combinations(step: Any) -> float:
    """Return how often an equation combines two numbers; 0 where it does something else."""
    name, params = step.primitive.name, step.params
    if not combines(step) or name == "scatter":  # that writes over what is there
        return 0.0
    if name == "reduce":
        return _size(step.invars[0])
    if name.startswith("scatter"):
        return _size(step.invars[2])
    window = float(math.prod(params["window_dimensions"]))
    if name.startswith("select_and_scatter"):  # all but one are compared, and one is added
        source = step.invars[0 if name == "select_and_scatter_add" else 1]
        return window * _size(source)
    return (window - 1) * _size(step.outvars[0])


def _flat(jaxpr: Any) -> Iterator[Any]:
    """Yield the equations of a program, with those of called functions in their place."""
    for step in jaxpr.eqns:
        inner = called_program(step)
        yield from (step,) if inner is None else _flat(inner_jaxpr(inner))


def bytes_of(step: Any) -> float:
    """Return the bytes of the arrays that an equation takes and gives."""
    variables = (v for v in (*step.invars, *step.outvars) if getattr(v.aval, "shape", ()))
    return math.fsum(_size(v) * getattr(v.aval.dtype, "itemsize", 0) for v in variables)


def _size(variable: Any) -> float:
    return float(math.prod(variable.aval.shape))
