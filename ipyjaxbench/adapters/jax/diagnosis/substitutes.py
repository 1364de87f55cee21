"""What to give a function in place of what it was given: each is tried by tracing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.diagnosis.static_jit import static_jit
from ipyjaxbench.adapters.jax.graphs import numpy_to_jax, tracing
from ipyjaxbench.adapters.jax.graphs.static_search import is_declared
from ipyjaxbench.adapters.jax.jit import is_jitted
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.graphs import Fix
from ipyjaxbench.usercode import Call, is_a, is_of, message_of, module_of, name_of, unwrap

_LARGE = 1000
_EACH = "one compilation for each value"
#: JAX's words where it takes the derivative of an integer.
_NEEDS_FLOATS = "grad requires real- or complex-valued inputs"


@dataclass(frozen=True)
class _Other:
    """What could be given.

    Attributes:
        name: of the argument.
        value: what to give.
        code: that, as it is written.
        words: what it is, and why.
        static: whether it has to be static.
    """

    name: str
    value: Any
    code: str
    words: str
    static: bool = False


def given(call: Call, error: Exception) -> Iterator[Fix]:
    """Arguments of another type with which a call traces.

    Args:
        call: as it was tried.
        error: what tracing it raised.

    Yields:
        A fix for the first argument with which it does.
    """
    function = name_of(call.function)
    for other in _others(call, error):
        changed = _with(call, other.name, other.value)
        try:
            traced = tracing.trace(changed)
        except tracing.NoChoiceError:
            continue
        needed = list(dict.fromkeys([*traced.static, *([other.name] if other.static else [])]))
        if needed and not is_jitted(call.function) and function.isidentifier():
            if other.static:
                yield Fix(static_jit(_function(call), needed), f"{other.words}; {_EACH}")
                return
            static = needed[0] if len(needed) == 1 else tuple(needed)
            yield Fix(other.code, f"{other.words}; with static_argnames={static!r}")
        else:
            yield Fix(other.code, other.words)
        return


def of_jax(call: Call, static: Sequence[str]) -> Iterator[Fix]:
    """The function of jax.numpy in place of one of NumPy, where that was called itself."""
    function = numpy_to_jax.with_jax_numpy(call.function)
    changed, name = replace(call, function=function), name_of(function)
    if function is call.function or vars(jnp).get(name) is not function:
        return
    if tracing.traces(changed, static):
        yield Fix(f"jax.numpy.{name}", "%jaxpr --np shows what NumPy's functions are in JAX")


def one_jit(call: Call) -> Iterator[Fix]:
    """One jit with static arguments, in place of several, where that is what a call needs."""
    layers = [*_layers(call.function)]
    plain = unwrap(call.function)
    if not layers or not all(map(is_jitted, layers)):
        return
    try:
        traced = tracing.trace(replace(call, function=plain))
    except tracing.NoChoiceError:
        return
    names = (*traced.static, *traced.untraceable)
    try:
        jax.jit(plain, static_argnames=names).trace(*call.args, **call.kwargs)
    except Exception:  # noqa: BLE001  what is no name, or cannot be hashed, is no fix
        return
    if names:
        yield Fix(static_jit(call_graph.plain(plain) or plain, names), f"one jit alone; {_EACH}")


def python_number(call: Call, names: Sequence[str], static: Sequence[str]) -> Iterator[Fix]:
    """An array that could be a Python number, and static."""
    known = values(call)
    function = name_of(call.function)
    for name in names:
        value: Any = known.get(name)
        is_choice = is_a(value, jax.Array) and value.shape == ()
        if not is_choice or value is None or value.dtype.kind not in "iub":
            continue
        number = value.item()
        if number > _LARGE:  # it may be how often a loop turns
            continue
        needed = (*static, name)
        if function.isidentifier() and tracing.traces(_with(call, name, number), needed):
            jit = Spelling(call_graph.plain(call.function)).of("jax.jit")
            typed = repr(name if len(needed) == 1 else needed)
            cost = f"{name} a Python number, as {number}; {_EACH}"
            yield Fix(f"{jit}({function}, static_argnames={typed})", cost)


def values(call: Call) -> dict[str, Any]:
    """The arguments of a call by name."""
    return {**dict(zip(call.labels, call.args, strict=True)), **call.kwargs}


def unhashable(call: Call) -> str | None:
    """A static argument of a jitted function that was given what cannot be hashed, if any."""
    if not is_jitted(call.function):
        return None
    for name, value in values(call).items():
        try:
            hash(value)
        except Exception:  # noqa: BLE001  the object may raise anything
            if is_declared(call, name):
                return name
    return None


def _others(call: Call, error: Exception) -> Iterator[_Other]:
    text = message_of(error)
    for name, value in values(call).items():
        if _is_table(value):
            yield _Other(name, value.to_numpy(), f"{name}.to_numpy()", f"{name} as an array")
        if type(value) is list and _is_plain(value):
            made = _as_tuple(value)
            words = f"{name} a tuple, as {made!r}: it can be hashed"
            yield _Other(name, made, f"{name}={made!r}", words, static=True)
        if _NEEDS_FLOATS in text and not is_of(value, bool):
            if is_of(value, int):
                words = f"a float in place of {value!r}"
                yield _Other(name, float(value), f"{name}={float(value)!r}", words)
            elif is_a(value, jax.Array, np.ndarray) and value.dtype.kind in "iu":
                as_float = jnp.asarray(value, float)
                yield _Other(name, as_float, f"{name}.astype(float)", f"{name} as floats")


def _with(call: Call, name: str, value: Any) -> Call:
    """A call with another value of one argument."""
    pairs = zip(call.labels, call.args, strict=True)
    args = tuple(value if label == name else arg for label, arg in pairs)
    return replace(
        call, args=args, kwargs={n: value if n == name else v for n, v in call.kwargs.items()}
    )


def _layers(function: Any) -> Iterator[Any]:
    """A function and those that it wraps, but for the innermost one."""
    while (inner := _inner(function)) is not None and inner is not function:
        yield function
        function = inner


def _inner(function: Any) -> Any:
    try:
        return getattr(function, "__wrapped__", None)
    except Exception:  # noqa: BLE001  an object may answer what it likes
        return None


def _function(call: Call) -> Any:
    return call_graph.plain(call.function) or call.function


def _is_table(value: object) -> bool:
    """Whether a library for tables made it: its columns are no arrays."""
    root = module_of(type(value)).partition(".")[0]
    return root in ("pandas", "polars", "pyarrow") and hasattr(type(value), "to_numpy")


def _is_plain(values: list[Any]) -> bool:
    plain = (bool, int, float, str, type(None))
    return all(_is_plain(v) if type(v) is list else is_of(v, *plain) for v in values)


def _as_tuple(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_as_tuple(each) if type(each) is list else each for each in values)
