"""Why JAX would not trace a call, and what would help, each fix tried by tracing it."""

import inspect
import linecache
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from traceback import walk_tb
from types import CellType, CodeType, FrameType, FunctionType, MethodType
from typing import Any

import jax

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.adapters.jax.diagnosis import call_graph, return_types, substitutes
from ipyjaxbench.adapters.jax.diagnosis.blame import blamed_arguments
from ipyjaxbench.adapters.jax.diagnosis.bodies import caller_of, pitfall_in
from ipyjaxbench.adapters.jax.diagnosis.compile_once import fix_without_value
from ipyjaxbench.adapters.jax.diagnosis.fixes import Fixes
from ipyjaxbench.adapters.jax.diagnosis.leaks import name_leak
from ipyjaxbench.adapters.jax.diagnosis.pitfalls import UNHASHABLE, pitfall_of
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.static_search import named_in
from ipyjaxbench.adapters.shared.diagnosis.arguments import replace_argument
from ipyjaxbench.adapters.shared.diagnosis.describe import MAX_FIXES, UNKNOWN, describe
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.adapters.shared.diagnosis.source_edit import function_with_code
from ipyjaxbench.graphs import Diagnosis, Fix
from ipyjaxbench.usercode import Call, describe_error, is_of, message_of, shorten_message, unwrap

#: Of a function in a message.
_ADDRESS = re.compile(r"<function (\S+) at 0x[0-9a-f]+>")
_COMPREHENSIONS = (
    "<listcomp>",
    "<setcomp>",
    "<dictcomp>",
    "<genexpr>",
)  # frames before Python 3.12
_FAILS = "The code fails without jit too."
#: Values that an argument could have, for one that is tried as a static one.
_LIKELY = {"bool": True, "int32": 2, "int64": 2}


def diagnose(call: Call, failed: tracing.NoChoiceError, body: str = "") -> Diagnosis:
    """Say why a call would not trace that failed in this way; each fix was traced.

    Args:
        call: what failed.
        failed: how it did.
        body: which function of JAX called it with tracers; empty if jit did.
    """
    error, shown = _cause_of(failed.error), _shown(failed)
    places = origin.places(shown)
    file, line = (places[0].file, places[0].line) if places else ("", 0)
    file, line = getattr(error, "place", (file, line))
    source, after = (linecache.getline(file, number).strip() for number in (line, line + 1))
    is_unhashable = "on-hashable static" in message_of(error)
    unhashable = substitutes.unhashable_argument(call) if is_unhashable else None
    expression = origin.expression_of(places[0]).strip() if places else ""
    pitfall = UNHASHABLE if unhashable else pitfall_of(error, source, after, expression)
    pitfall = pitfall_in(body or getattr(shown, "body", ""), pitfall)
    spelling = Spelling(call_graph.find_function(call, places[0].code) if places else None)
    fixes = Fixes(call, failed.static, shown)
    blamed = (unhashable,) if unhashable else tuple(blamed_arguments(call, failed))
    written = (
        *substitutes.other_argument(call, error),
        *substitutes.jax_numpy_function(call, failed.static),
    )
    if not written:
        jits = tuple(substitutes.one_jit(call))
        once = fix_without_value(call, failed.static, shown) if jits else ()
        found = islice(chain(once, jits, fixes.find()), MAX_FIXES + len(once))
        written = tuple(dict.fromkeys(found))[:MAX_FIXES]
    if not any(fix.same for fix in written):
        more = substitutes.python_number(call, blamed, failed.static)
        written = (*written, *more)[:MAX_FIXES]
    failure = fixes.eager.failure if written or pitfall is None else None
    is_own = pitfall is None and failure is not None
    diagnosis = describe(
        call.text,
        error,
        _ADDRESS.sub(r"\1", shorten_message(error)),
        line,
        source,
        pitfall,
        _FAILS if is_own else UNKNOWN,
        expression,
    )
    if isinstance(error, return_types.NoDataError):
        diagnosis = replace(diagnosis, error="TypeError")
    if isinstance(error, jax.errors.UnexpectedTracerError):
        diagnosis = name_leak(diagnosis, error)
    return replace(
        diagnosis,
        blamed=blamed,
        fixes=written,
        advice=spelling.text(diagnosis.advice),
        tries=failed.tries,
        inside=_inside(call, places[0].code) if places else "",
        static=() if is_own else tuple(n for n in failed.static if n not in blamed),
        eager=describe_error(failure) if failure is not None else "",
        stopped=failed.stopped,
    )


def explain(error: BaseException) -> Diagnosis | None:
    """Say why code that failed would not trace; only the function that was traced is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where JAX was not tracing.
    """
    pitfall, is_of_jax = pitfall_of(_cause_of(error)), _is_of_jax(error)
    is_known = pitfall is not None
    if not is_known and not is_of_jax:
        return None
    places = origin.places(error)
    call, body = _traced_call(places)
    if call is None:
        is_jaxs = is_of_jax or pitfall is UNHASHABLE  # which no code in Python raises
        if not is_known or not (type(error).__module__.startswith("jax") or is_jaxs):
            return None
        nothing = Call(_name_of_code(places), lambda: None)
        return diagnose(nothing, tracing.NoChoiceError(error, (), 1))
    failed = _trace_again(call, error)
    if not is_known and failed.error is error:  # it did not fail for being traced
        return None
    diagnosis = diagnose(call, failed, body)
    static = {} if body else _needed_static(call, (*diagnosis.blamed, *failed.blamed))
    if not static:
        return diagnosis
    tried = ", ".join(dict.fromkeys(map(str, static.values())))
    fix = Fix(
        substitutes.static_jit(call.function, [*static]),
        f"{substitutes.EACH}; verified with {tried}",
    )
    once = fix_without_value(call, failed.static, _shown(failed))
    fixes = tuple(dict.fromkeys((*once, fix, *diagnosis.fixes)))
    return replace(diagnosis, blamed=(*static,), fixes=fixes[:MAX_FIXES])


def _name_of_code(places: list[origin.Place]) -> str:
    """Return the function that holds the innermost line; a comprehension is none of its own."""
    names = (place.code.co_name for place in places)
    name = next((each for each in names if each not in _COMPREHENSIONS), "<module>")
    return "the cell" if name.startswith(("<module", "<cell")) else name


def _cause_of(error: BaseException) -> BaseException:
    """Return JAX's error, where the user's code caught it and raised another."""
    inner: BaseException | None = error
    while inner is not None:
        if pitfall_of(inner) is not None:
            return inner
        inner = inner.__cause__ or inner.__context__
    return error


def _shown(failed: tracing.NoChoiceError) -> BaseException:
    """Return the error whose lines are shown, and mended."""
    error = _cause_of(failed.error)
    return error if origin.places(error) else failed.error


def _inside(call: Call, code: CodeType) -> str:
    """Return the function that holds the line, and its file; empty where it is what was called."""
    top = unwrap(call.function)
    top = top.__code__ if is_of(top, FunctionType, MethodType) else None
    if code is top or code.co_name.startswith("<module"):
        return ""
    names = code.co_qualname.replace("<locals>.", "")
    here = getattr(top, "co_filename", code.co_filename)
    return names if code.co_filename == here else f"{names} ({Path(code.co_filename).name})"


def _trace_again(call: Call, error: BaseException) -> tracing.NoChoiceError:
    """Return how the call fails when it is traced again, if that is how it failed before."""
    try:
        tracing.trace(call)
    except tracing.NoChoiceError as failed:
        now, before = origin.places(failed.error), origin.places(error)
        if now and before and (now[0].code, now[0].line) == (before[0].code, before[0].line):
            return failed
    return tracing.NoChoiceError(error, named_in(error, call), 1)


def _is_of_jax(error: BaseException) -> bool:
    """Whether JAX raised it, under a name of Python's."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    return "".join(names[-1:]).split(".")[0] == "jax"


def _traced_call(places: list[origin.Place]) -> tuple[Call | None, str]:
    """Return the function that JAX was tracing, with what its frame shows of its arguments.

    Beside it stands which function of JAX called it; empty if jit did.
    """
    for place in reversed(places):
        call = _call_of(place.frame)
        leaves = trees.leaves((call.args, dict(call.kwargs))) if call else []
        if call and any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            args, kwargs = trees.map_leaves(_shape_of, (call.args, dict(call.kwargs)))
            return replace(call, args=args, kwargs=kwargs), caller_of(place.frame)
    return None, ""


def _call_of(frame: FrameType) -> Call | None:
    """Return the call that a frame is of; arguments are what they stand for by now."""
    code, values = frame.f_code, frame.f_locals
    names, rest, more, _ = inspect.getargvalues(frame)
    if any(name not in values for name in (*names, *code.co_freevars)):
        return None
    positional, named = names[: code.co_argcount], names[code.co_argcount :]
    several = values.get(rest, ()) if rest else ()
    kwargs = {name: values[name] for name in named} | (values.get(more, {}) if more else {})
    cells = {name: CellType(values[name]) for name in code.co_freevars}
    empty = FunctionType(code, frame.f_globals, code.co_name, None, tuple(cells.values()))
    return Call(
        f"{code.co_name}(...)",
        function_with_code(empty, code, frame.f_globals, cells),
        (*(values[name] for name in positional), *several),
        kwargs,
        (*positional, *(f"{rest}[{index}]" for index in range(len(several)))),
    )


def _shape_of(value: Any) -> Any:
    if isinstance(value, jax.core.Tracer):
        return jax.ShapeDtypeStruct(value.shape, value.dtype)
    return value


def _needed_static(call: Call, names: Sequence[str]) -> dict[str, Any]:
    """Return arguments that the call needs as static ones, each with a value that it could have.

    As few as will do; none where that does not mend it.
    """
    arguments = {name: value for name, value in call.arguments if name in call.labels}
    values = {}
    for name in dict.fromkeys(names):
        dtype, shape = (getattr(arguments.get(name), n, None) for n in ("dtype", "shape"))
        if shape == () and str(dtype) in _LIKELY:
            values[name] = _LIKELY[str(dtype)]
    if not _traces_with(call, values):
        return {}
    for name in [*values]:
        fewer = {other: value for other, value in values.items() if other != name}
        if _traces_with(call, fewer):
            values = fewer
    return values


def _traces_with(call: Call, static: Mapping[str, Any]) -> bool:
    """Whether a call traces with these arguments as static ones; it does not without any."""
    for name, value in static.items():
        call = replace_argument(call, name, value)
    return bool(static) and tracing.traces(call, static.keys())
