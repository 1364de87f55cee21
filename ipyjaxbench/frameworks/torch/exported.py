"""A call as torch.export gives it."""

import contextlib
import io
from typing import Any

import torch

from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.torch import given, lines, tensors
from ipyjaxbench.frameworks.torch.found import Found
from ipyjaxbench.frameworks.torch.given import Given
from ipyjaxbench.frameworks.torch.program import Program


class _Called(torch.nn.Module):
    """A call as the module that export takes: of its tensors alone, with all else fixed."""

    def __init__(self, inputs: Given) -> None:
        super().__init__()
        self._inputs = inputs

    def forward(self, *given: Any) -> Any:
        args, kwargs = self._inputs.with_tensors(given)
        return self._inputs.function(*args, **kwargs)


def trace(call: Call) -> Found:
    """The exported program of a call.

    Args:
        call: a plain one; it is not made.

    Returns:
        The program; its inputs have the names of the arguments, and of a module's own state.
    """
    inputs = given.of(call)
    is_module = isinstance(call.function, torch.nn.Module)
    module = call.function if is_module else _Called(inputs)
    args, kwargs = (call.args, dict(call.kwargs)) if is_module else (tuple(inputs.tensors), {})
    # A graph that fails is printed; what a function names beside its arguments is written to.
    with (
        contextlib.redirect_stderr(io.StringIO()),
        lines.kept(),
        tensors.put_back(call, is_made=False),
    ):
        exported = torch.export.export(module, args, kwargs, strict=False)
    signature = exported.graph_signature
    held = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    arguments = iter(inputs.labels if is_module else inputs.names)
    names = {}
    for node in exported.graph.nodes:
        if node.op == "placeholder" and node.name in held:
            names[node] = held[node.name]
        elif node.op == "placeholder" and node.name in signature.user_inputs:
            names[node] = next(arguments, node.name)
    return Found.whole(exported, Program(exported.graph_module, names))
