"""A call as ATen operations: traced with tensors that have no data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch

from ipyjaxbench.adapters.torch import trees
from ipyjaxbench.adapters.torch.graphs import isolation, source_lines
from ipyjaxbench.adapters.torch.graphs.arguments import CallInputs, inputs_of, inputs_with_state
from ipyjaxbench.adapters.torch.graphs.captured import CapturedGraphs
from ipyjaxbench.adapters.torch.graphs.fake_tensors import StandIns
from ipyjaxbench.adapters.torch.graphs.isolation import TorchUndoLog
from ipyjaxbench.adapters.torch.graphs.program import Program
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call


def trace(call: Call) -> CapturedGraphs:
    """Return the ATen operations of a plain call; a module's parameters are inputs of their own."""
    inputs = inputs_with_state(call)
    with source_lines.record_lines(), isolation.undo_changes(call, is_made=False) as log:
        traced = _traced(inputs, log)
    captured = CapturedGraphs.single(traced, Program(traced, _names(traced.graph, inputs)))
    return replace(captured, notes=tuple(log.side_effects.tracer_notes()))


def failure(call: Call) -> tuple[BaseException | None, tuple[str, ...]]:
    """Return how tracing fails, and which arguments the last operation before is made of."""
    inputs = inputs_with_state(call)
    with source_lines.record_lines() as nodes, isolation.undo_changes(call, is_made=False) as log:
        try:
            _traced(inputs, log)
        except CODE_ERRORS as error:  # it is what is asked for
            names = _made_of(nodes[-1], inputs) if nodes else ()
            own = set(inputs_of(call).names)
            return error, tuple(name for name in names if name in own)
    return None, ()


def _traced(inputs: CallInputs, log: TorchUndoLog) -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    stand_ins = StandIns(mode := FakeTensorMode(allow_non_fake_inputs=True))
    with mode, _compiled_ones_inlined():
        fakes = [stand_ins.fake(tensor) for tensor in inputs.tensors]
        stand_ins.add_constants(log.tensors)
        lent = [(inputs, stand_ins)]
        try:
            graph = make_fx(_take_tensors(lent), tracing_mode="real")(*fakes)
        finally:
            lent.clear()  # frames keep what functions enclose, even when they are cleared
    for part in (m for m in graph.modules() if isinstance(m, torch.fx.GraphModule)):
        for node in part.graph.nodes:
            if node.op == "get_attr":  # tensors that are part of it have their data again
                setattr(part, node.target, stand_ins.real(getattr(part, node.target)))
    return graph


def _names(graph: Any, inputs: CallInputs) -> dict[Any, str]:
    placeholders = (node for node in graph.nodes if node.op == "placeholder")
    return dict(zip(placeholders, inputs.names, strict=False))


def _made_of(node: Any, inputs: CallInputs) -> tuple[str, ...]:
    names, ancestors, waiting = _names(node.graph, inputs), {node}, [node]
    while waiting:
        new = set(waiting.pop().all_input_nodes) - ancestors
        ancestors |= new
        waiting += new
    return tuple(name for placeholder, name in names.items() if placeholder in ancestors)


def _take_tensors(lent: list[tuple[CallInputs, StandIns]]) -> Callable[..., Any]:
    """Return the call as a function of its tensors alone, as long as it is lent."""

    def of_tensors(*fakes: Any) -> Any:
        ((inputs, stand_ins),) = lent
        args, kwargs = inputs.with_tensors(fakes)
        with stand_ins.replace_named():
            result = inputs.function(*args, **kwargs)
        leaves = trees.leaves(stand_ins.swap(result))
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    return of_tensors


@contextmanager
def _compiled_ones_inlined() -> Iterator[None]:
    """Have a compiled function inside traced as the function that it was made of."""
    from torch._dynamo import config

    name = "error_on_nested_fx_trace"
    with config.patch({name: False}) if name in config.get_config_copy() else nullcontext():
        yield
