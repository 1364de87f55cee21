"""Counts what a JAX program computes, as its jaxpr describes it. Nothing is run or compiled."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ipyjaxbench.adapters.jax.graphs.flops import called, opened, operations_of, real_operations
from ipyjaxbench.adapters.jax.graphs.program import Place, is_of_library, place_of, programs_in
from ipyjaxbench.graphs import Count, by_line, by_name

_UNCOUNTED = {
    "sort", "fft", "lu", "qr", "svd", "eigh", "eig", "cholesky", "householder_product", "schur",
    "triangular_solve", "custom_call", "top_k", "pallas_call", "ffi_call", "geqrf", "hessenberg",
}  # fmt: skip
_UNKNOWN_TURNS = "the turns of a while loop are not known: one was counted"
_ONE_BRANCH = "one branch of a cond was counted, the costliest"
_MOST_STEPS = 20_000
_NONE: Mapping[Any, Any] = MappingProxyType({})


class TooLargeError(Exception):
    """To find out what is used would take too long."""


class _Use(NamedTuple):
    """What is known of an equation, or of a program.

    Attributes:
        is_certain: whether it runs as often as the code says: no loop of unknown length, no branch.
        is_live: whether anything that it gives is used.
        is_constant: whether all of it depends on no argument.
        fixed: for each input whether it depends on no argument.
        used: for each output whether it is used; None if all are.
        literals: the numbers that some inputs are.
    """

    is_certain: bool = True
    is_live: bool = True
    is_constant: bool = False
    fixed: Sequence[bool] = ()
    used: Sequence[bool] | None = None
    literals: Mapping[Any, Any] = _NONE


class Tally:
    """How much a program computes.

    Args:
        jaxpr: the program, with or without its constants.
        finds_use: whether to find, too, what nothing uses and what depends on no argument.

    Attributes:
        operations: equations, those of inner programs among them.
        flops: floating-point operations of real numbers, with every turn of each `scan`.
        of_complex: those that there are because numbers are complex.
        uncounted: what is not known, in words.
        certain: operations of any numbers; loops of unknown length and branches count as none.
        written: those of ``certain`` with a turn of each `scan` counted once, as XLA counts it.
        unused: those among ``written`` whose result nothing uses.
        constant: those among ``written`` that depend on no argument.
        products: those among ``certain`` of matrix products and convolutions, by dtype.

    Raises:
        TooLargeError: it would take too long to find the use.
    """

    def __init__(self, jaxpr: Any, *, finds_use: bool = False) -> None:
        self.operations = 0
        self.of_complex = self.certain = self.written = self.unused = self.constant = 0.0
        self.uncounted: dict[str, None] = {}
        self.products: defaultdict[str, float] = defaultdict(float)
        self._finds_use = finds_use
        self._count = 0
        self._every: list[tuple[str, float]] = []
        self._leaves: list[tuple[Any, str, float]] = []
        self._places: dict[int, Place] = {}
        self.flops = self._program(opened(jaxpr), 1.0, None, _Use())

    def primitives(self) -> tuple[Count, ...]:
        """How often each primitive is computed, the costliest first."""
        return by_name(self._every)

    def lines(self) -> tuple[Count, ...]:
        """How much each line of code computes, file by file and in order."""
        return by_line((*self._place(at), name, flops) for at, name, flops in self._leaves)

    def _program(self, jaxpr: Any, turns: float, caller: Any, use: _Use) -> float:
        """Add a program; what a library's function computes is at the line of its caller."""
        uses: Iterable[_Use] = itertools.repeat(use)
        if self._finds_use and use.is_certain:
            uses = self._uses_of(jaxpr, use)
        pairs = zip(jaxpr.eqns, uses, strict=False)
        return math.fsum(self._equation(each, turns, caller, its) for each, its in pairs)

    def _equation(self, equation: Any, turns: float, caller: Any, use: _Use) -> float:
        name, inner = equation.primitive.name, [*programs_in(equation)]
        if name in _UNCOUNTED:
            self.uncounted[f"{name} is not counted"] = None
        self.operations += 1
        if not inner:
            return self._leaf(equation, turns, caller, use)
        self._every.append((name, 0.0))
        if caller is None and is_of_library(equation):
            caller = equation
        if name == "scan":
            body = _Use(use.is_certain, use.is_live, use.is_constant)
            return self._program(inner[0], turns * equation.params["length"], caller, body)
        unknown = _Use(is_certain=False)
        if name == "while":
            self.uncounted[_UNKNOWN_TURNS] = None
            return math.fsum(self._program(each, turns, caller, unknown) for each in inner)
        # A function with its own derivative holds that too: what runs comes first.
        runs = inner[0]
        if name == "cond":
            self.uncounted[_ONE_BRANCH] = None
            runs = max(inner, key=lambda branch: Tally(branch).flops)
        if name == "custom_linear_solve":
            solve = getattr(equation.params.get("jaxprs"), "solve", None)
            runs = getattr(solve, "jaxpr", runs)
        call = opened(called(equation))
        # What does not run is listed, and costs nothing.
        return math.fsum(
            self._program(
                each, turns if each is runs else 0.0, caller, use if each is call else unknown
            )
            for each in inner
        )

    def _leaf(self, equation: Any, turns: float, caller: Any, use: _Use) -> float:
        name, operations = equation.primitive.name, operations_of(equation)
        flops = turns * operations * real_operations(equation)
        self.of_complex += flops - turns * operations
        self._every.append((name, flops))
        self._leaves.append((equation if caller is None else caller, name, flops))
        if use.is_certain:
            self.certain += turns * operations
            self.written += operations
            self.unused += 0.0 if use.is_live else operations
            self.constant += operations if use.is_live and use.is_constant else 0.0
            if name in ("dot_general", "conv_general_dilated"):
                self.products[str(equation.invars[0].aval.dtype)] += turns * operations
        return flops

    def _place(self, equation: Any) -> Place:
        key = id(equation.source_info.traceback)
        if key not in self._places:
            self._places[key] = place_of(equation.source_info)
        return self._places[key]

    def _uses_of(self, jaxpr: Any, use: _Use) -> list[_Use]:
        """The use of each equation, which shows from the last one to the first."""
        outputs = zip(jaxpr.outvars, use.used or [True] * len(jaxpr.outvars), strict=True)
        needed = {v for v, is_used in outputs if is_used and not _is_literal(v)}
        uses = []
        for step, fixed, is_fixed in reversed([*self._steps_of(jaxpr, use.fixed)]):
            gives = [v in needed for v in step.outvars]
            is_live = use.is_live and (bool(step.effects) or any(gives))
            inner = called(step)
            literals = _NONE if inner is None else _numbers_given(step, inner, use.literals)
            is_constant = use.is_constant or is_fixed
            uses.append(_Use(True, is_live, is_constant, fixed, gives, literals))  # noqa: FBT003
            if is_live:
                needed.update(self._needed(step, gives, use.literals))
        return uses[::-1]

    def _needed(
        self, step: Any, gives: Sequence[bool], literals: Mapping[Any, Any]
    ) -> Iterator[Any]:
        """The variables that an equation needs for those of its results that are used."""
        name, inner = step.primitive.name, called(step)
        used = [True] * len(step.invars)
        if name == "select_n" and (which := _number(step.invars[0], literals)) is not None:
            used = [index == 1 + int(which) for index in range(len(step.invars))]
        elif inner is not None and not step.effects:
            used = self._used_inputs(opened(inner), gives, _numbers_given(step, inner, literals))
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
        self._count += 1
        if self._count > _MOST_STEPS:
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
            inner = called(step)
            if all_known:
                known.update(step.outvars)
            elif inner is not None:
                known.update(self._known_outputs(step, opened(inner), inputs))
            yield step, inputs, all_known

    def _known_outputs(self, step: Any, inner: Any, inputs: Sequence[bool]) -> Iterator[Any]:
        known = set(inner.constvars)
        known |= {v for v, is_fixed in zip(inner.invars, inputs, strict=False) if is_fixed}
        for each, _, all_known in self._steps_of(inner, inputs):
            known |= set(each.outvars) if all_known else set()
        for outer, v in zip(step.outvars, inner.outvars, strict=True):
            if _is_literal(v) or v in known:
                yield outer


def _is_literal(variable: Any) -> bool:
    return type(variable).__name__ == "Literal"


def _number(variable: Any, literals: Mapping[Any, Any]) -> Any | None:
    """The one number that a variable is; None where it is not known."""
    found = variable.val if _is_literal(variable) else literals.get(variable)
    return found if isinstance(found, bool | int | np.bool_ | np.integer) else None


def _numbers_given(step: Any, inner: Any, literals: Mapping[Any, Any]) -> dict[Any, Any]:
    """The numbers that some inputs of a called program are."""
    given = zip(opened(inner).invars, step.invars, strict=True)
    numbers = ((v, _number(outer, literals)) for v, outer in given)
    return {v: number for v, number in numbers if number is not None}
