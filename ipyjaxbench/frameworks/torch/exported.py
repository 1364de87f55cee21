"""A call as torch.export gives it."""

import contextlib
import io
from typing import Any

import torch

from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.torch import given, lines, tensors
from ipyjaxbench.frameworks.torch.found import Found
from ipyjaxbench.frameworks.torch.program import Program


class _Called(torch.nn.Module):
    """A function as the module that export takes."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def trace(call: Call) -> Found:
    """The exported program of a call.

    Args:
        call: a plain one; it is not made.

    Returns:
        The program; its inputs have the names of the arguments, and of a module's own state.
    """
    function = call.function
    module = function if isinstance(function, torch.nn.Module) else _Called(function)
    # A graph that fails is printed; what a function names beside its arguments is written to.
    with contextlib.redirect_stderr(io.StringIO()), lines.kept(), tensors.put_back(call):
        exported = torch.export.export(module, call.args, dict(call.kwargs), strict=False)
    signature = exported.graph_signature
    held = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    arguments = iter(given.of(call).labels)
    names = {}
    for node in exported.graph.nodes:
        if node.op == "placeholder" and node.name in held:
            names[node] = held[node.name].removeprefix("_function.")
        elif node.op == "placeholder" and node.name in signature.user_inputs:
            names[node] = next(arguments, node.name)
    return Found.whole(exported, Program(exported.graph_module, names))
