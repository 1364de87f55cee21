"""Why JAX would not trace a call, and what would help, each fix tried by tracing it."""

import itertools
import linecache
from pathlib import Path
from types import CodeType, FunctionType, MethodType

from ipyjaxbench.adapters.jax import origin
from ipyjaxbench.adapters.jax.diagnosis import call_graph, return_types, substitutes
from ipyjaxbench.adapters.jax.diagnosis.blame import responsible
from ipyjaxbench.adapters.jax.diagnosis.fixes import Fixes
from ipyjaxbench.adapters.jax.diagnosis.pitfalls import UNHASHABLE, pitfall_of
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.usercode import Call, describe_error, is_of, message_of, shorten_message, unwrap

_MOST_FIXES = 3
_FAILS = "the code itself fails, with jit or without"
_OTHER = "the code raises while it is traced"


def diagnose(call: Call, failed: tracing.NoChoiceError) -> Diagnosis:
    """Say why a call would not trace.

    Args:
        call: as it was tried.
        failed: how it failed.

    Returns:
        The diagnosis; each of its fixes was traced.
    """
    error = _cause_of(failed.error)
    shown = error if origin.places(error) else failed.error
    places = origin.places(shown)
    file, line = (places[0].file, places[0].line) if places else ("", 0)
    file, line = getattr(error, "place", (file, line))
    source = linecache.getline(file, line).strip()
    unhashable = substitutes.unhashable(call) if "on-hashable static" in message_of(error) else None
    pitfall = pitfall_of(error, source, linecache.getline(file, line + 1).strip())
    pitfall = UNHASHABLE if unhashable else pitfall
    found = call_graph.find(call, places[0].code) if places else None
    spelling = Spelling(found)
    fixes = Fixes(call, failed, shown)
    blamed = (unhashable,) if unhashable else tuple(responsible(call, failed))
    written = (*substitutes.given(call, error), *substitutes.of_jax(call, failed.static))
    if not written:
        tried = itertools.chain(substitutes.one_jit(call), fixes.find())
        written = tuple(itertools.islice(tried, _MOST_FIXES))
    if not any(fix.same for fix in written):
        more = substitutes.python_number(call, blamed, failed.static)
        written = (*written, *more)[:_MOST_FIXES]
    is_ours = isinstance(error, return_types.NoDataError)
    failure = fixes.eager.failure if written or pitfall is None else None
    is_own = pitfall is None and failure is not None
    return Diagnosis(
        code=call.text,
        error="TypeError" if is_ours else type(error).__name__,
        message=shorten_message(error),
        line=line,
        source=source,
        because=pitfall.because if pitfall else _FAILS if is_own else _OTHER,
        blamed=blamed,
        fixes=written,
        advice=spelling.words(pitfall.advice) if pitfall else "",
        tries=failed.tries,
        inside=_inside(call, places[0].code) if places else "",
        static=() if is_own else tuple(n for n in failed.static if n not in blamed),
        eager=describe_error(failure) if failure is not None else "",
        stopped=failed.stopped,
    )


def _cause_of(error: Exception) -> Exception:
    """JAX's error, where the user's code caught it and raised another."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, Exception) and pitfall_of(inner) is not None:
            return inner
        inner = inner.__cause__ or inner.__context__
    return error


def _inside(call: Call, code: CodeType) -> str:
    """The function that holds the line, and its file; empty where it is what was called."""
    top = unwrap(call.function)
    top = top.__code__ if is_of(top, FunctionType, MethodType) else None
    if code is top or code.co_name.startswith("<module"):
        return ""
    names = code.co_qualname.replace("<locals>.", "")
    here = getattr(top, "co_filename", code.co_filename)
    return names if code.co_filename == here else f"{names} ({Path(code.co_filename).name})"
