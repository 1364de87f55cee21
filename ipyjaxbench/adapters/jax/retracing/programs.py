"""The program that a call uses, held against the one that the code of today gives."""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any

import jax
import numpy as np
from jax.interpreters import partial_eval

from ipyjaxbench.adapters.jax.compilation import unused_key
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.isolation import JaxUndoLog
from ipyjaxbench.adapters.jax.graphs.program import (
    closed_jaxprs_in,
    placed_equations,
    programs_called,
)
from ipyjaxbench.adapters.jax.retracing.computation import Computation
from ipyjaxbench.adapters.shared.imprints import imprint_numpy
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import rolled_back, roots_of
from ipyjaxbench.usercode import (
    Call,
    Imprint,
    LoadedNames,
    Muted,
    find_reads,
    is_users_file,
    label_arguments,
    unlogged,
)

_NOTHING_HELD: Mapping[int, Imprint] = MappingProxyType({})
_MOST_EQUATIONS = 5_000  # which take about half a second to trace
#: What tells apart functions in the text of a program that are the same but for where they are, and
#: the names of rules, which the program does not run.
_PLACE = re.compile(r"0x[0-9a-f]+|\b(?:jvp|fwd|bwd)=\S+")


def is_todays(
    used: Any,
    jitted: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    static: Collection[int | str],
    *,
    held: Mapping[int, Imprint],
    check: bool,
) -> bool | None:
    """Whether a jitted function would be compiled to the same program now; None if not known.

    It is traced again, and all that it calls, too; JAX keeps these traces where no call of the
    user's finds them. What the code changes while it is traced is put back. If there is too much to
    put back, nothing is traced.

    Args:
        used: the program that calls use.
        jitted: the function, or what a library puts around it.
        args: the arguments, with shapes in place of arrays.
        kwargs: the named ones, likewise.
        static: positions and names of static arguments.
        held: the values that NumPy arrays in the program had when it was traced, by identity: the
            arrays themselves may have changed since.
        check: if the programs differ, trace twice more, and answer None if these two differ, too:
            code that draws random numbers gives another program each time.
    """
    call, fixed = _call_of(jitted, args, kwargs, static)
    with Muted(), unlogged(), rolled_back(roots_of(call)) as left, tracing.silent():
        if left.cut:
            return None
        new = _anew(lambda: next(programs_called(tracing.traced_as(call, fixed).closed), None))
        same = is_same(used, new, held)
        if check and same is False:  # with what it draws and counts not put back between two
            with JaxUndoLog(call):
                two = [_anew(lambda: jitted.trace(*args, **kwargs).jaxpr) for _ in range(2)]
            same = None if not is_same(*two) else same
        return same


def program_now(
    jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], static: Collection[int | str]
) -> Any:
    """Return what a jitted function would be compiled to now; None if not known. See `is_todays`.

    What it draws at random is the same each time.
    """
    call, fixed = _call_of(jitted, args, kwargs, static)
    with Muted(), unlogged(), rolled_back(roots_of(call)) as left, tracing.silent():
        if left.cut:
            return None
        return _anew(lambda: next(programs_called(tracing.traced_as(call, fixed).closed), None))


def names_used(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], static: Collection[int | str]
) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return names that the user's code loads where it is traced now, and those that it changes.

    None if not known.
    """
    call, fixed = _call_of(function, args, kwargs, static)
    for _ in range(LoadedNames.runs):
        with Muted(), unlogged(), rolled_back(roots_of(call)) as left, tracing.silent():
            if left.cut:
                return None
            with LoadedNames() as loaded:
                traced = _anew(lambda: tracing.traced_as(call, fixed))
    if traced is None or loaded.names is None:
        return None
    effects = traced.side_effects
    return loaded.names, frozenset((*effects.restored, *effects.tracers_restored))


def _call_of(
    jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], static: Collection[int | str]
) -> tuple[Call, set[str]]:
    """Return a call, and the names of its static arguments."""
    labels = label_arguments(jitted, args, kwargs)
    fixed = {name for n, name in enumerate((*labels, *kwargs)) if n in static or name in static}
    return Call.from_function(jitted, *args, **kwargs), fixed


def _anew(trace: Callable[[], Any]) -> Any:
    """Have JAX find nothing that was traced before; None where it cannot be told to."""
    key = unused_key()
    if key is None:
        return None
    with key():
        return trace()


def kept(jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the program that JAX keeps for such a call; None if it is not known, or large.

    Raises:
        RuntimeError: it keeps none.
    """
    if not hasattr(jax, "no_tracing") or not hasattr(jitted, "trace"):
        return None
    with tracing.silent(), jax.no_tracing(True):  # noqa: FBT003
        program = jitted.trace(*args, **kwargs).jaxpr
    return None if is_too_large(program) else program


def is_too_large(program: Any, times: int = 1) -> bool:
    """Whether it takes too long to trace one so often."""
    equations = sum(len(each.jaxpr.eqns) for each in closed_jaxprs_in(program))
    return equations * times > _MOST_EQUATIONS


def imprint_constants(program: Any) -> dict[int, Imprint]:
    """Return what the arrays of a program hold that can change in place, by their identities."""
    mutable = [each for each in _constants(program) if isinstance(each, np.ndarray)]
    return {id(each): imprint_numpy(each) for each in mutable}


def is_same(one: Any, other: Any, held: Mapping[int, Imprint] = _NOTHING_HELD) -> bool | None:
    """Whether two programs compute the same; None if unknown, as of arrays changed in place.

    Args:
        one: of before.
        other: of today.
        held: what arrays of the first one held when it was traced, as far as that is known.
    """
    if one is None or other is None:
        return None
    found = _is_same(one, other, held)
    if found is False:  # What nothing uses is not compiled.
        one, other = _live(one), _live(other)
        found = _is_same(one, other, held)
    if found is False:  # Nor is it compiled otherwise for how its numbers are typed.
        first, second = (Computation(each, held) for each in (one, other))
        if first.content == second.content:
            found = _hold_the_same(one, other, (first.arrays, second.arrays), held)
    return found


def _live(program: Any) -> Any:
    """Return a program without equations whose results nothing uses; as it is if that fails."""
    jaxpr = program.jaxpr
    try:
        live, used, _ = partial_eval.dce_jaxpr_consts(jaxpr, [True] * len(jaxpr.outvars))
    except CODE_ERRORS:  # another version
        return program
    return SimpleNamespace(jaxpr=live, consts=[*itertools.compress(program.consts, used)])


def _is_same(one: Any, other: Any, held: Mapping[int, Imprint]) -> bool | None:
    texts = {_PLACE.sub("", str(each.jaxpr)) for each in (one, other)}
    pairs = [*_constants(one)], [*_constants(other)]
    return len(texts) == 1 and _hold_the_same(one, other, pairs, held)


def _hold_the_same(
    one: Any, other: Any, pairs: tuple[list[Any], list[Any]], held: Mapping[int, Imprint]
) -> bool | None:
    """Whether programs of the same operations have the same arrays, those in pairs, and callbacks.

    None if unknown, as of arrays changed in place.
    """
    if len(pairs[0]) != len(pairs[1]):
        return False
    if not all(map(_equal, *pairs)) or not all(map(_are_alike, _called(one), _called(other))):
        return False
    mine = {id(each) for each in pairs[0] if isinstance(each, np.ndarray)}
    shared = [each for each in pairs[1] if id(each) in mine]
    if any(id(each) not in held for each in shared):
        return None
    # Of large ones a part tells, as where names are compared.
    return all(held[id(each)].content == imprint_numpy(each).content for each in shared)


def _constants(program: Any) -> Iterator[Any]:
    """Yield the arrays of a program, and those of the programs in it."""
    for each in closed_jaxprs_in(program):
        yield from each.consts


def _called(program: Any) -> Iterator[Any]:
    """Yield the callbacks in a program; its text shows only their names."""
    for equation, _ in placed_equations(program.jaxpr):
        yield from filter(callable, equation.params.values())


def has_rules(program: Any) -> bool:
    """Whether rules of the user's say how parts of a program are differentiated.

    JAX calls them when it differentiates the program, and keeps what they gave.
    """
    equations = (equation for equation, _ in placed_equations(program.jaxpr))
    custom = (each for each in equations if each.primitive.name.startswith("custom_"))
    values = (value for each in custom for value in each.params.values())
    return any(is_users_file(_file_of(each)) for each in values if not hasattr(each, "eqns"))


def _file_of(rule: Any) -> str:
    """Return where a function in a program was written (private); "" of all else."""
    info = str(getattr(getattr(rule, "debug_info", None), "func_src_info", ""))
    return info.partition(" at ")[2].rpartition(":")[0]


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two callables have the same code and close over the same visible values."""
    return one is other or _shown_of(one) == _shown_of(other)


def _shown_of(called: Any) -> tuple[int, dict[str, Any]]:
    reads = find_reads(called, {}, _imprint)
    shown = {path: each for path, each in reads.values.items() if each.kind != "opaque"}
    return reads.own, {path: each.content for path, each in shown.items()}


def _imprint(value: Any) -> Imprint | None:
    return imprint_numpy(numbers_of(value)) if isinstance(value, jax.Array | np.ndarray) else None


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    first, second = numbers_of(one), numbers_of(other)
    is_alike = (first.dtype, first.shape) == (second.dtype, second.shape)
    return is_alike and first.tobytes() == second.tobytes()  # NaN is NaN to a program


def numbers_of(array: Any) -> Any:
    """Return the numbers of an array, or of keys of a random generator."""
    is_key = jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(array) if is_key else array)
