"""The equations, arrays and inner programs of a jaxpr, and the lines of code they come from."""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import jax
from jax._src import source_info_util  # `jax.extend` loads what has all programs traced anew

from ipyjaxbench.adapters.jax.graphs.flops import combines, inner_jaxpr
from ipyjaxbench.graphs import Value
from ipyjaxbench.usercode import PACKAGE, ask, is_file_of, is_users_file

#: File and line.
Place: TypeAlias = tuple[str, int]

_JITTED = ("jit", "pjit")
_RECOMPUTED = "rematted_computation"  # the scope in which `jax.checkpoint` computes again


def values_of(avals: Any, names: Any = (), values: Any = ()) -> tuple[Value, ...]:
    """Describe arrays by their types; some types of libraries have shapes in their values alone."""
    rows = itertools.zip_longest(avals, names, values)
    return tuple(_value(name or "", aval, value) for aval, name, value in rows)


def constants_of(closed: Any) -> tuple[Value, ...]:
    """Return arrays that are part of the program and of those in it, the largest first."""
    every = [c for each in closed_jaxprs_in(closed) for c in each.consts]
    # What computes shapes alone, as `jax.eval_shape`, leaves shapes here.
    arrays = {id(c): c for c in every if not isinstance(c, jax.ShapeDtypeStruct)}
    values = [_value("", jax.typeof(c) if hasattr(jax, "typeof") else jax.core.get_aval(c))
              for c in arrays.values()]  # fmt: skip
    return tuple(sorted(values, key=lambda each: -each.nbytes))


def placed_equations(jaxpr: Any, place: Place | None = None) -> Iterator[tuple[Any, Place]]:
    """Yield each equation, those of inner programs too, with file and line of the user's code.

    JAX keeps traces of its own jitted functions, with the lines of the first call: what is in
    them is at the line that calls them.
    """
    for equation in jaxpr.eqns:
        here = place or place_of(equation.source_info)
        yield equation, here
        for inner in programs_in(equation):
            yield from placed_equations(inner, here if is_of_library(equation) else place)


def place_of(info: Any) -> Place:
    """Return file and line of the user's code that an equation comes from; 0 if there is none.

    That is the innermost line that is in no library: where a library computes, its call.
    """
    frames = getattr(info.traceback, "frames", None)
    if frames is None:
        return nearest_of(info)
    for frame in frames:
        if frame.file_name.startswith(PACKAGE):  # what is further out is the cell that looks
            break
        if is_users_file(frame.file_name):
            return frame.file_name, frame.line_num
    return "", 0


def nearest_of(info: Any) -> Place:
    """Return file and line of the innermost code that is not JAX's, be it a library's."""
    parts = source_info_util.summarize(info).partition(" (")[0].split(":")
    while len(parts) > 2 and parts[-1].isdigit() and parts[-2].isdigit():
        parts.pop()  # the column
    return (":".join(parts[:-1]), int(parts[-1])) if parts[-1].isdigit() else ("", 0)


def is_of_library(equation: Any) -> bool:
    """Whether an equation calls a jitted function that is not the user's."""
    if equation.primitive.name not in _JITTED:
        return False
    file = _source_of(equation)
    return not file or not is_users_file(file)


def is_recomputed(equation: Any) -> bool:
    """Whether `jax.checkpoint` does an equation again in the backward pass."""
    return _RECOMPUTED in str(equation.source_info.name_stack)


def jitted_program(equation: Any) -> Any | None:
    """Return the program of the jitted function that an equation calls; None if it calls none."""
    return equation.params["jaxpr"].jaxpr if equation.primitive.name in _JITTED else None


def jitted_by_user(closed: Any) -> dict[str, str]:
    """Return names of jitted functions in a program that are not JAX's own, with their sources."""
    names: dict[str, str] = {}
    for equation in closed.jaxpr.eqns:
        if equation.primitive.name not in _JITTED:
            continue
        inner = equation.params["jaxpr"]
        source = _source_of(equation)
        if source and not is_file_of(source, "jax"):
            names[str(equation.params["name"])] = _described(equation)
        names = jitted_by_user(inner) | names
    return names


def _source_of(equation: Any) -> str:
    """Return the file of a jitted function, and more; empty where it is not known."""
    return _described(equation).rpartition(" at ")[2]


def _described(equation: Any) -> str:
    """Return a jitted function's name and place, as JAX says them; empty where it does not."""
    info = getattr(equation.params["jaxpr"].jaxpr, "debug_info", None)
    return str(getattr(info, "func_src_info", None) or "")


def equations_of(jaxpr: Any) -> Iterator[Any]:
    """Yield the equations of a program, each followed by those of the programs in it."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in programs_in(equation):
            yield from equations_of(inner)


def programs_in(equation: Any) -> Iterator[Any]:
    """Yield the jaxprs that an equation runs, but for how it combines two numbers."""
    if not combines(equation):
        yield from jaxprs_in(equation)


def jaxprs_in(equation: Any) -> Iterator[Any]:
    """Yield the jaxprs among an equation's parameters, without their constants."""
    yield from map(inner_jaxpr, programs_within(equation))


def programs_within(equation: Any) -> Iterator[Any]:
    """Yield the jaxprs among an equation's parameters, with their constants where they have any."""
    for each in _parameters(equation):
        if hasattr(inner_jaxpr(each), "eqns"):
            yield each


def programs_called(closed: Any) -> Iterator[Any]:
    """Yield the programs of jitted functions that a program calls."""
    for equation in closed.jaxpr.eqns:
        if equation.primitive.name in _JITTED:
            yield equation.params["jaxpr"]


def closed_jaxprs_in(closed: Any) -> Iterator[Any]:
    """Yield a program and those in it that have arrays of their own."""
    yield closed
    for each in itertools.chain.from_iterable(map(_parameters, closed.jaxpr.eqns)):
        if hasattr(each, "consts") and hasattr(each, "jaxpr"):
            yield from closed_jaxprs_in(each)


def _parameters(equation: Any) -> Iterator[Any]:
    """Yield the parameters of an equation, and those in sequences."""
    for parameter in equation.params.values():
        yield from parameter if isinstance(parameter, tuple | list) else (parameter,)


def is_literal(atom: Any) -> bool:
    """Whether an input or output of an equation is a number that stands in the program."""
    return hasattr(atom, "val")


def variables(atoms: Iterable[Any]) -> list[Any]:
    """Return the inputs or outputs that are no literals."""
    return [atom for atom in atoms if not is_literal(atom)]


def _value(name: str, aval: Any, value: Any = None) -> Value:
    shaped: Any = next((each for each in (aval, value) if ask(_has_shape, each)), None)
    if shaped is None:
        return Value(name, str(aval).removesuffix("()"), None, 0, sized=False)
    shape = tuple(int(n) if isinstance(n, int) else -1 for n in shaped.shape)
    size = getattr(shaped.dtype, "itemsize", 0) * math.prod(shape)
    weak = bool(getattr(shaped, "weak_type", False))
    return Value(name, str(shaped.dtype), shape, max(size, 0), weak)


def _has_shape(value: Any) -> bool:
    return isinstance(value.shape, tuple) and value.dtype is not None


def refuse_leaks(closed: Any) -> None:
    """Raise where a value of an earlier trace is used: `jax.make_jaxpr` takes it for a constant."""
    held = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    leaked = {var: value for var, value in held if isinstance(value, jax.core.Tracer)}
    for equation in closed.jaxpr.eqns:
        used = [leaked[v] for v in variables(equation.invars) if v in leaked]
        if used:
            from ipyjaxbench.adapters.jax.diagnosis.leaks import message_about

            error = jax.errors.UnexpectedTracerError(message_about(used[0]))
            error.place = place_of(equation.source_info)
            raise error
