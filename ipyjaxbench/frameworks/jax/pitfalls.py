"""Why JAX would not trace a call, and what would help, each fix tried by tracing it."""

import inspect
import itertools
import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, TracebackType
from typing import Any

import jax
import numpy as np

from ipyjaxbench.diagnosis import Diagnosis, Fix
from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.jax import rewrite, tracing

_MOST_FIXES = 3
#: Where code stands that is not the user's.
_NOT_USERS = re.compile(
    r"[/\\](jax|jaxlib|ipyjaxbench|IPython)[/\\]|^<(frozen|string|fix)|<__array"
)


@dataclass(frozen=True)
class _Pitfall:
    """A kind of error.

    Attributes:
        errors: names of its types.
        text: in its message; matches all where it is empty.
        because: what is wrong, in words.
        advice: what helps and cannot be tried here.
    """

    errors: tuple[str, ...]
    text: str
    because: str
    advice: str = ""


_PITFALLS = (
    _Pitfall(
        ("NonConcreteBooleanIndexError",),
        "",
        "a mask picks as many elements as its values say, and shapes are fixed before values exist",
        "jnp.nonzero(mask, size=N), or make this step outside of jit",
    ),
    _Pitfall(
        ("TracerBoolConversionError",),
        "",
        "if, while, and, or, not ask for a value, and while tracing there are only shapes",
        "jax.lax.cond for if, jax.lax.while_loop for while",
    ),
    _Pitfall(
        ("TracerIntegerConversionError",),
        "",
        "range() or an index asks for a number, and while tracing there are only shapes",
        "jax.lax.fori_loop for range(n), jnp.take for a list",
    ),
    _Pitfall(
        ("IndexError",),
        "lice entries must be static|slice.*[Tt]racer|[Aa]rray slice indices must",
        "the ends of a slice make its shape, and shapes are fixed before values exist",
        "jax.lax.dynamic_slice_in_dim(x, start, size) with a fixed size",
    ),
    _Pitfall(
        ("TypeError",),
        "Shapes must be 1D",
        "a shape is computed by jnp, and so has no value while tracing",
        "compute shapes with x.size, len(x), math.prod(x.shape)",
    ),
    _Pitfall(
        ("TracerArrayConversionError",),
        "",
        "NumPy asks for the numbers, and while tracing there are only shapes",
        "the same function of jnp, or jax.pure_callback",
    ),
    _Pitfall(
        ("UnexpectedTracerError",),
        "",
        "a value of an earlier trace was kept, in a global or an attribute, and is used here",
        "return the value instead of keeping it",
    ),
    _Pitfall(
        ("ConcretizationTypeError",),
        "",
        "a Python number or a shape is made of a value, and while tracing there are only shapes",
        "make the argument static, or give jnp.unique and jnp.nonzero a size=",
    ),
    _Pitfall(
        ("ValueError",),
        "on-hashable static arguments",
        "a function with static arguments is called inside of another jit, which traces them",
        "use one jit, with static_argnames",
    ),
    _Pitfall(
        ("RuntimeError", "ValueError"),
        "deleted|donated",
        "the memory of an argument was given away by an earlier call (donate_argnums)",
        "use what that call returned, or copy the argument before: jnp.copy(x)",
    ),
    _Pitfall(
        ("KeyReuseError",),
        "",
        "a random key is used twice, and gives the same numbers twice",
        "key, sub = jax.random.split(key), and use sub",
    ),
    _Pitfall(
        ("RecursionError",), "", "the function calls itself without an end", "jax.lax.while_loop"
    ),
    _Pitfall(
        ("TypeError",),
        "not a valid JAX type|rror interpreting argument|[Cc]annot interpret",
        "an argument is no data: jit takes arrays and numbers, and trees of them",
        "make it static, with static_argnames",
    ),
)


def diagnose(call: Call, failed: tracing.NoChoiceError) -> Diagnosis:
    """Say why a call would not trace.

    Args:
        call: as it was tried.
        failed: how it failed.

    Returns:
        The diagnosis; each of its fixes was traced.
    """
    error, tries = failed.error, failed.tries
    pitfall = _pitfall_of(error)
    place = _place_of(error)
    blamed = failed.blamed or _found_by_search(call)
    file, line = getattr(error, "place", place[:2] if place else ("", 0))
    found = Diagnosis(
        code=call.text,
        error=type(error).__name__,
        message=(str(error).strip().splitlines() or [""])[0],
        line=line,
        source=linecache.getline(file, line).strip(),
        because=pitfall.because if pitfall else "the code raises while it is traced",
        blamed=tuple(blamed),
        advice=pitfall.advice if pitfall else "",
        tries=tries,
    )
    tried = itertools.chain(_one_jit(call), _fixes(call, place) if place else ())
    return replace(found, fixes=tuple(itertools.islice(tried, _MOST_FIXES)))


def explain(error: BaseException) -> Diagnosis | None:
    """Say why code that failed would not trace; only the function that was traced is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where JAX was not tracing.
    """
    pitfall = _pitfall_of(error) if isinstance(error, Exception) else None
    if pitfall is None or not isinstance(error, Exception):
        return None
    call = _traced_call(error)
    if call is None and not type(error).__module__.startswith("jax"):
        return None
    if call is None:
        return diagnose(Call("the cell", lambda: None), tracing.NoChoiceError(error, (), 1))
    known = tracing.NoChoiceError(error, blamed := tuple(tracing.blamed(error)), 1)
    found = diagnose(call, known)
    static = tuple(_static_fix(call, blamed))
    return replace(found, fixes=(*static, *found.fixes)[:_MOST_FIXES])


def _traced_call(error: Exception) -> Call | None:
    """The function that JAX was tracing, with what its frame shows of its arguments."""
    for frame, _ in _frames(error.__traceback__):
        code = frame.f_code
        given = [frame.f_locals.get(n) for n in code.co_varnames[: code.co_argcount]]
        is_traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(given))
        if not is_traced or _NOT_USERS.search(code.co_filename):
            continue
        names = code.co_varnames[: code.co_argcount]
        if code.co_freevars or code.co_kwonlyargcount or code.co_flags & inspect.CO_VARARGS:
            return None
        function = FunctionType(code, frame.f_globals, code.co_name)
        args = tuple(jax.tree.map(_shape_of, frame.f_locals.get(name)) for name in names)
        return Call(f"{code.co_name}(...)", function, args, {}, names)
    return None


def _shape_of(value: Any) -> Any:
    if isinstance(value, jax.core.Tracer):
        return jax.ShapeDtypeStruct(value.shape, value.dtype)
    return value


def _static_fix(call: Call, names: tuple[str, ...]) -> Iterator[Fix]:
    """An argument that may be static, tried with a value that it could have."""
    stand_ins = {"bool": True, "int32": 2, "int64": 2}
    for name in names:
        if name not in call.labels:
            continue
        index = call.labels.index(name)
        dtype, shape = (getattr(call.args[index], n, None) for n in ("dtype", "shape"))
        value = stand_ins.get(str(dtype)) if shape == () else None
        if value is None:
            continue
        args = (*call.args[:index], value, *call.args[index + 1 :])
        if tracing.traces(replace(call, args=args), {name}):
            plain = call.text.removesuffix("(...)")
            yield Fix(
                f"jax.jit({plain}, static_argnames={name!r})",
                f"one compilation for each value; tried with {value}",
            )


def _pitfall_of(error: Exception) -> _Pitfall | None:
    names = {kind.__name__ for kind in type(error).__mro__}
    # The exact type comes first: many of JAX's are TypeErrors too.
    for exact in (True, False):
        for each in _PITFALLS:
            mine = {type(error).__name__} if exact else names
            if mine.intersection(each.errors) and re.search(each.text, str(error)):
                return each
    return None


def _place_of(error: Exception) -> tuple[str, int, CodeType] | None:
    """File, line and code of the innermost frame that is the user's."""
    found = None
    for frame, line in _frames(error.__traceback__):
        if not _NOT_USERS.search(frame.f_code.co_filename):
            found = frame.f_code.co_filename, line, frame.f_code
    return found


def _frames(traceback: TracebackType | None) -> Iterator[tuple[Any, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _found_by_search(call: Call) -> list[str]:
    """The argument without which, as a fixed value, the call would not trace."""

    def on_host(value: Any) -> Any:  # while JAX traces, only NumPy computes with values
        return jax.tree.map(np.asarray, value)

    plain = inspect.unwrap(call.function)
    if plain is not call.function:
        call = replace(call, function=plain)  # jit would trace all again
        try:
            traced = tracing.trace(call)
            return [*traced.static, *traced.untraceable]
        except tracing.NoChoiceError:
            pass
    try:
        for index, name in enumerate(call.labels):
            args = (*call.args[:index], on_host(call.args[index]), *call.args[index + 1 :])
            if tracing.traces(replace(call, args=args), {name}):
                return [name]
        for name, value in call.kwargs.items():
            if tracing.traces(replace(call, kwargs={**call.kwargs, name: on_host(value)}), {name}):
                return [name]
    except Exception:  # noqa: BLE001  an argument that has no values cannot be tried
        return []
    return []


def _one_jit(call: Call) -> Iterator[Fix]:
    """One jit with static arguments, in place of what was called, where that is what it needs."""
    plain = inspect.unwrap(call.function)
    if plain is call.function:
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
        static = names[0] if len(names) == 1 else names
        changes = "one jit, of the function itself; one compilation for each value"
        yield Fix(f"jax.jit({plain.__name__}, static_argnames={static!r})", changes)


def _fixes(call: Call, place: tuple[str, int, CodeType]) -> Iterator[Fix]:
    """Rewritten lines with which the call traces."""
    _, line, code = place
    top = inspect.unwrap(call.function) if callable(call.function) else call.function
    found = _function_with(code, top)
    if found is None:
        return
    try:
        source = rewrite.Function(found)
    except (OSError, TypeError, SyntaxError, ValueError):
        return
    for changed, text, changes in source.rewritten(line):
        function = changed if found is top else _with_global(top, found, changed)
        if function is not None and tracing.traces(replace(call, function=function), set()):
            yield Fix(text, changes)


def _function_with(code: CodeType, top: Any) -> FunctionType | None:
    """The function that has this code: what is called, or a global that it uses."""
    if isinstance(top, FunctionType):
        if top.__code__ is code:
            return top
        used = top.__globals__.get(code.co_name)
        used = inspect.unwrap(used) if callable(used) else used
        if isinstance(used, FunctionType) and used.__code__ is code:
            return used
    return None


def _with_global(top: Any, old: FunctionType, new: Callable[..., Any]) -> Callable[..., Any] | None:
    """A function that finds the new one where it found the old."""
    if not isinstance(top, FunctionType):
        return None
    names = {**top.__globals__, old.__name__: new}
    made = FunctionType(top.__code__, names, top.__name__, top.__defaults__, top.__closure__)
    made.__kwdefaults__ = top.__kwdefaults__
    return made
