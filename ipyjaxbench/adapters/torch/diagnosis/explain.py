"""Why code that failed would not compile: the function that dynamo refused is traced again."""

from traceback import walk_tb
from typing import Any

import torch

from ipyjaxbench.adapters.torch.diagnosis.diagnose import describe, diagnose, place_of
from ipyjaxbench.adapters.torch.graphs import arguments, dynamo
from ipyjaxbench.adapters.torch.graphs.isolation import keep_settings
from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.usercode import Call, label_arguments


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
        return describe("the cell", error, place_of(error)[0])
    with keep_settings():
        return diagnose(call, error, _in_one_graph)


def _in_one_graph(call: Call) -> None:
    if dynamo.unbroken(call) is None:
        raise ValueError("there is a graph break")


def _compiled_call(error: BaseException) -> Call | None:
    """What was called through torch.compile, as its own frame shows."""
    for frame, _ in walk_tb(error.__traceback__):
        names = frame.f_locals
        if frame.f_code.co_name == "compile_wrapper" and "fn" in names:
            return _call_of(names["fn"], names.get("args", ()), names.get("kwargs", {}))
    return None


def _call_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(owner, torch.nn.Module):
        function, name = owner, type(owner).__name__
    shown = label_arguments(getattr(function, "forward", function), args, kwargs)
    return arguments.plain_call(Call(f"{name}(...)", function, args, kwargs, shown))
