"""A call as torch.export gives it."""

import contextlib
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from ipyjaxbench.adapters.torch.graphs import isolation, source_lines
from ipyjaxbench.adapters.torch.graphs.arguments import CallInputs, inputs_of
from ipyjaxbench.adapters.torch.graphs.captured import CapturedGraphs
from ipyjaxbench.adapters.torch.graphs.fake_tensors import StandIns
from ipyjaxbench.adapters.torch.graphs.program import Program
from ipyjaxbench.adapters.torch.tensors import is_plain
from ipyjaxbench.usercode import Call


class _Called(torch.nn.Module):
    """A call as the module that export takes: of its tensors alone, with all else fixed.

    The module that is called, and tensors that the code names, are part of this one: export would
    compute with others.
    """

    def __init__(self, inputs: CallInputs, named: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self._inputs = inputs
        if isinstance(inputs.function, torch.nn.Module):
            self.called = inputs.function
        own = {id(t) for t in (*inputs.tensors, *self.parameters(), *self.buffers())}
        self.named: dict[str, list[torch.Tensor]] = {}
        for tensor in named:
            if id(tensor) in own or not is_plain(tensor):
                continue
            name = f"named_{len(self.named)}"
            self.named[name] = [tensor]  # in a list, where export does not look for it
            if isinstance(tensor, torch.nn.Parameter):
                self.register_parameter(name, tensor)
            else:
                self.register_buffer(name, tensor)

    def forward(self, *inputs: Any) -> Any:
        stand_ins = StandIns(torch._guards.detect_fake_mode(inputs))
        for name, (tensor,) in self.named.items():
            stand_ins.add(tensor, getattr(self, name), is_input=False)
        for tensor, fake in zip(self._inputs.tensors, inputs, strict=True):
            stand_ins.add(tensor, fake)
        args, kwargs = self._inputs.with_tensors(inputs)
        with stand_ins.replace_named():
            result = self._inputs.function(*args, **kwargs)
        return stand_ins.swap(result)


def trace(call: Call) -> CapturedGraphs:
    """Return the exported program of a plain call, which is not made.

    Its inputs have the names of the arguments, and of a module's own state.
    """
    inputs = inputs_of(call)
    # A graph that fails is printed.
    with (
        contextlib.redirect_stderr(io.StringIO()),
        source_lines.record_lines(),
        isolation.undo_changes(call, is_made=False) as log,
    ):
        called = _Called(inputs, log.tensors)
        is_module = isinstance(call.function, torch.nn.Module) and not called.named
        module = call.function if is_module else called
        args = call.args if is_module else tuple(inputs.tensors)
        kwargs = dict(call.kwargs) if is_module else {}
        exported = torch.export.export(module, args, kwargs, strict=False)
    names, constants = _names(exported, inputs.labels if is_module else inputs.names)
    captured = CapturedGraphs.single(exported, Program(exported.graph_module, names, constants))
    return replace(captured, notes=tuple(log.side_effects.tracer_notes()))


def _names(exported: Any, labels: Sequence[str]) -> tuple[dict[Any, str], dict[Any, Any]]:
    """Return names of inputs, and which are tensors that the code names, no inputs to the user."""
    signature = exported.graph_signature
    held = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    constant = signature.inputs_to_lifted_tensor_constants
    arguments = iter(labels)
    names, constants = {}, {}
    for node in exported.graph.nodes:
        if node.op != "placeholder":
            continue
        name = held.get(node.name, "")
        if name.startswith("named_"):
            constants[node] = exported.state_dict[name]
        elif node.name in constant:
            constants[node] = exported.constants[constant[node.name]]
        elif name:
            names[node] = name.removeprefix("called.")
        elif node.name in signature.user_inputs:
            names[node] = next(arguments, node.name)
    return names, constants
