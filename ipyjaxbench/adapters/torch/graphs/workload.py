"""What a PyTorch program has to do, whichever way it is computed."""

from collections import defaultdict
from typing import Any

import torch

from ipyjaxbench.adapters.shared import strides
from ipyjaxbench.adapters.torch.graphs.captured import CapturedGraphs
from ipyjaxbench.adapters.torch.graphs.program import Program, fake_tensor_of, operation
from ipyjaxbench.graphs import Workload

_ARITHMETIC = ("aten.mm", "aten.addmm", "aten.bmm", "aten.baddbmm", "aten.dot", "aten.mv")
#: They only say how a tensor is to be seen.
_VIEWS = ("aten.t", "aten.transpose.int", "aten.permute", "aten.view", "aten._unsafe_view",
          "aten.unsqueeze", "aten.squeeze.dim", "aten.detach", "aten.alias")  # fmt: skip
_TAGS = ("pointwise", "reduction")


def workload_of(captured: CapturedGraphs, nbytes: int) -> Workload | None:
    """Return the load of a program without breaks; see `ProgramHandle.workload`."""
    if captured.breaks or len(captured.programs) != 1 or captured.programs[0].flops.missed:
        return None
    (program,) = captured.programs
    products: defaultdict[str, float] = defaultdict(float)
    shortcuts = False
    for node in program.operations:
        flops = program.flops.of[node]
        if not flops:
            continue
        dtypes = {tensor.dtype for n in node.all_input_nodes
                  if (tensor := program.tensor_of(n)) is not None}  # fmt: skip
        if len(dtypes) != 1:
            return None
        products[str(dtypes.pop()).removeprefix("torch.")] += flops
        shortcuts = shortcuts or "conv" in operation(node)
    return Workload(dict(products), shortcuts, nbytes if _is_whole(program) else None)


def _is_whole(program: Program) -> bool:
    """Whether all of what goes in is read, and what comes out is computed."""
    if not all(_reads_all(node) or operation(node) in _VIEWS for node in program.operations):
        return False
    sources = [
        node for node in program.module.graph.nodes if node.op in ("placeholder", "get_attr")
    ]
    tensors = [tensor for node in sources if (tensor := program.tensor_of(node)) is not None]
    repeated = any(strides.overlaps(tensor.shape, tensor.stride()) for tensor in tensors)
    results = [node for node in program.results if isinstance(node, torch.fx.Node)]
    unused = any(not node.users for node in sources if fake_tensor_of(node) is not None)
    return not (repeated or unused) and all(map(_reads_all, results))


def _reads_all(node: Any) -> bool:
    """Whether an operation computes with every number of what it takes."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    known = [getattr(torch.Tag, name, None) for name in _TAGS]  # the second came with 2.13
    tagged = any(tag in node.target.tags for tag in known if tag is not None)
    return tagged or operation(node) in _ARITHMETIC
