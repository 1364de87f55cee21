"""What a TensorFlow graph has to do, whichever way it is computed."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.adapters.tensorflow.graphs import program
from ipyjaxbench.adapters.tensorflow.graphs.flops import ELEMENTWISE, REDUCTIONS, flops_of
from ipyjaxbench.graphs import Workload

_CONVOLUTIONS = re.compile(r"(DepthwiseConv|Conv)\d.*")
_PRODUCTS = re.compile(r"(Sparse)?(Batch)?MatMul(V2|V3)?|Einsum")
#: They read all that they are given, or only say how it is to be seen.
_WHOLE = (
    ELEMENTWISE
    | REDUCTIONS
    | {"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Const", "ReadVariableOp", "Cast",
       "Reshape", "Transpose", "BiasAdd", "PartitionedCall", "StatefulPartitionedCall"}
)  # fmt: skip


def workload_of(concrete: Any, nbytes: int) -> Workload | None:
    """Return the load of a graph; see `ProgramHandle.workload`."""
    graph = concrete.graph
    if program.Counted(graph).uncounted:
        return None
    products: defaultdict[str, float] = defaultdict(float)
    recomputed: defaultdict[str, float] = defaultdict(float)
    operations = list(_operations(graph))
    convolves = False
    for op, again in operations:
        is_convolution = _CONVOLUTIONS.fullmatch(op.type) is not None
        convolves = convolves or is_convolution
        if is_convolution or _PRODUCTS.fullmatch(op.type):
            dtype, flops = op.inputs[0].dtype.name, flops_of(op) or 0.0
            products[dtype] += flops
            if again or program.is_recomputed(op):
                recomputed[dtype] += flops
    whole = {op.type for op, _ in operations} <= _WHOLE and _uses_all(concrete)
    return Workload(dict(products), convolves, nbytes if whole else None, dict(recomputed))


def _operations(graph: Any, *, again: bool = False) -> Iterator[tuple[Any, bool]]:
    """Yield all operations, and whether they are in a function whose call is recomputed."""
    for op in program.operations_of(graph):
        yield op, again
        for _, inner in program.inner_graphs(op):
            yield from _operations(inner, again=again or program.is_recomputed(op))


def _uses_all(concrete: Any) -> bool:
    """Whether what comes out is computed, and all that goes in is used."""
    placeholders = [op for op in concrete.graph.get_operations() if op.type == "Placeholder"]
    results = [program.skip_identities(tensor).op for tensor in concrete.outputs]
    return all(op.outputs[0].consumers() for op in placeholders) and not any(
        op.type == "Placeholder" for op in results
    )
