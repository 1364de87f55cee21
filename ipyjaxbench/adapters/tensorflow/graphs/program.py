"""What a graph computes, with the functions in it: counted, listed, by line."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from ipyjaxbench import units
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.adapters.tensorflow.graphs.flops import flops_of
from ipyjaxbench.graphs import (
    Count,
    Step,
    Uncounted,
    Value,
    count_by_line,
    count_line,
    line_of,
    line_of_hidden,
)

_FIRST_OPERATIONS, _LAST_OPERATIONS = 60, 15  # operations that a long text shows at each level
_HIDDEN = ("Placeholder", "NoOp", "Identity")
#: They name data that is there, under another shape at most.
_MOVE_NOTHING = ("Const", "ReadVariableOp", "Reshape", "ExpandDims", "Squeeze", "Shape")
_LOOPS, _BRANCHES = ("While", "StatelessWhile"), ("If", "StatelessIf", "Case", "StatelessCase")
_LARGE_CONSTANT_BYTES = 1024  # bytes of a constant that is no axis and no shape
_SHOWN_NUMBERS = 4  # numbers of a constant that are shown
_MADE_NAME = re.compile(r"^__(inference|forward|backward)_|_\d+$")
#: Functions of TensorFlow in which operations are recomputed, and in which derivatives are made.
_RECOMPUTES, _DERIVES = "inner_recompute_grad", "imperative_grad"
_KINDS = ("bool", "int", "string", "list(int)")  # of attributes that are shown


class Counted:
    """How much a graph computes.

    Attributes:
        operations: how many there are, those of inner functions among them.
        flops: floating-point operations.
        uncounted: what is not known.
        steps: each operation by name, with its floating-point operations.
    """

    def __init__(self, graph: Any) -> None:
        self.operations = 0
        self.uncounted: dict[Uncounted, None] = {}
        self.steps: list[tuple[str, float]] = []
        self._places: list[Step] = []
        self.flops = self._graph(graph, 1.0)

    def lines(self, call: str) -> tuple[Count, ...]:
        """Count by line of code, file by file and in order.

        The call, as typed, stands for what no other line of the user's computes, as where a layer
        of Keras is called.
        """
        rest = [step for step in self._places if not line_of(step.file, step.line)]
        if not rest:
            return count_by_line(self._places)
        return *count_by_line(self._places), count_line(call.strip().splitlines()[-1], rest)

    def _graph(self, graph: Any, turns: float) -> float:
        return math.fsum(self._operation(op, turns) for op in operations_of(graph))

    def _operation(self, op: Any, turns: float) -> float:
        inner = dict(inner_graphs(op))
        self.operations += 1
        if inner:
            self.steps.append((op.type, 0.0))
            return self._inner(op, [graph for graph in inner.values() if graph is not None], turns)
        if called_functions(op):
            self.uncounted[Uncounted("function", op.type)] = None
        flops = flops_of(op)
        if flops is None:
            is_known = all(t.shape.is_fully_defined() for t in (*op.inputs, *op.outputs))
            self.uncounted[Uncounted("operation" if is_known else "shape", op.type)] = None
        flops = turns * (flops or 0.0)
        self.steps.append((op.type, flops))
        moved = 0.0 if op.type in _MOVE_NOTHING else turns * _bytes_of(op)
        self._places.append(Step(*references.place_of(op), op.type, flops, moved))
        return flops

    def _inner(self, op: Any, graphs: Sequence[Any], turns: float) -> float:
        if op.type in _LOOPS:
            most = _most_turns(op)
            loop = Uncounted("turns") if most is None else Uncounted("most turns", turns=most)
            self.uncounted[loop] = None
            turns *= loop.turns
        costs = [self._graph(graph, turns) for graph in graphs]
        if op.type in _BRANCHES:
            self.uncounted[Uncounted("branch", "an if")] = None
            return max(costs, default=0.0)
        return math.fsum(costs)


def _bytes_of(op: Any) -> int:
    """Return the bytes of the tensors that an operation takes and gives."""
    return sum(value_of("", tensor).nbytes for tensor in (*op.inputs, *op.outputs))


def operations_of(graph: Any) -> list[Any]:
    """Return the operations of a graph that compute something."""
    return [op for op in graph.get_operations() if op.type not in _HIDDEN]


def is_recomputed(op: Any) -> bool:
    """Whether `tf.recompute_grad` does an operation again, by the functions that made it."""
    names = [frame.name for frame in op.traceback or ()]
    made = [name for name in names if name in (_RECOMPUTES, _DERIVES)]
    return made[-1:] == [_RECOMPUTES]


def called_functions(op: Any) -> list[tuple[str, str]]:
    """Return the attributes of an operation that are functions, by name, and their functions."""
    functions = []
    for key, value in sorted(op.node_def.attr.items()):
        if key.startswith("_"):  # the gradient, which is another program
            continue
        each = [value.func, *value.list.func]
        functions += [(key, func.name) for func in each if func.name]
    return functions


def inner_graphs(op: Any) -> Iterator[tuple[str, Any]]:
    """Yield the graphs of the functions that an operation calls, by their names."""
    for _, name in called_functions(op):
        graph = graph_of(op.graph, name)
        if graph is not None:
            yield name, graph


def graph_of(graph: Any, name: str) -> Any | None:
    """Return the graph of a function that operations of a graph call; None if not known."""
    while graph is not None:
        known = getattr(graph, "_functions", {}).get(name)
        inner = getattr(known, "graph", None)
        if inner is not None:
            return inner
        graph = getattr(graph, "outer_graph", None)
    return None


def _most_turns(op: Any) -> int | None:
    """Return the second input of a loop, where it has a value and is a limit."""
    try:
        most = tf.get_static_value(op.inputs[1])
    except Exception:  # noqa: BLE001  another version has it elsewhere
        return None
    return int(most) if most is not None and most.shape == () and most >= 0 else None


def text_of(graph: Any, depth: int | None) -> str:
    """Return a line for each operation, with functions down to a level; None shows all."""
    return "\n".join(_lines(graph, 0, depth))


def _lines(graph: Any, level: int, depth: int | None) -> Iterator[str]:
    nodes, pad = operations_of(graph), "  " * level
    last = len(nodes) - _LAST_OPERATIONS
    hidden = range(_FIRST_OPERATIONS, last) if depth is not None else range(0)
    for number, op in enumerate(nodes):
        if number not in hidden:
            yield pad + _line(op)
            yield from _functions(op, level, depth)
        elif number == _FIRST_OPERATIONS:
            yield pad + line_of_hidden(len(hidden), "operations")


def _functions(op: Any, level: int, depth: int | None) -> Iterator[str]:
    graphs = dict(inner_graphs(op))
    for key, name in called_functions(op):
        pad = "  " * (level + 1)
        if name not in graphs:
            yield f"{pad}{key}: {name}"
            continue
        inner = graphs[name]
        head = f"{pad}{_named(name) if key == 'f' else key}"
        inputs = ", ".join(f"{_source(t)}: {kind(t)}" for t in inner.inputs)
        if depth == 0:
            yield f"{head}({inputs}): {_count(inner):,} operations"
        else:
            yield f"{head}({inputs}):"
            yield from _lines(inner, level + 2, None if depth is None else depth - 1)
            yield f"{pad}  return {', '.join(map(_source, inner.outputs))}"


def _named(name: str) -> str:
    """Return the user's name of a function: "f" for TensorFlow's "__inference_f_12"."""
    return _MADE_NAME.sub("", name)


def _count(graph: Any) -> int:
    nodes = operations_of(graph)
    return len(nodes) + sum(_count(inner) for op in nodes for _, inner in inner_graphs(op))


def _line(op: Any) -> str:
    kinds = ", ".join(map(kind, op.outputs))
    operands = [_constant(op)] if op.type == "Const" else [_source(t) for t in op.inputs]
    return (
        f"{op.name}: {kinds} = {op.type}({', '.join(filter(None, [*operands, *_attributes(op)]))})"
    )


def _source(tensor: Any) -> str:
    """Return the name of a tensor; an Identity is what it is of."""
    tensor = skip_identities(tensor)
    index = f":{tensor.value_index}" if len(tensor.op.outputs) > 1 else ""
    return f"{tensor.op.name}{index}"


def skip_identities(tensor: Any) -> Any:
    """Return the tensor that an Identity is of."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _constant(op: Any) -> str:
    value = tf.get_static_value(op.outputs[0])
    is_small = value is not None and value.size <= _SHOWN_NUMBERS and value.dtype.kind in "biuf"
    return str(value.tolist()) if is_small else ""


def _attributes(op: Any) -> Iterator[str]:
    """Yield attributes with another value than the default."""
    for each in op.op_def.attr:
        if each.type not in _KINDS or each.name.startswith("_") or "shape" in each.name:
            continue
        value = op.node_def.attr[each.name]
        if each.HasField("default_value") and value == each.default_value:
            continue
        attribute = op.get_attr(each.name)
        is_text = isinstance(attribute, bytes)
        shown = attribute.decode(errors="replace") if is_text else attribute
        if len(str(shown)) <= _LAST_OPERATIONS * 2 and shown not in ("", []):
            yield f"{each.name}={shown}"


def kind(tensor: Any) -> str:
    """Return the type of a tensor, as "f32[3,4]"."""
    held = value_of("", tensor)
    return units.array(held.dtype, held.shape)


def value_of(name: str, tensor: Any) -> Value:
    """Describe a tensor, a variable, or a type of one."""
    known, dtype = tf.TensorShape(tensor.shape), tf.as_dtype(tensor.dtype)
    shape = None if known.rank is None else tuple(-1 if n is None else n for n in known.as_list())
    # A string, and what a resource or a variant refers to, may have any size.
    sized = known.is_fully_defined() and dtype not in (tf.string, tf.resource, tf.variant)
    nbytes = math.prod(shape) * dtype.size if sized and shape is not None else 0
    return Value(name, dtype.name.removesuffix("_ref"), shape, nbytes, sized=sized)


def constants_of(concrete: Any, inputs: Sequence[Any], names: dict[int, str]) -> tuple[Value, ...]:
    """Return variables, tensors and large constants in the program, the largest first.

    Args:
        concrete: TensorFlow's own object.
        inputs: variables that go in, and so are no part of it.
        names: of the user's tensors, by identity.
    """
    handles = {id(each.handle) for each in inputs}
    variables = captured_variables(concrete)
    constants = []
    for outer, inner in concrete.graph.captures:
        variable = variables.get(inner.op.name)
        if id(outer) in handles:
            continue
        if variable is not None:
            constants.append(value_of(name_of(variable), variable))
        elif outer.dtype not in (tf.resource, tf.variant):
            constants.append(value_of(names.get(id(outer), ""), outer))
    written = (op for op in concrete.graph.get_operations() if op.type == "Const")
    values = (value_of(op.name, op.outputs[0]) for op in written)
    constants += [value for value in values if value.nbytes >= _LARGE_CONSTANT_BYTES]
    return tuple(sorted(constants, key=lambda each: -each.nbytes))


def captured_variables(concrete: Any) -> dict[str, Any]:
    """Return the variables that a graph captured, by names of what stands for them."""
    by_handle = {id(variable.handle): variable for variable in concrete.graph.variables}
    pairs = [(inner.op.name, by_handle.get(id(outer))) for outer, inner in concrete.graph.captures]
    return {name: variable for name, variable in pairs if variable is not None}


def name_of(variable: Any) -> str:
    """Return the name of a variable, without the number of an output."""
    return str(variable.name.partition(":")[0])
