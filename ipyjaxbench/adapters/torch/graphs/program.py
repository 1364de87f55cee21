"""One FX graph: its text, what is counted in it, from which lines it comes."""

import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench import units
from ipyjaxbench.adapters.torch.graphs.node_values import result_of
from ipyjaxbench.graphs import Node, Step, Value, line_of_hidden
from ipyjaxbench.usercode import PACKAGE

if TYPE_CHECKING:
    from ipyjaxbench.adapters.torch.graphs.flops import Flops

_FIRST_OPERATIONS, _LAST_OPERATIONS = 60, 15  # operations that a long text shows
_PYTORCH = str(torch.__path__[0])
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')

Place = tuple[str, int]


class Program:
    """An FX graph whose nodes know their types.

    Args:
        module: it holds the graph.
        names: what its inputs are called.
        constants: tensors that go in and are none of its inputs, but part of it.

    Attributes:
        operations: the nodes that compute, in their order.
        results: what comes out: nodes, or numbers and the like.
        names: of all nodes.
    """

    def __init__(
        self, module: Any, names: Mapping[Any, str], constants: Mapping[Any, Any] | None = None
    ) -> None:
        self.module = module
        nodes = list(module.graph.nodes)
        self.operations = [n for n in nodes if n.op in ("call_function", "call_method")]
        self._constants = constants or {}
        ins = [n for n in nodes if n.op == "placeholder"]
        self._placeholders = [n for n in ins if n not in self._constants]
        self._held = [n for n in nodes if n.op == "get_attr"]
        self._held += [n for n in self._constants if n.users]
        ends = [node.args[0] for node in nodes if node.op == "output"]
        self.results = pytree.tree_leaves(ends)
        self.names = {**_distinct_names(self.operations, set(names.values())), **names}

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The tensors that go in."""
        known = ((self.names.get(n, n.name), fake_tensor_of(n)) for n in self._placeholders)
        return tuple(value_of(name, tensor) for name, tensor in known if tensor is not None)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The tensors that come out."""
        known = (fake_tensor_of(n) for n in self.results if isinstance(n, torch.fx.Node))
        return tuple(value_of("", tensor) for tensor in known if tensor is not None)

    @property
    def constants(self) -> tuple[Value, ...]:
        """The tensors that are part of it, the largest first."""
        held = {n.target: self._result_of(n) for n in self._held}
        values = [
            value_of(n, tensor) for n, tensor in held.items() if isinstance(tensor, torch.Tensor)
        ]
        return tuple(sorted(values, key=lambda value: -value.nbytes))

    @cached_property
    def flops(self) -> "Flops":
        """What its operations cost; PyTorch's counter is loaded for this, and triton with it."""
        from ipyjaxbench.adapters.torch.graphs.flops import Flops

        return Flops(self.module, self._result_of)

    @property
    def steps(self) -> Iterator[Step]:
        """Place, name and cost of each operation."""
        for node in self.operations:
            place = innermost_place(places_in(node.stack_trace or "")) or ("", 0)
            yield Step(*place, operation(node), self.flops.of[node], _moved(node))

    def text(self, *, whole: bool) -> str:
        """Return one line for each operation; a long text is folded unless all is wanted."""
        lines = [self._line(node) for node in self.operations]
        if not whole and len(lines) > _FIRST_OPERATIONS + _LAST_OPERATIONS:
            hidden = len(lines) - _FIRST_OPERATIONS - _LAST_OPERATIONS
            lines[_FIRST_OPERATIONS:-_LAST_OPERATIONS] = [line_of_hidden(hidden, "operations")]
        result = f"return {', '.join(map(self._spelled, self.results))}"
        return "\n".join([*lines, result.rstrip()])

    def nodes(self, prefix: str = "") -> Iterator[Node]:
        """Yield inputs, operations and outputs, their names after a prefix."""
        for node in self._placeholders:
            label = f"{self.names.get(node, node.name)} {_typed(node)}".strip()
            yield Node(prefix + node.name, label)
        for node in self._held:
            yield Node(prefix + node.name, f"{node.target} {_typed(node)}".strip())
        for node in self.operations:
            takes = tuple(prefix + source.name for source in node.all_input_nodes)
            yield Node(prefix + node.name, f"{operation(node)} {_typed(node)}".strip(), takes)
        last = (prefix + n.name for n in self.results if isinstance(n, torch.fx.Node))
        yield Node(f"{prefix}out", "result", tuple(dict.fromkeys(last)))

    def tensor_of(self, node: Any) -> Any:
        """Return the tensor that stands for a node's result; None where it is none."""
        value = self._result_of(node)
        return value if isinstance(value, torch.Tensor) else None

    def _result_of(self, node: Any) -> Any:
        known = self._constants.get(node)
        return result_of(self.module, node) if known is None else known

    def _line(self, node: Any) -> str:
        arguments = [*map(self._spelled, node.args)]
        arguments += [f"{key}={self._spelled(value)}" for key, value in node.kwargs.items()]
        typed = _typed(node)
        kind = f": {typed}" if typed else ""
        return f"{self.names[node]}{kind} = {operation(node)}({', '.join(arguments)})"

    def _spelled(self, value: Any) -> str:
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self._spelled, value))}]"
        if isinstance(value, torch.fx.Node):
            return self.names.get(value, str(value))
        return repr(value)


def value_of(name: str, tensor: Any) -> Value:
    """Describe a tensor."""
    shape = tuple(map(_size, tensor.shape))
    nbytes = math.prod(max(n, 0) for n in shape) * tensor.element_size()
    return Value(name, str(tensor.dtype).removeprefix("torch."), shape, nbytes)


def fake_tensor_of(node: Any) -> Any:
    """Return the tensor without data that stands for a node's result; None if it is none."""
    value = node.meta.get("val", node.meta.get("example_value"))
    return value if isinstance(value, torch.Tensor) else None


def places_in(text: str) -> list[Place]:
    """Return the files and lines that a traceback names."""
    return [(file, int(line)) for file, line in _PLACE.findall(text)]


def innermost_place(places: Iterable[Place]) -> Place | None:
    """Return the last place that is neither PyTorch's nor ours; None where there is none."""
    return next((p for p in reversed([*places]) if is_outside_torch(p[0])), None)


def is_own_file(file: str) -> bool:
    """Whether code is part of this package."""
    return file.startswith(PACKAGE)


def is_outside_torch(file: str) -> bool:
    """Whether code is neither PyTorch's nor ours."""
    return not file.startswith((_PYTORCH, PACKAGE, "<frozen", "<eval_with", "<string>"))


def operation(node: Any) -> str:
    """Return ``aten.mm`` without the name of its overload, ``torch.relu``, ``Tensor.sum``."""
    target = node.target
    if node.op == "call_method":
        return f"Tensor.{target}"
    if isinstance(target, torch._ops.OpOverload):
        return str(target).removesuffix(".default")
    name = getattr(target, "__name__", str(target))
    if getattr(operator, name, None) is target:
        return str(name)
    module = str(getattr(target, "__module__", None) or "torch")
    known = {"torch._C._nn": "torch.nn.functional", "torch._tensor": "Tensor"}
    if name.startswith("wrapped_") and module == "torch._dynamo.utils":
        return f"numpy.{name.removeprefix('wrapped_')}"
    return f"{known.get(module, module)}.{name}"


def _moved(node: Any) -> int:
    """Return the bytes of the tensors that an ATen operation takes and gives; a view moves none."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return 0
    aliases = [each.alias_info for each in node.target._schema.returns]
    if any(alias is not None and not alias.is_write for alias in aliases):
        return 0
    given = [fake_tensor_of(each) for each in node.all_input_nodes]
    tensors = [*given, *pytree.tree_leaves(node.meta.get("val"))]
    return sum(value_of("", each).nbytes for each in tensors if isinstance(each, torch.Tensor))


def _typed(node: Any) -> str:
    value = fake_tensor_of(node)
    if value is None:
        return ""
    return units.array(str(value.dtype).removeprefix("torch."), tuple(value.shape))


def _size(number: Any) -> int:
    """Return the length of an axis; -1 where it depends on values."""
    return int(number) if isinstance(number, int) or number.node.has_hint() else -1


def _distinct_names(nodes: Sequence[Any], taken: set[str]) -> dict[Any, str]:
    """Name operations so that none has the name of an input."""
    return {node: f"{node.name}_out" if node.name in taken else node.name for node in nodes}
