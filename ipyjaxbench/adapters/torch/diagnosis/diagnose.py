"""Why PyTorch would not trace a call, and what would help, each fix tried by tracing it."""

import linecache
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from traceback import walk_tb
from types import CodeType
from typing import Any

import torch

from ipyjaxbench.adapters.shared.diagnosis.describe import MAX_FIXES, UNKNOWN, describe
from ipyjaxbench.adapters.torch.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.torch.diagnosis.fixes import find_fixes
from ipyjaxbench.adapters.torch.diagnosis.pitfalls import pitfall_of
from ipyjaxbench.adapters.torch.graphs import aten, dynamo, export
from ipyjaxbench.adapters.torch.graphs.arguments import plain_call
from ipyjaxbench.adapters.torch.graphs.isolation import keep_settings
from ipyjaxbench.adapters.torch.graphs.program import Place, is_outside_torch
from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.usercode import Call, expression_of_instruction, label_arguments

_EXPORT_FILE = "torch/export/__init__.py"
_MESSAGE_CHARACTERS = 200  # characters of a message
#: What dynamo says first where an operation raised, and behind that what was raised.
_NO_FAKE = "RuntimeError when making fake tensor call"
_RAISED = re.compile(r"got \w+\([\"'](.+?)[\"']\)$", re.MULTILINE)


def diagnose(
    call: Call, error: BaseException, find: Callable[[Call], object], *, has_values: bool = True
) -> Diagnosis:
    """Say why a call would not trace; each fix was traced, and gives what the code gives.

    Args:
        call: a plain one, as it was tried.
        error: what tracing raised.
        find: what was asked to trace it; fixes are tried with the same.
        has_values: whether its tensors have values.
    """
    pitfall = pitfall_of(error)
    diagnosis = _describe(call.text, error)
    if pitfall is None:
        return diagnosis
    place, code = _place_of(error)
    inner, blamed = aten.failure(call)
    where, its_code = _place_of(inner) if inner is not None else (("", 0), None)
    if where != place or not pitfall.asks:
        blamed = ()
    elif code is None:
        code = its_code
    eager = EagerCall(call, has_values=has_values)
    fixes = find_fixes(call, place[1], code, find, eager) if code else ()
    return replace(diagnosis, blamed=blamed, tries=2, fixes=tuple(islice(fixes, MAX_FIXES)))


def explain(error: BaseException) -> Diagnosis | None:
    """Say why torch.compile or torch.export would not take a function; it is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where neither raised it.
    """
    exported = _exported_call(error)
    is_dynamos = type(error).__module__ == "torch._dynamo.exc"
    if not is_dynamos and (exported is None or pitfall_of(error) is None):
        return None
    call = exported or _compiled_call(error)
    if call is None:
        return _describe("the cell", error)
    with keep_settings():
        return diagnose(call, error, _trace_one_graph if exported is None else export.trace)


def _trace_one_graph(call: Call) -> None:
    if dynamo.find_single_graph(call) is None:
        raise ValueError("there is a graph break")


def _compiled_call(error: BaseException) -> Call | None:
    """Return what was called through torch.compile, as its own frame shows."""
    for frame, _ in walk_tb(error.__traceback__):
        values = frame.f_locals
        if frame.f_code.co_name == "compile_wrapper" and "fn" in values:
            return _call_of(values["fn"], values.get("args", ()), values.get("kwargs", {}))
    return None


def _exported_call(error: BaseException) -> Call | None:
    """Return what was given to `torch.export.export`, as its own frame shows."""
    for frame, _ in walk_tb(error.__traceback__):
        code, values = frame.f_code, frame.f_locals
        is_own = code.co_name == "export" and code.co_filename.endswith(_EXPORT_FILE)
        if is_own and isinstance(values.get("mod"), torch.nn.Module):
            return _call_of(values["mod"], values.get("args") or (), values.get("kwargs") or {})
    return None


def _call_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(owner, torch.nn.Module):
        function, name = owner, type(owner).__name__
    shown = label_arguments(getattr(function, "forward", function), args, kwargs)
    return plain_call(Call(f"{name}(...)", function, args, kwargs, shown))


def _describe(text: str, error: BaseException) -> Diagnosis:
    """Return what the error itself shows, of a call with this text."""
    place, _ = _place_of(error)
    source = linecache.getline(*place).strip()
    expression = _expression_at(place, error)
    pitfall = pitfall_of(error, source, expression)
    is_dynamos = type(error).__name__ in ("Unsupported", "UserError")
    reason = f"{dynamo.describe_break(str(error))}."
    because = reason if is_dynamos and pitfall is None else UNKNOWN
    return describe(text, error, _message(error), place[1], source, pitfall, because, expression)


def _expression_at(place: Place, error: BaseException) -> str:
    """Return the expression at a place; empty where the traceback does not lead there."""
    trace, text = error.__traceback__, ""
    while trace is not None:
        if (trace.tb_frame.f_code.co_filename, trace.tb_lineno) == place:
            text = expression_of_instruction(trace.tb_frame, trace.tb_lasti, trace.tb_lineno)[1]
        trace = trace.tb_next
    return text


def _message(error: BaseException) -> str:
    """Return the first line that says something by itself; a heading goes with the next."""
    text = re.sub(r":\s*\n\s*", ": ", str(error).strip())
    line = text.partition("\n")[0]
    if line == _NO_FAKE and (raised := _RAISED.search(text)):
        line = raised[1]
    return line if len(line) <= _MESSAGE_CHARACTERS else f"{line[: _MESSAGE_CHARACTERS - 4]} ..."


def _place_of(error: BaseException) -> tuple[Place, CodeType | None]:
    """Return the user's innermost line, and the code that it is part of where that is known."""
    stack = getattr(error, "real_stack", None) or ()  # dynamo's own account of where it was
    places = [(f.filename, f.lineno or 0) for f in stack if is_outside_torch(f.filename)]
    if places:
        return places[-1], None
    code, line = None, 0
    for frame, number in walk_tb(error.__traceback__):
        if is_outside_torch(frame.f_code.co_filename):
            code, line = frame.f_code, number
    return (code.co_filename if code else "", line), code
