"""The text of a jaxpr, folded where it is long."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ipyjaxbench.adapters.jax.graphs.program import is_literal, jaxprs_in, programs_in, variables
from ipyjaxbench.graphs import line_of_hidden

_WIDTH = 78
_PARAMETER_CHARACTERS = 40  # of a parameter that is shown where a program is folded
_FIRST_EQUATIONS, _LAST_EQUATIONS = 40, 10  # that are shown at each level


def text_of(closed: Any, depth: int | None) -> str:
    """Return a program as JAX prints it, or with so many levels of inner programs, shorter."""
    if depth is None:
        return str(closed.pretty_print(width=_WIDTH, use_color=False))
    return "\n".join(_Listing(depth).lines(closed.jaxpr, 0))


class _Listing:
    """A line for each equation, inner programs folded below a depth."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._names: dict[Any, str] = {}
        self._unused: set[Any] = set()

    def lines(self, jaxpr: Any, level: int) -> Iterator[str]:
        pad = "    " * level
        used = {*variables(jaxpr.outvars)}.union(*(variables(e.invars) for e in jaxpr.eqns))
        self._unused.update({v for e in jaxpr.eqns for v in e.outvars} - used)
        captured, inputs = (
            " ".join(map(self._typed, taken)) for taken in (jaxpr.constvars, jaxpr.invars)
        )
        yield f"{pad}{{ lambda {captured}; {inputs}. let"
        equations = jaxpr.eqns
        hidden = range(_FIRST_EQUATIONS, len(equations) - _LAST_EQUATIONS)
        for number, equation in enumerate(equations):
            if number not in hidden:
                yield from self._equation(equation, level, pad)
                continue
            if number == _FIRST_EQUATIONS:
                yield f"{pad}    {line_of_hidden(len(hidden), 'equations')}"
            for variable in equation.outvars:  # names are those of the whole program
                self._name(variable)
        yield f"{pad}  in ({', '.join(map(self._name, jaxpr.outvars))}) }}"

    def _equation(self, equation: Any, level: int, pad: str) -> Iterator[str]:
        inner = [*jaxprs_in(equation)]
        inputs = " ".join(map(self._name, equation.invars))
        outputs = " ".join(map(self._typed, equation.outvars))
        called = equation.primitive.name + _shown_parameters(equation)
        if inner and level + 1 > self._depth:
            count = sum(_count(program) for program in inner)
            called += f" (... {count:,} equations)"
        yield f"{pad}    {outputs} = {called} {inputs}"[: 4 * _WIDTH]
        if inner and level + 1 <= self._depth:
            for program in inner:
                yield from self.lines(program, level + 1)

    def _name(self, variable: Any) -> str:
        if is_literal(variable):  # in JAX's words
            value = np.asarray(variable.val)
            return "[...]" if value.shape else str(value.item())
        if variable in self._unused:
            return "_"
        if variable not in self._names:
            self._names[variable] = _letters(len(self._names))
        return self._names[variable]

    def _typed(self, variable: Any) -> str:
        return f"{self._name(variable)}:{variable.aval.str_short(short_dtypes=True)}"


def _count(jaxpr: Any) -> int:
    return sum(1 + sum(map(_count, jaxprs_in(equation))) for equation in jaxpr.eqns)


def _shown_parameters(equation: Any) -> str:
    name = equation.params.get("name")
    shown = [str(name)] if isinstance(name, str) and name else []
    for key, value in equation.params.items():
        if key in ("name", "jaxpr") or value is None or hasattr(value, "eqns"):
            continue
        plain = isinstance(value, int | float | str | tuple) and not isinstance(value, bool)
        if (
            plain
            and value != ()
            and len(str(value)) <= _PARAMETER_CHARACTERS
            and not [*programs_in(equation)]
        ):
            shown.append(f"{key}={value}")
    return f"[{' '.join(shown)}]" if shown else ""


def _letters(number: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
