"""Why code that failed would not trace: the function that JAX was tracing is traced once more."""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from traceback import walk_tb
from types import CellType, FrameType, FunctionType
from typing import Any

import jax

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.diagnosis.diagnose import diagnose
from ipyjaxbench.adapters.jax.diagnosis.pitfalls import pitfall_of
from ipyjaxbench.adapters.jax.diagnosis.static_jit import static_jit
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.static_search import named_in
from ipyjaxbench.adapters.shared.diagnosis.source_edit import function_with_code
from ipyjaxbench.graphs import Diagnosis, Fix
from ipyjaxbench.usercode import Call

#: Values that an argument could have, for one that is tried as a static one.
_STAND_INS = {"bool": True, "int32": 2, "int64": 2}
_MOST_FIXES = 3


def explain(error: BaseException) -> Diagnosis | None:
    """Say why code that failed would not trace; only the function that was traced is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where JAX was not tracing.
    """
    if not isinstance(error, Exception) or pitfall_of(error) is None:
        return None
    places = origin.places(error)
    call = _traced_call(places)
    if call is None:
        if not type(error).__module__.startswith("jax") and not _is_of_jax(error):
            return None
        nothing = Call(places[0].code.co_name if places else "the cell", lambda: None)
        return diagnose(nothing, tracing.NoChoiceError(error, (), 1))
    failed = _again(call, error)
    found = diagnose(call, failed)
    static = tuple(_static_fix(call, (*found.blamed, *failed.blamed)))
    return replace(found, fixes=(*static, *found.fixes)[:_MOST_FIXES])


def _again(call: Call, error: Exception) -> tracing.NoChoiceError:
    """How the call fails when it is traced again, if that is how it failed before."""
    known = tracing.NoChoiceError(error, named_in(error, call), 1)
    try:
        tracing.trace(call)
    except tracing.NoChoiceError as failed:
        now, before = origin.places(failed.error), origin.places(error)
        same = now and before and (now[0].code, now[0].line) == (before[0].code, before[0].line)
        return failed if same else known
    return known


def _is_of_jax(error: Exception) -> bool:
    """Whether JAX raised it, under a name of Python's."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    return "jax" in "".join(names[-1:]).split(".")


def _traced_call(places: list[origin.Place]) -> Call | None:
    """The function that JAX was tracing, with what its frame shows of its arguments."""
    for place in reversed(places):
        call = _call_of(place.frame)
        leaves = trees.leaves((call.args, dict(call.kwargs))) if call else []
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            assert call is not None
            args, kwargs = trees.map_leaves(_shape_of, (call.args, dict(call.kwargs)))
            return replace(call, args=args, kwargs=kwargs)
    return None


def _call_of(frame: FrameType) -> Call | None:
    """The call that a frame is of; arguments are what they stand for by now."""
    code, known = frame.f_code, frame.f_locals
    positional = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    rest = list(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    if any(name not in known for name in (*positional, *named, *code.co_freevars)):
        return None
    args = [known[name] for name in positional]
    labels = [*positional]
    kwargs = {name: known[name] for name in named}
    if code.co_flags & inspect.CO_VARARGS:
        name = rest.pop(0)
        labels += [f"{name}[{index}]" for index in range(len(known.get(name, ())))]
        args += known.get(name, ())
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs |= known.get(rest.pop(0), {})
    cells = {name: CellType(known[name]) for name in code.co_freevars}
    empty = FunctionType(code, frame.f_globals, code.co_name, None, tuple(cells.values()))
    function = function_with_code(empty, code, frame.f_globals, cells)
    return Call(f"{code.co_name}(...)", function, tuple(args), kwargs, tuple(labels))


def _shape_of(value: Any) -> Any:
    if isinstance(value, jax.core.Tracer):
        return jax.ShapeDtypeStruct(value.shape, value.dtype)
    return value


def _static_fix(call: Call, names: tuple[str, ...]) -> Iterator[Fix]:
    """An argument that may be static, tried with a value that it could have."""
    for name in dict.fromkeys(names):
        if name not in call.labels:
            continue
        index = call.labels.index(name)
        dtype, shape = (getattr(call.args[index], n, None) for n in ("dtype", "shape"))
        value = _STAND_INS.get(str(dtype)) if shape == () else None
        if value is None:
            continue
        args = (*call.args[:index], value, *call.args[index + 1 :])
        if tracing.traces(replace(call, args=args), {name}):
            yield Fix(
                static_jit(call_graph.plain(call.function), [name]),
                f"one compilation for each value; tried with {value}",
            )
