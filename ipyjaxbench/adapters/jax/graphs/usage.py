"""Which of what a JAX program computes is not used, or depends on no argument."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipyjaxbench.adapters.jax.graphs.flops import called_program, inner_jaxpr, operations_of
from ipyjaxbench.adapters.jax.graphs.program import is_literal, programs_in

_MOST_STEPS = 20_000


class TooLargeError(Exception):
    """To find out what is used would take too long."""


class Usage(NamedTuple):
    """Operations of a program; loops of unknown length and branches count as none.

    Attributes:
        written: all, with a turn of each `scan` counted once, as XLA counts it.
        unused: those among them whose result nothing uses.
        constant: those among them that are used and depend on no argument.
    """

    written: float = 0.0
    unused: float = 0.0
    constant: float = 0.0


class _Step(NamedTuple):
    """An equation; its inputs are numbers of values, or literals."""

    equation: Any
    inputs: Sequence[Any]
    outputs: Sequence[int]


def usage_of(jaxpr: Any) -> Usage:
    """Count what is used in a program, with or without its constants.

    Raises:
        TooLargeError: it would take too long.
    """
    return _usage(inner_jaxpr(jaxpr), is_live=True, is_constant=False)


def _usage(jaxpr: Any, *, is_live: bool, is_constant: bool) -> Usage:
    program = _Inlined(jaxpr)
    live, constant = program.live_steps(), program.constant_steps()
    total = Usage()
    for number, (equation, _, _) in enumerate(program.steps):
        is_used = is_live and number in live
        is_fixed = is_constant or number in constant
        if equation.primitive.name == "scan":
            (body,) = programs_in(equation)
            counted = _usage(body, is_live=is_used, is_constant=is_fixed)
        elif any(True for _ in programs_in(equation)):
            continue
        else:
            flops = operations_of(equation)
            counted = Usage(flops, flops * (not is_used), flops * (is_used and is_fixed))
        total = Usage(*map(sum, zip(total, counted, strict=True)))
    return total


class _Inlined:
    """The equations of a program, with those of the functions that it calls in their place."""

    def __init__(self, jaxpr: Any) -> None:
        self.steps: list[_Step] = []
        self._numbers = itertools.count()
        self._constants: set[int] = set()
        self._outputs = self._inline(jaxpr, [next(self._numbers) for _ in jaxpr.invars])

    def _inline(self, jaxpr: Any, inputs: Sequence[Any]) -> list[Any]:
        values = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable in jaxpr.constvars:
            values[variable] = next(self._numbers)
            self._constants.add(values[variable])
        for equation in jaxpr.eqns:
            if len(self.steps) > _MOST_STEPS:
                raise TooLargeError
            given = [v if is_literal(v) else values[v] for v in equation.invars]
            inner = called_program(equation)
            if inner is None:
                made: list[Any] = [next(self._numbers) for _ in equation.outvars]
                self.steps.append(_Step(equation, given, made))
            else:
                made = self._inline(inner_jaxpr(inner), given)
            values.update(zip(equation.outvars, made, strict=True))
        return [v if is_literal(v) else values[v] for v in jaxpr.outvars]

    def constant_steps(self) -> set[int]:
        """Return the indices of steps that depend on no argument."""
        known, found = set(self._constants), set()
        for index, (equation, inputs, outputs) in enumerate(self.steps):
            if not equation.effects and all(is_literal(v) or v in known for v in inputs):
                known.update(outputs)
                found.add(index)
        return found

    def live_steps(self) -> set[int]:
        """Return the indices of steps of which something is used, which the last ones show."""
        needed, found = {v for v in self._outputs if not is_literal(v)}, set()
        for index, step in reversed([*enumerate(self.steps)]):
            if step.equation.effects or not needed.isdisjoint(step.outputs):
                needed.update(_needed(step))
                found.add(index)
        return found


def _needed(step: _Step) -> Iterator[int]:
    """Yield the values that a step needs; of a choice by a constant those that it takes."""
    needed: Sequence[Any] = step.inputs
    if step.equation.primitive.name == "select_n":
        which = getattr(needed[0], "val", None)
        if isinstance(which, bool | int | np.bool_ | np.integer):
            needed = [needed[1 + int(which)]]
    yield from (value for value in needed if not is_literal(value))
