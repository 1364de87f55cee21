"""Counts what a JAX program computes, and what of that is not used or depends on no argument.

All is read from its jaxpr: nothing is run or compiled.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipyjaxbench.adapters.jax.graphs.flops import (
    bytes_of,
    called_program,
    inner_jaxpr,
    operations_of,
    real_operations,
)
from ipyjaxbench.adapters.jax.graphs.program import (
    Place,
    is_literal,
    is_of_library,
    is_recomputed,
    place_of,
    programs_in,
)
from ipyjaxbench.graphs import Count, Step, Uncounted, count_by_line

_MAX_STEPS = 20_000  # of a program whose usage is looked for
_UNCOUNTED = {
    "sort", "fft", "lu", "qr", "svd", "eigh", "eig", "cholesky", "householder_product", "schur",
    "triangular_solve", "custom_call", "top_k", "pallas_call", "ffi_call", "geqrf", "hessenberg",
}  # fmt: skip


class _Within(NamedTuple):
    """What an equation is a part of."""

    turns: float = 1.0  # that it makes
    caller: Any = None  # the equation at whose line it counts; None for its own
    is_certain: bool = True  # whether it runs, and so often
    is_recomputed: bool = False  # whether it was done before, and what it gave was not kept


class Tally:
    """How much a program computes.

    Attributes:
        operations: equations, those of inner programs among them.
        flops: floating-point operations of real numbers, with every turn of each `scan`.
        of_complex: those that there are because numbers are complex.
        uncounted: what is not known.
        steps: each equation by name, with its floating-point operations.
        certain: operations of any numbers; loops of unknown length and branches count as none.
        products: those among ``certain`` of matrix products and convolutions, by dtype.
        recomputed: those among ``products`` that `jax.checkpoint` does again.
    """

    def __init__(self, jaxpr: Any) -> None:
        self.operations = 0
        self.of_complex = self.certain = 0.0
        self.uncounted: dict[Uncounted, None] = {}
        self.products: defaultdict[str, float] = defaultdict(float)
        self.recomputed: defaultdict[str, float] = defaultdict(float)
        self.steps: list[tuple[str, float]] = []
        self._leaves: list[tuple[Any, str, float, float]] = []
        self._places: dict[int, Place] = {}
        self.flops = self._program(inner_jaxpr(jaxpr), _Within())

    def lines(self) -> tuple[Count, ...]:
        """How much each line of code computes, file by file and in order."""
        return count_by_line(
            Step(*self._place(at), name, flops, nbytes) for at, name, flops, nbytes in self._leaves
        )

    def _program(self, jaxpr: Any, within: _Within) -> float:
        """Add a program; what a library's function computes is at the line of its caller."""
        return math.fsum(self._equation(each, within) for each in jaxpr.eqns)

    def _equation(self, equation: Any, within: _Within) -> float:
        name, inner = equation.primitive.name, [*programs_in(equation)]
        if name in _UNCOUNTED:
            self.uncounted[Uncounted("operation", name)] = None
        self.operations += 1
        if not inner:
            return self._leaf(equation, within)
        self.steps.append((name, 0.0))
        if is_recomputed(equation):
            within = within._replace(is_recomputed=True)
        if within.caller is None and (is_of_library(equation) or not self._has_lines(inner)):
            within = within._replace(caller=equation)
        if name == "scan":
            within = within._replace(turns=within.turns * equation.params["length"])
            return self._program(inner[0], within)
        if name == "while":
            self.uncounted[Uncounted("turns")] = None
            within = within._replace(is_certain=False)
            return math.fsum(self._program(each, within) for each in inner)
        # A function with its own derivative holds that too: what runs comes first.
        runs = inner[0]
        if name == "cond":
            self.uncounted[Uncounted("branch", "a cond")] = None
            runs = max(inner, key=lambda branch: Tally(branch).flops)
        if name == "custom_linear_solve":
            solve = getattr(equation.params.get("jaxprs"), "solve", None)
            runs = getattr(solve, "jaxpr", runs)
        call = inner_jaxpr(called_program(equation))
        # What does not run is listed, and costs nothing.
        return math.fsum(
            self._program(
                each,
                within._replace(
                    turns=within.turns if each is runs else 0.0,
                    is_certain=within.is_certain and each is call,
                ),
            )
            for each in inner
        )

    def _leaf(self, equation: Any, within: _Within) -> float:
        name, operations = equation.primitive.name, operations_of(equation)
        turns, every = within.turns, within.turns * operations
        flops = every * real_operations(equation)
        self.of_complex += flops - every
        self.steps.append((name, flops))
        at = equation if within.caller is None else within.caller
        self._leaves.append((at, name, flops, turns * bytes_of(equation)))
        if within.is_certain:
            self.certain += every
            if name in ("dot_general", "conv_general_dilated"):
                dtype = str(equation.invars[0].aval.dtype)
                self.products[dtype] += every
                if within.is_recomputed or is_recomputed(equation):
                    self.recomputed[dtype] += every
        return flops

    def _has_lines(self, programs: Sequence[Any]) -> bool:
        """Whether it is known of any equation on which line it is, as in the user's functions."""
        return any(self._place(each)[1] for inner in programs for each in inner.eqns)

    def _place(self, equation: Any) -> Place:
        key = id(equation.source_info.traceback)
        if key not in self._places:
            self._places[key] = place_of(equation.source_info)
        return self._places[key]


class TooLargeError(Exception):
    """To find out what is used would take too long."""


class Usage(NamedTuple):
    """Operations of a program; loops of unknown length and branches count as none.

    Attributes:
        written: all, with a turn of each `scan` counted once, as XLA counts it.
        unused: those among them whose result nothing uses.
        constant: those among them that are used and depend on no argument.
        primal: those among ``unused`` whose derivative is used: nobody asked for the value.
    """

    written: float = 0.0
    unused: float = 0.0
    constant: float = 0.0
    primal: float = 0.0


class _Step(NamedTuple):
    """An equation; its inputs are numbers of values, or literals."""

    equation: Any
    inputs: Sequence[Any]
    outputs: Sequence[int]
    transformed: str  # by which transformations of JAX, as in "transpose(jvp())"

    @property
    def is_primal(self) -> bool:
        """Whether a derivative needs it, or gives it beside that."""
        return "jvp(" in self.transformed and "transpose(" not in self.transformed


def usage_of(jaxpr: Any) -> Usage:
    """Count what is used in a program, with or without its constants.

    Raises:
        TooLargeError: it would take too long.
    """
    return _usage(_Inlined(inner_jaxpr(jaxpr)), is_live=True, is_constant=False)


def _usage(
    program: "_Inlined", *, is_live: bool, is_constant: bool, derived: bool = False
) -> Usage:
    live, constant = program.live_steps(), program.constant_steps()
    derived = derived or (is_live and any("jvp(" in program.steps[n].transformed for n in live))
    total = Usage()
    for number, step in enumerate(program.steps):
        equation = step.equation
        is_used = is_live and number in live
        is_fixed = is_constant or number in constant
        if equation.primitive.name == "scan":
            (body,) = programs_in(equation)
            within = _Inlined(body, step.transformed)
            counted = _usage(within, is_live=is_used, is_constant=is_fixed, derived=derived)
        else:
            flops = operations_of(equation)
            unused = flops * (not is_used)
            primal = unused * (derived and step.is_primal)
            counted = Usage(flops, unused, flops * (is_used and is_fixed), primal)
        total = Usage(*map(sum, zip(total, counted, strict=True)))
    return total


class _Inlined:
    """The equations of a program, with those of the functions that it calls in their place."""

    def __init__(self, jaxpr: Any, within: str = "") -> None:
        self.steps: list[_Step] = []
        self._numbers = itertools.count()
        self._constants: set[int] = set()
        self._outputs = self._inline(jaxpr, [next(self._numbers) for _ in jaxpr.invars], within)

    def _inline(self, jaxpr: Any, inputs: Sequence[Any], within: str) -> list[Any]:
        values = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable in jaxpr.constvars:
            values[variable] = next(self._numbers)
            self._constants.add(values[variable])
        for equation in jaxpr.eqns:
            if len(self.steps) > _MAX_STEPS:
                raise TooLargeError
            operands = [v if is_literal(v) else values[v] for v in equation.invars]
            inner = called_program(equation)
            transformed = f"{within}/{equation.source_info.name_stack}"
            if inner is None:
                made: list[Any] = [next(self._numbers) for _ in equation.outvars]
                self.steps.append(_Step(equation, operands, made, transformed))
            else:
                made = self._inline(inner_jaxpr(inner), operands, transformed)
            values.update(zip(equation.outvars, made, strict=True))
        return [v if is_literal(v) else values[v] for v in jaxpr.outvars]

    def constant_steps(self) -> set[int]:
        """Return the indices of steps that depend on no argument."""
        known, steps = set(self._constants), set()
        for index, (equation, inputs, outputs, _) in enumerate(self.steps):
            if not equation.effects and all(is_literal(v) or v in known for v in inputs):
                known.update(outputs)
                steps.add(index)
        return steps

    def live_steps(self) -> set[int]:
        """Return the indices of the steps that the outputs or an effect need."""
        needed, steps = {v for v in self._outputs if not is_literal(v)}, set()
        for index, step in reversed([*enumerate(self.steps)]):
            if step.equation.effects or not needed.isdisjoint(step.outputs):
                needed.update(_needed(step))
                steps.add(index)
        return steps


def _needed(step: _Step) -> Iterator[int]:
    """Yield the values that a step needs; of a choice by a constant those that it takes."""
    needed: Sequence[Any] = step.inputs
    if step.equation.primitive.name == "select_n":
        which = getattr(needed[0], "val", None)
        if isinstance(which, bool | int | np.bool_ | np.integer):
            needed = [needed[1 + int(which)]]
    yield from (value for value in needed if not is_literal(value))
