"""Why JAX would not trace a call, and what would help, each fix tried by tracing it."""

import inspect
import itertools
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType

import jax

from ipyjaxbench.diagnosis import Diagnosis, Fix
from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.jax import reach, results, tracing, users
from ipyjaxbench.frameworks.jax.blame import responsible
from ipyjaxbench.frameworks.jax.fixes import Fixes
from ipyjaxbench.frameworks.jax.pitfall_table import pitfall_of
from ipyjaxbench.frameworks.jax.spelling import Spelling, static_jit
from ipyjaxbench.user_errors import one_line

_MOST_FIXES = 3
_LARGE = 1000
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
    shown = error if users.places(error) else failed.error
    places = users.places(shown)
    file, line = (places[0].file, places[0].line) if places else ("", 0)
    file, line = getattr(error, "place", (file, line))
    source = linecache.getline(file, line).strip()
    pitfall = pitfall_of(error, source, linecache.getline(file, line + 1).strip())
    found = reach.find(call, places[0].code) if places else None
    spelling = Spelling(found)
    fixes = Fixes(call, failed, shown)
    blamed = tuple(responsible(call, failed))
    tried = itertools.chain(_one_jit(call), fixes.found())
    written = tuple(itertools.islice(tried, _MOST_FIXES))
    if not any(fix.same for fix in written):
        more = _python_number(call, blamed, failed.static)
        written = (*written, *more)[:_MOST_FIXES]
    is_ours = isinstance(error, results.NoDataError)
    failure = fixes.eager.failure if written else None
    return Diagnosis(
        code=call.text,
        error="TypeError" if is_ours else type(error).__name__,
        message=(str(error).strip().splitlines() or [""])[0],
        line=line,
        source=source,
        because=pitfall.because if pitfall else _OTHER,
        blamed=blamed,
        fixes=written,
        advice=spelling.words(pitfall.advice) if pitfall else "",
        tries=failed.tries,
        inside=_inside(call, places[0].code) if places else "",
        static=failed.static,
        eager=one_line(failure) if failure is not None else "",
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
    top = getattr(inspect.unwrap(call.function), "__code__", None)
    top = getattr(top, "__code__", top)
    if code is top or code.co_name.startswith("<module"):
        return ""
    names = code.co_qualname.replace("<locals>.", "")
    here = getattr(top, "co_filename", code.co_filename)
    return names if code.co_filename == here else f"{names} ({Path(code.co_filename).name})"


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
        changes = "one jit, and no other decorator; one compilation for each value"
        yield Fix(static_jit(reach.plain(plain) or plain, names), changes)


def _python_number(call: Call, names: Sequence[str], static: Sequence[str]) -> Iterator[Fix]:
    """An array that could be a Python number, and static."""
    given = dict(zip(call.labels, call.args, strict=True)) | dict(call.kwargs)
    function = getattr(call.function, "__name__", "")
    for name in names:
        value = given.get(name)
        is_choice = isinstance(value, jax.Array) and value.shape == ()
        if not is_choice or value is None or value.dtype.kind not in "iub":
            continue
        number = value.item()
        if number > _LARGE:  # it may be how often a loop turns
            continue
        args = tuple(number if label == name else arg
                     for label, arg in zip(call.labels, call.args, strict=True))  # fmt: skip
        kwargs = {n: number if n == name else each for n, each in call.kwargs.items()}
        needed = (*static, name)
        if not tracing.traces(replace(call, args=args, kwargs=kwargs), needed):
            continue
        if function.isidentifier():
            jit = Spelling(reach.plain(call.function)).of("jax.jit")
            typed = repr(name if len(needed) == 1 else needed)
            cost = f"{name} a Python number, as {number}; one compilation for each value"
            yield Fix(f"{jit}({function}, static_argnames={typed})", cost)
