"""Counts what a JAX program computes, as its jaxpr describes it. Nothing is run or compiled."""

import math
from collections import defaultdict
from typing import Any

from ipyjaxbench.adapters.jax.graphs.flops import (
    called_program,
    inner_jaxpr,
    operations_of,
    real_operations,
)
from ipyjaxbench.adapters.jax.graphs.program import Place, is_of_library, place_of, programs_in
from ipyjaxbench.graphs import Count, Uncounted, count_by_line

_UNCOUNTED = {
    "sort", "fft", "lu", "qr", "svd", "eigh", "eig", "cholesky", "householder_product", "schur",
    "triangular_solve", "custom_call", "top_k", "pallas_call", "ffi_call", "geqrf", "hessenberg",
}  # fmt: skip


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
    """

    def __init__(self, jaxpr: Any) -> None:
        self.operations = 0
        self.of_complex = self.certain = 0.0
        self.uncounted: dict[Uncounted, None] = {}
        self.products: defaultdict[str, float] = defaultdict(float)
        self.steps: list[tuple[str, float]] = []
        self._leaves: list[tuple[Any, str, float]] = []
        self._places: dict[int, Place] = {}
        self.flops = self._program(inner_jaxpr(jaxpr), 1.0, None, is_certain=True)

    def lines(self) -> tuple[Count, ...]:
        """How much each line of code computes, file by file and in order."""
        return count_by_line((*self._place(at), name, flops) for at, name, flops in self._leaves)

    def _program(self, jaxpr: Any, turns: float, caller: Any, *, is_certain: bool) -> float:
        """Add a program; what a library's function computes is at the line of its caller."""
        return math.fsum(
            self._equation(each, turns, caller, is_certain=is_certain) for each in jaxpr.eqns
        )

    def _equation(self, equation: Any, turns: float, caller: Any, *, is_certain: bool) -> float:
        name, inner = equation.primitive.name, [*programs_in(equation)]
        if name in _UNCOUNTED:
            self.uncounted[Uncounted("operation", name)] = None
        self.operations += 1
        if not inner:
            return self._leaf(equation, turns, caller, is_certain=is_certain)
        self.steps.append((name, 0.0))
        if caller is None and is_of_library(equation):
            caller = equation
        if name == "scan":
            turns *= equation.params["length"]
            return self._program(inner[0], turns, caller, is_certain=is_certain)
        if name == "while":
            self.uncounted[Uncounted("turns")] = None
            return math.fsum(self._program(each, turns, caller, is_certain=False) for each in inner)
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
                turns if each is runs else 0.0,
                caller,
                is_certain=is_certain and each is call,
            )
            for each in inner
        )

    def _leaf(self, equation: Any, turns: float, caller: Any, *, is_certain: bool) -> float:
        name, operations = equation.primitive.name, operations_of(equation)
        flops = turns * operations * real_operations(equation)
        self.of_complex += flops - turns * operations
        self.steps.append((name, flops))
        self._leaves.append((equation if caller is None else caller, name, flops))
        if is_certain:
            self.certain += turns * operations
            if name in ("dot_general", "conv_general_dilated"):
                self.products[str(equation.invars[0].aval.dtype)] += turns * operations
        return flops

    def _place(self, equation: Any) -> Place:
        key = id(equation.source_info.traceback)
        if key not in self._places:
            self._places[key] = place_of(equation.source_info)
        return self._places[key]
