"""Why PyTorch would not trace a call, and what would help, each fix tried by tracing it."""

import itertools
import linecache
import re
from collections.abc import Callable
from dataclasses import replace
from traceback import walk_tb
from types import CodeType

from ipyjaxbench.adapters.torch.diagnosis.eager_check import Eager
from ipyjaxbench.adapters.torch.diagnosis.fixes import find_fixes
from ipyjaxbench.adapters.torch.diagnosis.pitfalls import pitfall_of
from ipyjaxbench.adapters.torch.graphs import aten, dynamo
from ipyjaxbench.adapters.torch.graphs.program import Place, is_outside_torch
from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.usercode import Call

_MOST_FIXES = 3
_MESSAGE_CHARACTERS = 200  # characters of a message
#: What dynamo says first where an operation raised, and behind that what was raised.
_NO_FAKE = "RuntimeError when making fake tensor call"
_RAISED = re.compile(r"got \w+\([\"'](.+?)[\"']\)$", re.MULTILINE)


def diagnose(
    call: Call, error: Exception, find: Callable[[Call], object], *, has_values: bool = True
) -> Diagnosis:
    """Say why a call would not trace.

    Args:
        call: a plain one, as it was tried.
        error: what tracing raised.
        find: what was asked to trace it; fixes are tried with the same.
        has_values: whether its tensors have values.

    Returns:
        The diagnosis; each of its fixes was traced, and gives what the code gives.
    """
    pitfall = pitfall_of(error)
    place, code = place_of(error)
    described = describe(call.text, error, place)
    if pitfall is None:
        return described
    inner, blamed = aten.failure(call)
    where, its_code = place_of(inner) if inner is not None else (("", 0), None)
    if where != place or not pitfall.asks:
        blamed = ()
    elif code is None:
        code = its_code
    eager = Eager(call, has_values=has_values)
    tried = find_fixes(call, place[1], code, find, eager) if code else ()
    return replace(
        described, blamed=blamed, tries=2, fixes=tuple(itertools.islice(tried, _MOST_FIXES))
    )


def describe(text: str, error: Exception, place: Place) -> Diagnosis:
    """Return what the error itself shows, of a call with this text, at this place."""
    pitfall = pitfall_of(error)
    because = pitfall.because if pitfall else "the code raises while it is traced"
    if pitfall is None and type(error).__name__ in ("Unsupported", "UserError"):
        because = dynamo.describe_break(str(error))
    return Diagnosis(
        code=text,
        error=type(error).__name__,
        message=_message(error),
        line=place[1],
        source=linecache.getline(*place).strip(),
        because=because,
        advice=pitfall.advice if pitfall else "",
    )


def _message(error: Exception) -> str:
    """The first line of its text that says something by itself; a heading goes with the next."""
    text = re.sub(r":\s*\n\s*", ": ", str(error).strip())
    line = text.partition("\n")[0]
    if line == _NO_FAKE and (raised := _RAISED.search(text)):
        line = raised[1]
    return line if len(line) <= _MESSAGE_CHARACTERS else f"{line[: _MESSAGE_CHARACTERS - 4]} ..."


def place_of(error: BaseException) -> tuple[Place, CodeType | None]:
    """The user's innermost line, and the code that it is part of where that is known."""
    stack = getattr(error, "real_stack", None) or ()  # dynamo's own account of where it was
    places = [(f.filename, f.lineno or 0) for f in stack if is_outside_torch(f.filename)]
    if places:
        return places[-1], None
    users = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)
             if is_outside_torch(frame.f_code.co_filename)]  # fmt: skip
    if not users:
        return ("", 0), None
    code, line = users[-1]
    return (code.co_filename, line), code
