"""Counts what a JAX program computes, as its jaxpr describes it. Nothing is run or compiled."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

_NONE: Mapping[Any, Any] = MappingProxyType({})
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
_MOST_STEPS = 20_000


class TooLargeError(Exception):
    """Counting would take too long."""


@dataclass
class Tally:
    """Operations of a program, counted from below: what is not known counts as none.

    Attributes:
        flops: with every turn of each `scan`; loops of unknown length count as none.
        written: a turn of each `scan` counted once, as XLA counts it.
        unused: those among ``written`` whose result nothing uses.
        constant: those among ``written`` that depend on no argument.
        products: those among ``flops`` of matrix products and convolutions, by dtype.
        constants: the arrays that are part of the program, by identity.
    """

    flops: float = 0.0
    written: float = 0.0
    unused: float = 0.0
    constant: float = 0.0
    products: dict[str, float] = field(default_factory=dict)
    constants: dict[int, Any] = field(default_factory=dict)
    _steps: int = 0

    def program(
        self,
        closed: Any,
        fixed: Sequence[bool] = (),
        used: Sequence[bool] | None = None,
        *,
        turns: float = 1.0,
        live: bool = True,
        constant: bool = False,
        literals: Mapping[Any, Any] = _NONE,
    ) -> "Tally":
        """Add a program.

        Args:
            closed: its jaxpr.
            fixed: for each input whether it depends on no argument.
            used: for each output whether it is used; None if all are.
            turns: how often it runs.
            live: whether anything of it is used.
            constant: all of it depends on no argument.
            literals: the numbers that some inputs are.

        Returns:
            This tally.
        """
        jaxpr = _opened(closed)
        self.constants |= {id(value): value for value in getattr(closed, "consts", ())}
        steps = list(self._steps_of(jaxpr, fixed))
        outputs = jaxpr.outvars
        needed = {
            v
            for v, is_used in zip(outputs, used or [True] * len(outputs), strict=True)
            if is_used and not _is_literal(v)
        }
        for step, inputs, depends_on_nothing in reversed(steps):
            gives = [v in needed for v in step.outvars]
            is_live = live and (bool(step.effects) or any(gives))
            is_constant = constant or depends_on_nothing
            inner = _called(step)
            if inner is not None:
                self.program(inner, inputs, gives, turns=turns, live=is_live, constant=is_constant,
                             literals=_given(step, inner, literals))  # fmt: skip
            elif step.primitive.name == "scan":
                body, length = step.params["jaxpr"], step.params["length"]
                self.program(body, turns=turns * length, live=is_live, constant=is_constant)
            else:
                self._add(step, turns, live=is_live, constant=is_constant)
            if is_live:
                needed.update(self._needed(step, gives, literals))
        return self

    def _needed(
        self, step: Any, gives: Sequence[bool], literals: Mapping[Any, Any]
    ) -> Iterator[Any]:
        """The variables that an equation needs for those of its results that are used."""
        name, inner = step.primitive.name, _called(step)
        used = [True] * len(step.invars)
        if name == "select_n" and (which := _number(step.invars[0], literals)) is not None:
            used = [index == 1 + int(which) for index in range(len(step.invars))]
        elif inner is not None and not step.effects:
            used = self._used_inputs(_opened(inner), gives, _given(step, inner, literals))
        for v, is_used in zip(step.invars, used, strict=True):
            if is_used and not _is_literal(v):
                yield v

    def _used_inputs(
        self, jaxpr: Any, used: Sequence[bool], literals: Mapping[Any, Any]
    ) -> list[bool]:
        """For each input of a program whether any result that is used depends on it."""
        outputs = zip(jaxpr.outvars, used, strict=True)
        needed = {v for v, is_used in outputs if is_used and not _is_literal(v)}
        for step in reversed(jaxpr.eqns):
            self._count_step()
            gives = [v in needed for v in step.outvars]
            if step.effects or any(gives):
                needed.update(self._needed(step, gives, literals))
        return [v in needed for v in jaxpr.invars]

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooLargeError

    def _steps_of(
        self, jaxpr: Any, fixed: Sequence[bool]
    ) -> Iterator[tuple[Any, list[bool], bool]]:
        """Each equation, which of its inputs depend on no argument, and whether all do."""
        known = set(jaxpr.constvars)
        known |= {v for v, is_fixed in zip(jaxpr.invars, fixed, strict=False) if is_fixed}
        for step in jaxpr.eqns:
            self._count_step()
            inputs = [_is_literal(v) or v in known for v in step.invars]
            all_known = all(inputs) and not step.effects
            inner = _called(step)
            if all_known:
                known.update(step.outvars)
            elif inner is not None:
                known.update(self._known_outputs(step, _opened(inner), inputs))
            yield step, inputs, all_known

    def _known_outputs(self, step: Any, inner: Any, inputs: Sequence[bool]) -> Iterator[Any]:
        known = set(inner.constvars)
        known |= {v for v, is_fixed in zip(inner.invars, inputs, strict=False) if is_fixed}
        for each, _, all_known in self._steps_of(inner, inputs):
            known |= set(each.outvars) if all_known else set()
        for outer, v in zip(step.outvars, inner.outvars, strict=True):
            if _is_literal(v) or v in known:
                yield outer

    def _add(self, step: Any, turns: float, *, live: bool, constant: bool) -> None:
        operations = operations_of(step)
        self.flops += turns * operations
        self.written += operations
        if not live:
            self.unused += operations
        elif constant:
            self.constant += operations
        if step.primitive.name in ("dot_general", "conv_general_dilated"):
            dtype = str(step.invars[0].aval.dtype)
            self.products[dtype] = self.products.get(dtype, 0.0) + turns * operations


def _opened(jaxpr: Any) -> Any:
    """A jaxpr without its constants."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def _is_literal(variable: Any) -> bool:
    return type(variable).__name__ == "Literal"


def _number(variable: Any, literals: Mapping[Any, Any]) -> Any | None:
    """The one number that a variable is; None where it is not known."""
    found = variable.val if _is_literal(variable) else literals.get(variable)
    return found if isinstance(found, bool | int | np.bool_ | np.integer) else None


def _given(step: Any, inner: Any, literals: Mapping[Any, Any]) -> dict[Any, Any]:
    """The numbers that some inputs of a called program are."""
    given = zip(_opened(inner).invars, step.invars, strict=True)
    numbers = ((v, _number(outer, literals)) for v, outer in given)
    return {v: number for v, number in numbers if number is not None}


def _called(step: Any) -> Any | None:
    if step.primitive.name not in _CALLS:
        return None
    for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        inner = step.params.get(name)
        if inner is not None and len(_opened(inner).invars) == len(step.invars):
            return inner
    return None


def operations_of(step: Any) -> float:
    """Floating-point operations of one equation without inner programs."""
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
    """How many operations of real numbers one of an equation is, on average; 1 if it is real."""
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
    """The program with which an equation combines two numbers; None where it has none."""
    found = step.params.get("update_jaxpr", step.params.get("jaxpr")) if combines(step) else None
    return None if found is None else _opened(found)


def _combinations(step: Any) -> float:
    """How often an equation combines two numbers; 0 where that is not what it does."""
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
    """Equations of a program, with those of the functions that it calls in their place."""
    for step in jaxpr.eqns:
        inner = _called(step)
        yield from (step,) if inner is None else _flat(_opened(inner))


def _size(variable: Any) -> float:
    return float(math.prod(variable.aval.shape))
