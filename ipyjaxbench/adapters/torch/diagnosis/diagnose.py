"""Why PyTorch would not trace a call, and what would help, each fix tried by tracing it."""

import itertools
import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

import torch

from ipyjaxbench.adapters.torch.diagnosis import eager_check, rewrite
from ipyjaxbench.adapters.torch.graphs import arguments, aten, dynamo, dynamo_frames, fake_tensors
from ipyjaxbench.adapters.torch.graphs.isolation import as_before
from ipyjaxbench.adapters.torch.graphs.program import Place, is_users
from ipyjaxbench.graphs.diagnosis import Diagnosis, Fix, Pitfall
from ipyjaxbench.usercode.call import Call, labels

_MOST_FIXES = 3
_SHAPES = "and while tracing there are only shapes"
_NO_VALUE = "DataDependentOutputException"
_LONGEST = 200  # characters of a message
#: What dynamo says first where an operation raised, and behind that what was raised.
_NO_FAKE = "RuntimeError when making fake tensor call"
_RAISED = re.compile(r"got \w+\([\"'](.+?)[\"']\)$", re.MULTILINE)
_TRUTH = Pitfall(
    (_NO_VALUE,),
    "",
    f"if or while asks for a tensor's value, {_SHAPES}",
    "torch.where, or torch.cond",
    asks=True,
)

_PITFALLS = (
    Pitfall(
        ("GuardOnDataDependentSymNode",),
        "",
        f"if, while or a shape asks for a tensor's value, {_SHAPES}",
        "torch.where, or torch.cond",
        asks=True,
    ),
    Pitfall(
        (_NO_VALUE,),
        "",
        f"a Python number is made of a tensor's value, {_SHAPES}",
        "torch.where for if; keep the number as a tensor",
        asks=True,
    ),
    Pitfall(
        ("DynamicOutputShapeException",),
        "",
        "the shape of a result depends on values, and shapes are fixed before values exist",
        "torch.where(mask, x, 0), which keeps the shape",
        asks=True,
    ),
    Pitfall(
        (),
        ".numpy() is not supported",
        f"NumPy asks for the numbers, {_SHAPES}",
        "the same functions of torch",
    ),
    Pitfall(
        ("Unsupported", "UserError"),
        "ata-dependent branching",
        f"if, while, and, or, not ask for a tensor's value, {_SHAPES}",
        "torch.where, or torch.cond",
        asks=True,
    ),
    Pitfall(
        ("Unsupported", "UserError"),
        "Tensor.item()",
        f"a Python number is made of a tensor's value, {_SHAPES}",
        "keep the number as a tensor, or torch._dynamo.config.capture_scalar_outputs = True",
        asks=True,
    ),
    Pitfall(
        ("Unsupported", "UserError"),
        "Dynamic shape operator",
        "the shape of a result depends on values, and shapes are fixed before values exist",
        "torch.where(mask, x, 0), which keeps the shape",
        asks=True,
    ),
)


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
    pitfall = _pitfall_of(error)
    place, code = _place_of(error)
    found = _told(call.text, error, place)
    if pitfall is None:
        return found
    inner, blamed = aten.failure(call)
    where, its_code = _place_of(inner) if inner is not None else (("", 0), None)
    if where != place or not pitfall.asks:
        blamed = ()
    elif code is None:
        code = its_code
    eager = eager_check.Eager(call, has_values=has_values)
    tried = _fixes(call, place[1], code, find, eager) if code else ()
    return replace(found, blamed=blamed, tries=2, fixes=tuple(itertools.islice(tried, _MOST_FIXES)))


def explain(error: BaseException) -> Diagnosis | None:
    """Say why torch.compile would not take a function as one graph; it is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where dynamo did not raise it.
    """
    if type(error).__module__ != "torch._dynamo.exc" or not isinstance(error, Exception):
        return None
    call = _compiled_call(error)
    if call is None:
        return _told("the cell", error, _place_of(error)[0])
    with as_before():
        return diagnose(call, error, _in_one_graph)


def _told(text: str, error: Exception, place: Place) -> Diagnosis:
    pitfall = _pitfall_of(error)
    because = pitfall.because if pitfall else "the code raises while it is traced"
    if pitfall is None and type(error).__name__ in ("Unsupported", "UserError"):
        because = dynamo.in_words(str(error))
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
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."


def _pitfall_of(error: Exception) -> Pitfall | None:
    if type(error).__name__ == _NO_VALUE and _asks_for_truth(error):
        return _TRUTH
    kinds = {kind.__name__ for kind in type(error).__mro__}
    fitting = (p for p in _PITFALLS if not p.errors or kinds.intersection(p.errors))
    return next((p for p in fitting if p.text in str(error)), None)


def _asks_for_truth(error: Exception) -> bool:
    traceback = error.__traceback__
    while traceback is not None:
        if fake_tensors.truth_is_asked(traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def _place_of(error: BaseException) -> tuple[Place, CodeType | None]:
    """The user's innermost line, and the code that it is part of where that is known."""
    stack = getattr(error, "real_stack", None) or ()  # dynamo's own account of where it was
    mine = [(f.filename, f.lineno or 0) for f in stack if is_users(f.filename)]
    if mine:
        return mine[-1], None
    place, code, traceback = ("", 0), None, error.__traceback__
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            code = traceback.tb_frame.f_code
            place = code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return place, code


def _fixes(
    call: Call,
    line: int,
    code: CodeType,
    find: Callable[[Call], object],
    eager: eager_check.Eager,
) -> Iterator[Fix]:
    """Rewritten lines with which the call traces, and gives the same."""
    functions = dynamo_frames.owners([code])
    if not functions or "torch" not in functions[0].__globals__:
        return
    told = set()
    for changed, text, changes, same in rewrite.rewritten(functions[0], line):
        if text not in told and _helps(call, functions, changed, find, eager, same=same):
            told.add(text)
            yield Fix(text, changes)


def _helps(
    call: Call,
    functions: Sequence[FunctionType],
    code: CodeType,
    find: Callable[[Call], object],
    eager: eager_check.Eager,
    *,
    same: bool,
) -> bool:
    """Whether a call traces while all functions that have the same code have another one.

    Traced, it has to give what it gave, or what it gives with that code where this may differ.
    """
    before, _ = functions[0].__code__, eager.result  # made while the code is the user's
    for function in functions:
        function.__code__ = code
    try:
        find(call)
        return not (eager if same else eager.again()).differs()
    except Exception:  # noqa: BLE001  whatever it is, it is no fix
        return False
    finally:
        for function in functions:
            function.__code__ = before


def _in_one_graph(call: Call) -> None:
    if dynamo.unbroken(call) is None:
        raise ValueError("there is a graph break")


def _compiled_call(error: BaseException) -> Call | None:
    """What was called through torch.compile, as its own frame shows."""
    traceback = error.__traceback__
    while traceback is not None:
        held = traceback.tb_frame.f_locals
        if traceback.tb_frame.f_code.co_name == "compile_wrapper" and "fn" in held:
            return _call_of(held["fn"], held.get("args", ()), held.get("kwargs", {}))
        traceback = traceback.tb_next
    return None


def _call_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(owner, torch.nn.Module):
        function, name = owner, type(owner).__name__
    shown = labels(getattr(function, "forward", function), args, kwargs)
    return arguments.plain(Call(f"{name}(...)", function, args, kwargs, shown))
