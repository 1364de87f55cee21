"""Floating-point operations of a graph, node by node, from shapes alone: nothing is computed."""

import math
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree, flop_counter
from torch.utils._python_dispatch import _disable_current_modes

from ipyjaxbench.adapters.torch.graphs.node_values import result_of
from ipyjaxbench.errors import CODE_ERRORS

_aten = torch.ops.aten
#: Words in the names of operations that are products, for which there may be no formula.
_PRODUCTS = re.compile(
    r"(?:^|_)(\w*mm|attention|conv\w*|einsum|encoder|gru|linear|lstm|\w*matmul|\w*dot|\w*mv|rnn|trilinear)"
    r"(?:_|$)"
)
#: Where PyTorch keeps its own operations; those of others may compute anything.
_ITS_OWN = ("aten", "prim", "prims", "profiler", "quantized", "rngprims")
_LOOPS = ("associative_scan", "map", "scan", "while_loop")
_NEED_VALUES = ("DataDependentOutputException", "DynamicOutputShapeException",
                "GuardOnDataDependentSymNode")  # fmt: skip

Shape = Sequence[int]


class Flops:
    """What the operations of a graph cost.

    Args:
        module: it holds the graph.
        value_of: what stands for a node's result: tensors, most without data, or numbers.

    Attributes:
        of: FLOP of each operation.
        missed: products that could not be counted.
    """

    def __init__(self, module: Any, value_of: Callable[[Any], Any]) -> None:
        self._value_of = value_of
        self.of: dict[Any, float] = {}
        self.missed: list[Any] = []
        nodes = list(module.graph.nodes)
        values = pytree.tree_leaves([value_of(node) for node in nodes])
        modes = (v.fake_mode for v in values if hasattr(v, "fake_mode"))
        self._mode: Any = next(modes, None)
        operations = [node for node in nodes if node.op in ("call_function", "call_method")]
        if self._mode is None:  # there is no tensor in it
            self.of = dict.fromkeys(operations, 0.0)
            return
        with self._mode, _Counter() as counter:
            for node in operations:
                self._count(node, counter)

    def _count(self, node: Any, counter: "_Counter") -> None:
        before, missed = counter.get_total_flops(), counter.missed
        flops = 0.0
        try:
            args, kwargs = torch.fx.map_arg((node.args, dict(node.kwargs)), self._shaped)
            packet = getattr(node.target, "overloadpacket", node.target)
            if packet in counter.flop_registry:
                out = self._value_of(node)
                flops = counter.flop_registry[packet](*args, **kwargs, out_val=out)
            elif isinstance(packet, torch._ops.HigherOrderOperator):
                flops = self._inside(node, args)
            elif _is_made_of_others(node.target):
                _call(node, args, kwargs)
                flops = counter.get_total_flops() - before
            elif is_product(packet):
                counter.missed += 1
        except CODE_ERRORS as error:  # a formula or an operation may fail in any way
            if type(error).__name__ not in _NEED_VALUES and is_product(node.target):
                counter.missed += 1
        if counter.missed > missed:
            self.missed.append(node)
        self.of[node] = float(flops)

    def _inside(self, node: Any, args: Any) -> float:
        """Count the graphs that an operation takes: the costlier branch, one turn of a loop."""
        graphs = [g for g in pytree.tree_leaves(args) if isinstance(g, torch.fx.GraphModule)]
        inner = [Flops(graph, partial(result_of, graph)) for graph in graphs]
        self.missed += [each for flops in inner for each in flops.missed]
        costs = [sum(flops.of.values()) for flops in inner]
        name = str(node.target)
        if any(costs) and any(word in name for word in _LOOPS):
            self.missed.append(node)
        return max(costs, default=0.0) if "cond" in name else sum(costs)

    def _shaped(self, node: Any) -> Any:
        """Return what stands for a node's result; a tensor that the graph holds loses its data."""
        value = self._value_of(node)
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return value
        with _disable_current_modes():
            return self._mode.from_tensor(value, static_shapes=True)


class _NoModules(nullcontext[None]):
    """Takes the place of hooks on all modules, which tell the counter in which it is.

    As any new hook does, they would have the next look for hooks search all of the session.
    """

    parents = ("Global",)


class _Counter(flop_counter.FlopCounterMode):
    """PyTorch's own counter, with formulas for what it lacks."""

    def __init__(self) -> None:
        super().__init__(display=False, custom_mapping=_formulas())
        self.mod_tracker: Any = _NoModules()
        self.missed = 0

    def _count_flops(self, func_packet: Any, out: Any, args: Any, kwargs: Any) -> Any:
        if func_packet not in self.flop_registry and is_product(func_packet):
            self.missed += 1
        return super()._count_flops(func_packet, out, args, kwargs)


def is_product(target: Any) -> bool:
    """Whether an operation multiplies matrices, as its name says, or may do so unseen."""
    if isinstance(target, torch._ops.HigherOrderOperator):
        return True
    name = str(getattr(target, "__name__", target))
    is_others = False
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        space, _, name = str(target).partition(".")
        is_others = space not in _ITS_OWN
    return is_others or bool(_PRODUCTS.search(name.partition(".")[0]))


def _is_made_of_others(target: Any) -> bool:
    """Whether PyTorch computes an operation by others, or it is one that takes functions."""
    if not isinstance(target, torch._ops.OpOverload):
        return True
    key = "CompositeImplicitAutograd"
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), key))


def _call(node: Any, args: Any, kwargs: Any) -> None:
    if node.op == "call_method":
        getattr(args[0], node.target)(*args[1:], **kwargs)
    else:
        node.target(*args, **kwargs)


def _formulas() -> dict[Any, Callable[..., int]]:
    """Return formulas by operation, for those that PyTorch's counter does not know.

    A product of matrices of m by k and k by n takes 2mkn operations, as PyTorch counts it too.
    """
    names: dict[Callable[..., int], Sequence[str]] = {
        _attention: (
            "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_fused_attention_overrideable",
        ),
        _attention_backward: (
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            "_scaled_dot_product_fused_attention_overrideable_backward",
        ),
        _rnn: ("mkldnn_rnn_layer", "_cudnn_rnn", "miopen_rnn"),
        _rnn_backward: ("mkldnn_rnn_layer_backward", "_cudnn_rnn_backward", "miopen_rnn_backward"),
        _product: ("dot", "vdot", "mv", "_int_mm"),
        _product_added: ("addmv", "addbmm", "_addmm_activation", "addmv_", "addbmm_", "addmm_",
                         "baddbmm_"),
    }  # fmt: skip
    known = ((getattr(_aten, n, None), formula) for formula, ns in names.items() for n in ns)
    return {packet: formula for packet, formula in known if packet is not None}


def _product(a: Shape, b: Shape, *_: Any, **__: Any) -> int:
    """Count a product of matrices, of those with vectors, and of several at once."""
    columns = b[-1] if len(b) > 1 else 1
    return 2 * math.prod(a) * columns


def _product_added(_: Shape, a: Shape, b: Shape, *__: Any, **___: Any) -> int:
    return _product(a, b)


def _attention(query: Shape, key: Shape, value: Shape, *_: Any, **__: Any) -> int:
    """Count scores and weighed values; a causal mask saves nothing, as PyTorch counts."""
    return int(flop_counter.sdpa_flop_count(query, key, value))


def _attention_backward(
    out: Shape, query: Shape, key: Shape, value: Shape, *_: Any, **__: Any
) -> int:
    return int(flop_counter.sdpa_backward_flop_count(out, query, key, value))


def _rnn(sequence: Shape, *rest: Any, **_: Any) -> int:
    """Count products of what goes in and of the state by their matrices, for all gates."""
    steps = math.prod(sequence[:-1])
    return 2 * steps * sum(math.prod(shape) for shape in _weights(rest))


def _rnn_backward(sequence: Shape, *rest: Any, **_: Any) -> int:
    """Count two for each product of the forward pass: by what went in, and by the matrix."""
    return 2 * _rnn(sequence, *rest)


def _weights(rest: Sequence[Any]) -> list[Shape]:
    """Return the matrices of a recurrent layer: in a list of all, or among the first four."""
    several = rest[:4] if isinstance(rest[0], torch.Size) else rest[0]
    return [each for each in several if isinstance(each, torch.Size) and len(each) == 2]
