"""What to give a function in place of what it was given: each is tried by tracing."""

import ast
import functools
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.graphs import numpy_to_jax, tracing
from ipyjaxbench.adapters.jax.graphs.static_search import is_declared
from ipyjaxbench.adapters.shared.diagnosis.arguments import replace_argument
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Sources
from ipyjaxbench.errors import CODE_ERRORS, by_caller
from ipyjaxbench.graphs import Fix
from ipyjaxbench.usercode import Call, is_a, is_of, message_of, module_of, name_of, unwrap

_LONGEST_VALUE = 40  # characters
_MAX_STATIC_NUMBER = 1000  # a larger one may be how often a loop turns
EACH = "compiles once per value"
#: JAX's words where it takes the derivative of an integer.
_NEEDS_FLOATS = "grad requires real- or complex-valued inputs"


class _Substitute(NamedTuple):
    name: str
    value: Any
    code: str
    reason: str
    static: bool = False


def other_argument(call: Call, error: BaseException) -> Iterator[Fix]:
    """Yield the first argument of another type with which a call traces that raised an error."""
    function = name_of(call.function)
    for other in _substitutes(call, error):
        try:
            traced = tracing.trace(replace_argument(call, other.name, other.value))
        except tracing.NoChoiceError:
            continue
        needed = list(dict.fromkeys([*traced.static, *([other.name] if other.static else [])]))
        before = _written(call, other)
        if not needed or is_jitted(call.function) or not function.isidentifier():
            yield Fix(other.code, other.reason, replaces=before)
        elif other.static:
            yield Fix(static_jit(call.function, needed), f"{other.reason}; {EACH}")
        else:
            static = needed[0] if len(needed) == 1 else tuple(needed)
            reason = f"{other.reason}; with static_argnames={static!r}"
            yield Fix(other.code, reason, replaces=before)
        return


def _written(call: Call, other: _Substitute) -> str:
    """Return an argument as it is given now, in the way in which the other one is written."""
    before = dict(call.arguments)[other.name]
    shown = repr(before) if is_of(before, int, list) else ""
    is_by_name = other.code.startswith(f"{other.name}=") and len(shown) <= _LONGEST_VALUE
    return f"{other.name}={shown}" if is_by_name else other.name


def jax_numpy_function(call: Call, static: Sequence[str]) -> Iterator[Fix]:
    """Yield the function of jax.numpy in place of one of NumPy, where that was called itself."""
    function = numpy_to_jax.use_jax_numpy(call.function)
    changed, name = replace(call, function=function), name_of(function)
    if function is call.function or vars(jnp).get(name) is not function:
        return
    if tracing.traces(changed, static):
        magic = "%jaxpr --np traces NumPy code with jax.numpy"
        cost = by_caller(magic, "takes arrays of JAX, and traces")
        yield Fix(f"jax.numpy.{name}", cost, replaces=f"numpy.{name}")


def one_jit(call: Call) -> Iterator[Fix]:
    """Yield one jit with static arguments in place of several, where that is what a call needs."""
    layers: list[Any] = []
    try:
        plain = inspect.unwrap(call.function, stop=layers.append)
    except CODE_ERRORS:  # an object may answer what it likes
        return
    if not layers or not all(map(is_jitted, layers)):
        return
    try:
        traced = tracing.trace(replace(call, function=plain))
    except tracing.NoChoiceError:
        return
    names = (*traced.static, *traced.untraceable)
    try:
        jax.jit(plain, static_argnames=names).trace(*call.args, **call.kwargs)
    except CODE_ERRORS:  # what is no name, or cannot be hashed, is no fix
        return
    if names:
        code = static_jit(plain, names)
        replaces = _jit_decorators(plain) if code.startswith("@") else ""
        yield Fix(code, f"a single jit; {EACH}", replaces=replaces)


def python_number(call: Call, names: Sequence[str], static: Sequence[str]) -> Iterator[Fix]:
    """Yield an array that could be a Python number, and static."""
    values = dict(call.arguments)
    function = name_of(call.function)
    for name in names:
        value: Any = values.get(name)
        if not is_a(value, jax.Array) or value.shape != () or not _is_whole(value):
            continue
        number = value.item()
        if number > _MAX_STATIC_NUMBER:
            continue
        needed = (*static, name)
        if function.isidentifier() and tracing.traces(replace_argument(call, name, number), needed):
            jit = Spelling(call_graph.python_function(call.function)).spell("jax.jit")
            typed = repr(name if len(needed) == 1 else needed)
            cost = f"pass {name} as a Python number, such as {number}; {EACH}"
            yield Fix(f"{jit}({function}, static_argnames={typed})", cost)


def _is_whole(array: Any) -> bool:
    """Whether an array holds whole numbers or truth values; the dtype of keys has no kind."""
    return getattr(array.dtype, "kind", "") in ("i", "u", "b")


def static_jit(function: Any, names: Sequence[str]) -> str:
    """Return a call of `jax.jit` with static arguments, as the function's code would write it.

    It is a decorator where the function's name is that of what decorators made of it.
    """
    given = unwrap(function)
    plain = call_graph.python_function(given)
    static, spelling = names[0] if len(names) == 1 else tuple(names), Spelling(plain)
    jit, name = spelling.spell("jax.jit"), name_of(plain or given)
    if is_of(given, functools.partial):
        name = f"{spelling.spell('functools.partial')}({name}, ...)"
    elif not name:
        name = f"{type(given).__name__}(...)"
    named = plain.__globals__.get(name) if plain is not None else None
    is_own = named is None or isinstance(named, FunctionType)
    if plain is None or (is_own and getattr(named, "__code__", plain.__code__) is plain.__code__):
        return f"{jit}({name}, static_argnames={static!r})"
    return f"@partial({jit}, static_argnames={static!r})"


def _jit_decorators(function: Any) -> str:
    """Return the decorators of a function that jit it, as they are written."""
    definition = Sources().definition(function) if isinstance(function, FunctionType) else None
    written = (ast.unparse(each) for each in (definition.decorator_list if definition else ()))
    return "\n".join(f"@{text}" for text in written if re.search(r"\bjit\b", text))


def unhashable_argument(call: Call) -> str | None:
    """Return a static argument of a jitted function that was given what has no hash, if any."""
    if not is_jitted(call.function):
        return None
    for name, value in call.arguments:
        try:
            hash(value)
        except CODE_ERRORS:  # the object may raise anything
            if is_declared(call, name):
                return name
    return None


def _substitutes(call: Call, error: BaseException) -> Iterator[_Substitute]:
    needs_floats = _NEEDS_FLOATS in message_of(error)
    for name, value in call.arguments:
        if _is_table(value):
            yield _Substitute(
                name, value.to_numpy(), f"{name}.to_numpy()", f"converts {name} to an array"
            )
        if type(value) is list and _is_plain(value):
            made = _as_tuple(value)
            reason = f"pass {name} as a tuple, {made!r}: a tuple is hashable"
            yield _Substitute(name, made, f"{name}={made!r}", reason, static=True)
        if needs_floats and not is_of(value, bool):
            if is_of(value, int):
                reason = f"a float instead of {value!r}"
                yield _Substitute(name, float(value), f"{name}={float(value)!r}", reason)
            elif is_a(value, jax.Array, np.ndarray) and _is_whole(value):
                as_float = jnp.asarray(value, float)
                yield _Substitute(
                    name, as_float, f"{name}.astype(float)", f"converts {name} to floats"
                )


def _is_table(value: object) -> bool:
    """Whether a library for tables made it: its columns are no arrays."""
    root = module_of(type(value)).partition(".")[0]
    return root in ("pandas", "polars", "pyarrow") and hasattr(type(value), "to_numpy")


def _is_plain(values: list[Any]) -> bool:
    plain = (bool, int, float, str, type(None))
    return all(_is_plain(v) if type(v) is list else is_of(v, *plain) for v in values)


def _as_tuple(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_as_tuple(item) if type(item) is list else item for item in values)
