"""Whether two traces of a function compute the same; names make no difference."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.graphs import program
from ipyjaxbench.usercode import fingerprint, unwrap

#: Attributes that name what Python keeps, anew in each trace: a function, a table.
_OF_PYTHON = ("token", "shared_name", "container")
_OF_HOST = re.compile("(Eager)?PyFunc(Stateless)?")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_SEEDS = ("seed", "seed2")
_UNLIKE_NUMBERS = (tf.resource, tf.variant, tf.string)
#: A number's type and its bytes.
Number = tuple[str, bytes]
Numbers = Mapping[str, Number]  # by operations
_DIFFERENT, _UNKNOWN = "different", "unknown"


def compute_the_same(one: Any, other: Any) -> bool | None:
    """Whether two concrete functions of the same arguments do; None where that is not known.

    Variables of the other one must be there; those of the first may be gone.
    """
    graphs = one.graph, other.graph
    # Seeds that nobody chose come from the seed of all, which is not in the code.
    ignored = _SEEDS if graphs[0].seed != graphs[1].seed else ()
    found = {
        *_graph_differences(*graphs, ignored, set()),
        *_capture_differences(*graphs),
        *_structure_differences(one.structured_outputs, other.structured_outputs),
    }
    if _DIFFERENT in found:
        return False
    return None if found else True


def _graph_differences(
    one: Any,
    other: Any,
    ignored: Sequence[str],
    seen: set[Hashable],
    given: tuple[Numbers, Numbers] = ({}, {}),
) -> Iterator[str]:
    """Yield in which way two graphs differ, with those of functions that they call.

    Args:
        one: the first graph.
        other: the second one.
        ignored: attributes that make no difference.
        seen: what was compared before.
        given: the numbers that each is handed, by the operations that stand for them.
    """
    key = (id(one), id(other), *(frozenset(each.items()) for each in given))
    if key in seen:
        return
    seen.add(key)
    numbers = [
        {**_numbers(graph), **handed} for graph, handed in zip((one, other), given, strict=True)
    ]
    both = [[op for op in graph.get_operations() if op.name not in known]
            for graph, known in zip((one, other), numbers, strict=True)]  # fmt: skip
    places: list[dict[str, Any]] = [
        known | {op.name: place for place, op in enumerate(ops)}
        for ops, known in zip(both, numbers, strict=True)
    ]
    if len(both[0]) != len(both[1]) or _outputs(one, places[0]) != _outputs(other, places[1]):
        yield _DIFFERENT
        return
    for op, twin in zip(*both, strict=True):
        inputs = (_inputs(op, places[0], numbers[0]), _inputs(twin, places[1], numbers[1]))
        if op.type != twin.type or inputs[0] != inputs[1]:
            yield _DIFFERENT
            return
        if op.device != twin.device:
            yield _UNKNOWN  # the scope of a device around the call may be another
        yield from _attribute_differences(op, twin, ignored)
        inner = [[*program.called_functions(each)] for each in (op, twin)]
        for (_, name), (_, twin_name) in zip(*inner, strict=False):
            graphs = program.graph_of(op.graph, name), program.graph_of(twin.graph, twin_name)
            if None in graphs:
                yield _UNKNOWN
            else:
                handed = (_handed(op, graphs[0], numbers[0]), _handed(twin, graphs[1], numbers[1]))
                yield from _graph_differences(*graphs, ignored, seen, handed)


def _numbers(graph: Any) -> dict[str, Number]:
    """Return the numbers in a graph by their operations: constants, and tensors that it took in."""
    found = {}
    for op in graph.get_operations():
        if op.type == "Const" and not op.control_inputs and not op.outputs[0].shape.rank:
            found[op.name] = tf.make_ndarray(op.node_def.attr["value"].tensor)
    for tensor, placeholder in getattr(graph, "captures", ()):
        if _is_number(tensor):
            found[placeholder.op.name] = tensor.numpy()
    return {name: (str(each.dtype), each.tobytes()) for name, each in found.items()
            if each.shape == () and each.dtype.kind != "O"}  # fmt: skip


def _is_number(tensor: Any) -> bool:
    is_known = not tf.is_symbolic_tensor(tensor) and tensor.dtype not in _UNLIKE_NUMBERS
    return is_known and tensor.shape.rank == 0


def _inputs(op: Any, places: dict[str, Any], numbers: Numbers) -> tuple[Any, ...]:
    """Return what an operation takes and waits for, by places in the graph."""
    taken = [(places[each.op.name], each.value_index) for each in _given(op, numbers)]
    return taken, sorted(str(places[each.name]) for each in op.control_inputs)


def _given(op: Any, known: Numbers) -> list[Any]:
    """Return what an operation takes; of a call without numbers that its function holds itself.

    A number that is a tensor is handed to the function that took it in, a constant is not.
    """
    if _has_branches(op):
        return [op.inputs[0], *(each for each in op.inputs[1:] if each.op.name not in known)]
    inner = [graph for _, graph in program.inner_graphs(op)] if op.type in _CALLS else []
    if len(inner) != 1 or len(inner[0].inputs) != len(op.inputs):
        return [*op.inputs]
    numbers = _numbers(inner[0])
    pairs = zip(op.inputs, inner[0].inputs, strict=True)
    return [each for each, parameter in pairs if parameter.op.name not in numbers]


def _has_branches(op: Any) -> bool:
    """Whether an operation hands all but its first input to each of its functions."""
    if op.type not in _BRANCHES:
        return False
    inner = [graph for _, graph in program.inner_graphs(op)]
    return bool(inner) and all(len(each.inputs) == len(op.inputs) - 1 for each in inner)


def _handed(op: Any, graph: Any, known: Numbers) -> Numbers:
    """Return the numbers that an operation hands to a branch, as they are in its graph."""
    pairs = zip(op.inputs[1:], graph.inputs, strict=True) if _has_branches(op) else ()
    return {own.op.name: known[each.op.name] for each, own in pairs if each.op.name in known}


def _outputs(graph: Any, places: dict[str, Any]) -> list[tuple[Any, int]]:
    return [(places[each.op.name], each.value_index) for each in graph.outputs]


def _attribute_differences(op: Any, twin: Any, ignored: Sequence[str]) -> Iterator[str]:
    one, other = op.node_def.attr, twin.node_def.attr
    for key in {*one, *other}:
        if key.startswith("_") or key in ignored:  # notes of TensorFlow's own, mostly names
            continue
        if key == "Tin" and op.type in (
            *_CALLS,
            *_BRANCHES,
        ):  # the types of what it takes, which is compared
            continue
        if key not in one or key not in other:
            yield _DIFFERENT
        elif one[key].func.name or one[key].list.func:
            continue  # their graphs are compared
        elif _bytes_of(one[key]) != _bytes_of(other[key]):
            is_function = key == "token" and _OF_HOST.fullmatch(op.type)
            difference = _UNKNOWN if key in _OF_PYTHON else _DIFFERENT
            yield from _function_differences(one, other) if is_function else [difference]


def _function_differences(one: Any, other: Any) -> Iterator[str]:
    """Yield in which way the functions of Python differ that two operations call."""
    function, twin = _python_function(one["token"].s), _python_function(other["token"].s)
    if function is twin is not None:
        return
    if type(function) is not FunctionType or type(twin) is not FunctionType:
        yield _UNKNOWN
    elif fingerprint(function.__code__) != fingerprint(twin.__code__):
        yield _DIFFERENT
    elif _holds_values(function) or function.__globals__ is not twin.__globals__:
        yield _UNKNOWN  # they may differ in these


def _holds_values(function: FunctionType) -> bool:
    return bool(function.__closure__ or function.__defaults__ or function.__kwdefaults__)


def _python_function(token: bytes) -> Any:
    """Return what the user gave to `tf.py_function` or the like (private); None if not known."""
    try:
        from tensorflow.python.ops import script_ops

        found = script_ops._py_funcs._funcs[token.decode()]
        return unwrap(getattr(found, "_func", found))
    except (ImportError, AttributeError, KeyError):  # another version, or it is gone
        return None


def _bytes_of(message: Any) -> bytes:
    """Return what tells messages apart: compared as they are, NaN differs from itself."""
    return bytes(message.SerializeToString(deterministic=True))


def _structure_differences(one: Any, other: Any) -> Iterator[str]:
    """Yield whether tensors are returned in another container, or under another key."""
    try:
        tf.nest.assert_same_structure(one, other, expand_composites=True)
    except (TypeError, ValueError):
        yield _DIFFERENT


def _capture_differences(one: Any, other: Any) -> Iterator[str]:
    """Yield in which way what two graphs took in from around them differs."""
    both = [[each for each in graph.captures if not _is_number(each[0])] for graph in (one, other)]
    if len(both[0]) != len(both[1]):
        yield _DIFFERENT
        return
    variables = {id(each.handle) for each in other.variables}
    for (tensor, _), (twin, _) in zip(*both, strict=True):
        if tensor is twin or all(map(tf.is_symbolic_tensor, (tensor, twin))):
            continue  # arguments that are variables are symbolic
        if tensor.dtype != twin.dtype or tensor.shape != twin.shape:
            yield _DIFFERENT
        elif tensor.dtype in (tf.resource, tf.variant):
            yield _DIFFERENT if id(twin) in variables else _UNKNOWN
        elif _values(tensor) != _values(twin):
            yield _DIFFERENT


def _values(tensor: Any) -> Any:
    values = tensor.numpy()
    return values.tolist() if tensor.dtype == tf.string else values.tobytes()
