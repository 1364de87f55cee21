"""The program that a call uses, held against the one that the code of today gives."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ipyjaxbench.adapters.jax.compilation import unused_key
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.program import closed_jaxprs_in, programs_called
from ipyjaxbench.graphs import rolled_back, roots_of
from ipyjaxbench.usercode import Call, Muted, label_arguments

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def trace_anew(
    jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], static: Collection[int | str]
) -> Any:
    """Return the program that a jitted function would be compiled to now; None if not known.

    All that it calls is traced anew, too; what JAX keeps of that no other call finds. What the code
    changes meanwhile is put back; where that is too much nothing is traced.

    Args:
        jitted: the function, or what a library puts around it.
        args: shapes in place of arrays.
        kwargs: likewise.
        static: positions and names of arguments that are static.
    """
    key = unused_key()
    if key is None:
        return None
    labels = label_arguments(jitted, args, kwargs)
    fixed = {name for n, name in enumerate((*labels, *kwargs)) if n in static or name in static}
    call = Call.from_function(jitted, *args, **kwargs)
    with Muted(), rolled_back(roots_of(call)) as left, tracing.silent(), key():
        if left.cut:
            return None
        program = tracing.program_of(call, fixed)
    return next(programs_called(program), None)


def is_same(one: Any, other: Any) -> bool | None:
    """Whether two programs compute the same; None where an array may have changed in place."""
    texts = {_ADDRESS.sub("", str(each.jaxpr)) for each in (one, other)}
    pairs = [*_constants(one)], [*_constants(other)]
    if len(texts) > 1 or len(pairs[0]) != len(pairs[1]):
        return False
    if not all(map(_equal, *pairs)):
        return False
    shared = {id(each) for each in pairs[0] if isinstance(each, np.ndarray)}
    return None if any(id(each) in shared for each in pairs[1]) else True


def _constants(program: Any) -> Iterator[Any]:
    """Yield the arrays of a program, and those of the programs in it."""
    for each in closed_jaxprs_in(program):
        yield from each.consts


def _equal(one: Any, other: Any) -> bool:
    return one is other or bool(np.array_equal(np.asarray(one), np.asarray(other)))
