"""What JAX can still tell of a program that was traced: its stages, what XLA makes of it."""

import itertools
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import jax

from ipyjaxbench.adapters.jax.graphs import lint, listing, program, tracing
from ipyjaxbench.adapters.jax.graphs.compiled_work import cost_analysis
from ipyjaxbench.adapters.jax.graphs.library_calls import library_calls
from ipyjaxbench.adapters.jax.graphs.workload import workload_of
from ipyjaxbench.adapters.jax.graphs.xla_costs import (
    counted_cost,
    counted_flops,
    difference,
    memory_needed,
)
from ipyjaxbench.adapters.shared import hlo
from ipyjaxbench.graphs import Compiled, Node, ProgramHandle, Workload, collectives_in
from ipyjaxbench.reports import Note

_PARTITIONS = re.compile(r"\bnum_partitions=(\d+)")


class LiveProgram(ProgramHandle):
    """A program in memory; it is lowered for a platform, or for the default device."""

    program: Any

    def __init__(self, traced: tracing.Traced, platform: str | None = None) -> None:
        self.program = traced.closed
        self._traced, self._platform = traced, platform
        self._texts: dict[str, str] = {}

    def text(self, stage: str) -> str:
        """Return the whole text of a stage; "optimized" compiles it for the default device."""
        if stage not in self._texts:
            self._texts[stage] = self._text(stage)
        return self._texts[stage]

    def _text(self, stage: str) -> str:
        if stage == "jaxpr":
            return listing.text_of(self.program, None)
        if stage == "optimized":
            return hlo.readable(str(self._compiled.as_text()))
        return hlo.readable(tracing.lowered(self._traced, stage, self._platform))

    def compiled(self) -> Compiled | None:
        """Return what XLA makes of it on the default device."""
        cost, memory = cost_analysis(self._compiled), self._compiled.memory_analysis()
        if memory is None:
            return None
        flops, text = counted_flops(cost), str(self._compiled.as_text())
        devices, libraries = _devices(text), library_calls(text)
        theirs = 0.0 if flops is None and libraries else flops
        names = tuple(each.name for each in libraries)
        why = None if theirs is None else difference(self.program, theirs, devices, names)
        return Compiled(
            flops=flops,
            why=why or "",
            moved=counted_cost(cost, "bytes accessed"),
            memory=memory_needed(memory),
            temporary=memory.temp_size_in_bytes,
            collectives=collectives_in(text),
            libraries=libraries,
        )

    def workload(self, nbytes: int) -> Workload | None:
        """Return what it has to do, by its jaxpr, with every turn of each `scan`."""
        return workload_of(self.program, nbytes)

    def checks(self) -> tuple[Note, ...]:
        """Return what it holds that may not be expected."""
        return tuple(lint.checks(self._traced, lambda: self._compiled))

    @cached_property
    def _compiled(self) -> Any:
        wrapper, args, kwargs = self._traced.call
        return jax.jit(wrapper).lower(*args, **kwargs).compile()

    def nodes(self) -> Iterator[Node]:
        """Yield inputs, equations and outputs; those of jitted functions are among them."""
        names: dict[Any, str] = {}
        jaxpr = self.program.jaxpr
        for variable, name in zip(jaxpr.invars, self._traced.names, strict=True):
            names[variable] = f"in{len(names)}"
            yield Node(names[variable], f"{name} {_typed(variable)}")
        yield from _drawn(jaxpr, names, itertools.count())
        yield Node("out", "result", _sources(names, jaxpr.outvars))


def _drawn(jaxpr: Any, names: dict[Any, str], numbers: Iterator[int]) -> Iterator[Node]:
    """Yield a node for each equation; those of jitted functions stand in place of the call.

    The nodes that variables come from are added to the names.
    """
    for equation in jaxpr.eqns:
        jitted = program.jitted_program(equation)
        if jitted is None:
            node = f"n{next(numbers)}"
            inner = equation.params.get("name")
            label = equation.primitive.name + (f" {inner}" if isinstance(inner, str) else "")
            shown = f"{label} {' '.join(map(_typed, equation.outvars))}"
            yield Node(node, shown, _sources(names, equation.invars))
            names |= dict.fromkeys(equation.outvars, node)
        else:
            inside = _carry_names(names, equation.invars, jitted.invars)
            yield from _drawn(jitted, inside, numbers)
            names |= _carry_names(inside, jitted.outvars, equation.outvars)


def _carry_names(names: dict[Any, str], before: Any, after: Any) -> dict[Any, str]:
    """Return the nodes of variables under their names on the other side of a call."""
    pairs = zip(before, after, strict=True)
    return {to: names[v] for v, to in pairs if not program.is_literal(v) and v in names}


def _devices(text: str) -> int:
    """Return among how many devices the work of a compiled program is shared."""
    match = _PARTITIONS.search(text)
    return int(match[1]) if match else 1


def _typed(variable: Any) -> str:
    return str(variable.aval.str_short(short_dtypes=True))


def _sources(names: dict[Any, str], atoms: Any) -> tuple[str, ...]:
    known = map(names.get, program.variables(atoms))
    return tuple(dict.fromkeys(name for name in known if name is not None))
