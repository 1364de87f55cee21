"""What a jaxpr holds that its author may not expect."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import jax

from ipyjaxbench import units
from ipyjaxbench.adapters.jax.graphs import lint_keys, program
from ipyjaxbench.adapters.jax.graphs.lint_promotions import promotions
from ipyjaxbench.adapters.jax.graphs.tracing import Traced
from ipyjaxbench.graphs import line_of, notes
from ipyjaxbench.reports import Note
from ipyjaxbench.usercode import is_users_file

#: What is looked for, in words.
LOOKED_FOR = (
    *("large captured arrays", "unrolled loops", "dtype promotion", "weakly typed results"),
    *("callbacks", "low-precision products", "unused donations"),
    *("recomputation", "resharded results", "reused random keys"),
)
_LARGE_CONSTANT_BYTES = 2**20
_UNROLLED_TIMES = 8  # times that a line is traced
_OUTSIDE = ("callback", "debug_print", "infeed", "outfeed", "device_put")
_NARROW = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
_REMAT = ("checkpoint", "remat", "remat2")


def checks(traced: Traced, compiled: Callable[[], Any]) -> Iterator[Note]:
    """Yield a note for each thing that is worth knowing of a program.

    What XLA makes of it is only asked for where arguments are on several devices.
    """
    everything = [*program.equations_of(traced.closed.jaxpr)]
    for value in program.constants_of(traced.closed):
        if value.nbytes >= _LARGE_CONSTANT_BYTES:
            yield notes.baked_in(units.array(value.dtype, value.shape), value.nbytes)
    yield from _unrolled(traced.closed.jaxpr)
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
    yield from promotions(traced.closed.jaxpr)
    yield from _donated(everything)
    again = sum(name in _REMAT for name in names)
    if again:
        yield notes.recomputed(again)
    yield from _resharded(traced, compiled)
    reused = lint_keys.find_reuse(traced.closed)
    if reused is not None:
        yield notes.key_reused(reused)


def _unrolled(jaxpr: Any) -> Iterator[Note]:
    """Find lines on which each primitive was traced many times, and equally often."""
    places: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for equation, place in program.placed_equations(jaxpr):
        # A library's own loop, as one over the leaves of a tree, is not the user's to roll up.
        if place[1] and is_users_file(program.nearest_of(equation.source_info)[0]):
            places[place][equation.primitive.name] += 1
    for place, counted in places.items():
        times = min(counted.values())
        if times >= _UNROLLED_TIMES:
            yield notes.unrolled(place[1], line_of(*place), times, counted.total())


def _narrow(equations: list[Any]) -> Iterator[Note]:
    dtypes: Counter[str] = Counter()
    for equation in equations:
        if equation.primitive.name in ("dot_general", "conv_general_dilated"):
            dtype = str(equation.invars[0].aval.dtype)
            if dtype in _NARROW and str(equation.outvars[0].aval.dtype) in _NARROW:
                dtypes[dtype] += 1
    if dtypes:
        yield notes.low_precision([*dtypes], dtypes.total())


def _donated(equations: list[Any]) -> Iterator[Note]:
    for equation in equations:
        flags = equation.params.get("donated_invars", ())
        room = Counter(_kind(v) for v in equation.outvars)
        unused = []
        for variable, donated in zip(equation.invars, flags, strict=False):
            if donated and room[_kind(variable)] < 1:
                unused.append(units.array(str(variable.aval.dtype), variable.aval.shape))
            elif donated:
                room[_kind(variable)] -= 1
        if unused:
            yield notes.donated_unused(unused)


def _kind(variable: Any) -> tuple[object, object]:
    return getattr(variable.aval, "shape", None), getattr(variable.aval, "dtype", None)


def _resharded(traced: Traced, compiled: Callable[[], Any]) -> Iterator[Note]:
    """Find results that look like an argument and are on devices in another way."""
    cut = [
        (name, value)
        for name, value in zip(traced.names, traced.values, strict=True)
        if isinstance(value, jax.Array) and len(value.sharding.device_set) > 1
    ]
    if not cut:
        return
    placed = jax.tree.leaves(compiled().output_shardings)
    for aval, sharding in zip(traced.closed.out_avals, placed, strict=False):
        alike = [(n, v) for n, v in cut if (v.shape, v.dtype) == (aval.shape, aval.dtype)]
        if alike and not any(sharding.is_equivalent_to(v.sharding, v.ndim) for _, v in alike):
            name, value = alike[0]
            yield notes.resharded(name, _spec(value.sharding), _spec(sharding))


def _spec(sharding: Any) -> str:
    """Return how arrays are cut, in JAX's own words."""
    return str(getattr(sharding, "spec", sharding)).replace("PartitionSpec", "P")
