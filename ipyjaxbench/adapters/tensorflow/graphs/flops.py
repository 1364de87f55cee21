"""How much one operation of a graph computes: as TensorFlow counts it, or one for each number."""

import math
import re
from typing import Any

from tensorflow.python.framework import ops
from tensorflow.python.profiler.internal import flops_registry
from tensorflow.python.util import deprecation

#: TensorFlow registers its own counts when this is imported.
REGISTRY = flops_registry

#: One operation for each number that they give.
ELEMENTWISE = frozenset(
    (
        *("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "FloorDiv", "FloorMod", "Mod", "Maximum"),
        *("Minimum", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Rint", "Pow", "Square"),
        *("Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan", "Asin", "Acos"),
        *("Atan", "Atan2", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Sigmoid", "Erf"),
        *("Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Relu", "Relu6", "LeakyRelu", "Elu"),
        *("Selu", "Softplus", "Softsign", "Select", "SelectV2", "ClipByValue", "MulNoNan"),
        *("DivNoNan", "Xdivy", "Xlogy", "Inv", "ReluGrad", "Relu6Grad", "LeakyReluGrad"),
        *("AssignAddVariableOp", "AssignSubVariableOp"),
    )
)
#: So many operations for each number that they give: products, and differences from one.
_SEVERAL = {"TanhGrad": 3, "SigmoidGrad": 3, "SqrtGrad": 2, "EluGrad": 2, "SoftplusGrad": 3,
            "LogSoftmax": 5, "XlaRemat": 0}  # fmt: skip
#: One operation for each number that they take.
REDUCTIONS = frozenset(
    ("Sum", "Mean", "Max", "Min", "Prod", "ArgMax", "ArgMin", "Cumsum", "Cumprod", "EuclideanNorm",
     "SegmentSum", "UnsortedSegmentSum")
)  # fmt: skip
#: They move numbers, or make them.
_FREE = re.compile(
    r"(.*(Placeholder|Const|Identity|IdentityN|NoOp|Reshape|ExpandDims|Squeeze|Transpose|Concat"
    r"|ConcatV2|Pack|Unpack|Split|SplitV|Slice|StridedSlice|StridedSliceGrad|Gather|GatherV2"
    r"|GatherNd|Tile|Fill|ZerosLike|OnesLike|BroadcastTo|Pad|PadV2|MirrorPad|Shape|Size|Rank|Cast"
    r"|Range|LinSpace|OneHot|Where|Reverse|ReverseV2|ReverseSequence|Roll|StopGradient"
    r"|PreventGradient|Bitcast|Diag|MatrixDiagV3|MatrixSetDiagV3|MatrixDiagPartV3|MatrixBandPart"
    r"|InvertPermutation|EnsureShape|Unique|Snapshot|Assert|Print|PrintV2|CheckNumericsV2"
    r"|VariableOp|VarHandleOp|VarIsInitializedOp|Softmax|DeepCopy))"
    r"|Random.*|Stateless(Random|Truncated|Parameterized).*|Stateful.*|TensorList.*|TensorArray.*"
    r"|.*Scatter.*|.*Dataset.*|Iterator.*|.*BatchToSpace.*|.*SpaceTo.*|Debug.*|EmptyTensorList"
)


def flops_of(op: Any) -> float | None:
    """Return the floating-point operations of one without inner functions; None if unknown."""
    try:
        with deprecation.silence():  # TensorFlow counts with a function that it deprecated
            counted = ops.get_stats_for_node_def(op.graph, op.node_def, "flops").value
        if counted is not None:
            return float(counted)
        return _size_flops(op)
    except Exception:  # noqa: BLE001  shapes that are not known raise one thing and another
        return None


def _size_flops(op: Any) -> float | None:
    kind = op.type
    if kind in ELEMENTWISE or kind in _SEVERAL:
        counted = op.outputs or op.inputs[-1:]
        return float(_size(counted[0]) * _SEVERAL.get(kind, 1))
    if kind in REDUCTIONS:
        return float(_size(op.inputs[0]))
    if kind == "Einsum":
        return _einsum(op)
    if _FREE.fullmatch(kind) or not any(t.dtype.is_floating or t.dtype.is_complex
                                        for t in op.outputs):  # fmt: skip
        return 0.0
    return None


def _einsum(op: Any) -> float:
    """Count two for each choice of all indices, where two tensors are multiplied; else one."""
    left, _ = op.get_attr("equation").decode().split("->")
    sizes: dict[str, int] = {}
    for letters, tensor in zip(left.split(","), op.inputs, strict=True):
        shape = tensor.shape.as_list()
        before, dots, after = letters.partition("...")
        more = [f"...{i}" for i in range(len(shape) - len(before) - len(after))] if dots else []
        sizes.update(zip([*before, *more, *after], shape, strict=True))
    return float(math.prod(sizes.values()) * (2 if len(op.inputs) > 1 else 1))


def _size(tensor: Any) -> int:
    return math.prod(tensor.shape.as_list())
