"""What a jaxpr holds that its author may not expect."""

import importlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ipyjaxbench import notes, units
from ipyjaxbench.frameworks.jax import program
from ipyjaxbench.frameworks.jax.tracing import Traced
from ipyjaxbench.graph_parts import line_of
from ipyjaxbench.notes import Note

_LARGE = 2**20  # bytes
_OFTEN = 8  # times that a line is traced
_OUTSIDE = ("callback", "debug_print", "infeed", "outfeed", "device_put")
_NARROW = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
_REMAT = ("checkpoint", "remat", "remat2")


def checks(traced: Traced) -> Iterator[Note]:
    """Look through a program.

    Args:
        traced: the program.

    Yields:
        A Note for each thing that is worth knowing.
    """
    everything = [*_equations(traced.closed.jaxpr)]
    for value in program.constants_of(traced.closed):
        if value.nbytes >= _LARGE:
            yield notes.baked_in(units.array(value.dtype, value.shape), value.nbytes)
    yield from _unrolled(everything)
    weak = [
        units.array(str(aval.dtype), aval.shape)
        for aval in traced.closed.out_avals
        if getattr(aval, "weak_type", False)
    ]
    if weak:
        yield notes.weak_output(weak)
    names = [each.primitive.name for each in everything]
    outside = [name for name in dict.fromkeys(names) if any(word in name for word in _OUTSIDE)]
    if outside:
        yield notes.called_back(outside)
    yield from _narrow(everything)
    yield from _donated(everything)
    again = sum(name in _REMAT for name in names)
    if again:
        yield notes.recomputed(again)
    yield from _keys(traced.closed)


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation
        for inner in program.programs_in(equation):
            yield from _equations(inner)


def _unrolled(equations: list[Any]) -> Iterator[Note]:
    """Lines on which each primitive stands as often, and often."""
    places: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for equation in equations:
        place = program.place_of(equation.source_info)
        if place[1]:
            places[place][equation.primitive.name] += 1
    for place, counted in places.items():
        times = min(counted.values())
        if times >= _OFTEN:
            yield notes.unrolled(place[1], line_of(*place), times, counted.total())


def _narrow(equations: list[Any]) -> Iterator[Note]:
    dtypes: Counter[str] = Counter()
    for equation in equations:
        if equation.primitive.name in ("dot_general", "conv_general_dilated"):
            given = str(equation.invars[0].aval.dtype)
            if given in _NARROW and str(equation.outvars[0].aval.dtype) in _NARROW:
                dtypes[given] += 1
    if dtypes:
        yield notes.low_precision([*dtypes], dtypes.total())


def _donated(equations: list[Any]) -> Iterator[Note]:
    for equation in equations:
        given = equation.params.get("donated_invars", ())
        room = Counter(_kind(v) for v in equation.outvars)
        unused = []
        for variable, donated in zip(equation.invars, given, strict=False):
            if donated and room[_kind(variable)] < 1:
                unused.append(units.array(str(variable.aval.dtype), variable.aval.shape))
            elif donated:
                room[_kind(variable)] -= 1
        if unused:
            yield notes.donated_unused(unused)


def _kind(variable: Any) -> tuple[object, object]:
    return getattr(variable.aval, "shape", None), getattr(variable.aval, "dtype", None)


def _keys(closed: Any) -> Iterator[Note]:
    """JAX's own rules of keys, where this version has them in the place that is known."""
    try:
        rules = importlib.import_module("jax.experimental.key_reuse._core")
        check, error = rules.check_key_reuse_jaxpr, rules.KeyReuseError
    except (ImportError, AttributeError):
        return
    try:
        check(closed.jaxpr)
    except error as reused:
        yield notes.key_reused(str(reused).splitlines()[0])
    except Exception:  # noqa: BLE001  a rule that this version lacks says nothing of the program
        return
