"""The graph of a call in TensorFlow: of a new tf.function, so that none of the user's grows."""

import contextlib
import io
import linecache
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from ipyjaxbench import units
from ipyjaxbench.clock import Clock
from ipyjaxbench.diagnosis import Diagnosis, UntraceableError
from ipyjaxbench.expression import Call, Shape
from ipyjaxbench.graph import Graph
from ipyjaxbench.graph_parts import Count, Value
from ipyjaxbench.options import GraphOptions

_CLOCK = Clock.elapsed()
_FIRST, _LAST = 60, 15  # operations that a long text shows
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_NUMBERS = "NumPy asks for the numbers, and while tracing there are only shapes"
_CALLS = ("While", "StatelessWhile", "If", "StatelessIf", "Case", "PartitionedCall",
          "StatefulPartitionedCall")  # fmt: skip
_INNER = "loops, branches and inner functions are not: TensorFlow counts what is beside them"
_HIDDEN = ("Placeholder", "NoOp", "Identity")


def graph(call: Call, options: GraphOptions) -> Graph | None:
    """Trace a call and tell which operations it is.

    Args:
        call: it is not made.
        options: how much of the text is wanted.

    Returns:
        The graph; None where no tensor is in the call.

    Raises:
        UntraceableError: it cannot be traced.
    """
    __tracebackhide__ = True
    call = replace(call, args=tuple(map(_without_data, call.args)))
    function = getattr(call.function, "python_function", call.function)
    given = tf.nest.flatten((call.args, dict(call.kwargs)))
    if not any(isinstance(leaf, tf.Tensor | tf.Variable | tf.TensorSpec) for leaf in given):
        return None
    stage = options.stage_of("tensorflow")
    start = _CLOCK.now()
    try:
        fresh = tf.function(function)
        concrete = fresh.get_concrete_function(*call.args, **call.kwargs)
    except Exception as error:
        raise UntraceableError(_diagnosis(call, error), error) from error
    seconds = (_CLOCK.now() - start) * 1e-9
    nodes = [op for op in concrete.graph.get_operations() if op.type not in _HIDDEN]
    text = "\n".join(_listing(nodes))
    if options.find is not None:
        text = "\n".join(line for line in text.splitlines() if options.find in line)
    named = zip(concrete.structured_input_signature[0], call.labels, strict=False)
    labels = [label for spec, label in named if tf.nest.flatten(spec)]
    inputs = concrete.inputs[: len(concrete.inputs) - len(concrete.captured_inputs)]
    names = labels if len(labels) == len(inputs) else [t.op.name for t in inputs]
    return Graph(
        code=call.text,
        framework="tensorflow",
        frameworks={"tensorflow": tf.__version__},
        form=stage,
        program=text,
        inputs=tuple(_value(n, t) for n, t in zip(names, _held(given, inputs), strict=True)),
        outputs=tuple(_value("", t) for t in concrete.outputs),
        constants=tuple(_value("", t) for t in concrete.captured_inputs if t.dtype != tf.resource),
        operations=len(nodes),
        flops=_flops(concrete.graph),
        uncounted=(_INNER,) if any(op.type in _CALLS for op in nodes) else (),
        stats=_counts(nodes),
        lines=(),
        static_argnames=(),
        fixed=(),
        tries=1,
        seconds=seconds,
    )  # fmt: skip


def _diagnosis(call: Call, error: Exception) -> Diagnosis:
    """AutoGraph tells the user's lines in the message: what is run was made of them."""
    places = _PLACE.findall(str(error))
    file, line = (places[-1][0], int(places[-1][1])) if places else ("", 0)
    numbers = isinstance(error, NotImplementedError) and "NumPy" in str(error)
    return Diagnosis(
        code=call.text,
        error=type(error).__name__,
        message=_last_line(str(error)).removeprefix(f"{type(error).__name__}: "),
        line=line,
        source=linecache.getline(file, line).strip(),
        because=_NUMBERS if numbers else "the code raises while it is traced",
        advice="the same function of tf, or tf.numpy_function" if numbers else "",
    )


def _without_data(value: object) -> object:
    if isinstance(value, Shape):
        return tf.TensorSpec(value.shape, value.dtype)
    return value


def _held(given: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    """What variables hold, in place of the handles that stand for them."""
    arrays = [leaf for leaf in given if isinstance(leaf, tf.Tensor | tf.Variable | tf.TensorSpec)]
    return arrays if len(arrays) == len(inputs) else inputs


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _value(name: str, tensor: Any) -> Value:
    shape = tuple(-1 if n is None else int(n) for n in (tensor.shape.as_list() or ()))
    count = 1
    for n in shape:
        count *= max(n, 0)
    return Value(name, tensor.dtype.name, shape, count * tensor.dtype.size)


def _listing(nodes: Sequence[Any]) -> Iterator[str]:
    hidden = range(_FIRST, len(nodes) - _LAST)
    for number, node in enumerate(nodes):
        if number not in hidden:
            kinds = ", ".join(_kind(t) for t in node.outputs)
            given = ", ".join(t.op.name for t in node.inputs)
            yield f"{node.name}: {kinds} = {node.type}({given})"
        elif number == _FIRST:
            yield f"... {len(hidden):,} more operations ..."


def _kind(tensor: Any) -> str:
    if tensor.shape.rank is None:
        return f"{tensor.dtype.name}[?]"
    value = _value("", tensor)
    return units.array(value.dtype, value.shape)


def _counts(nodes: Sequence[Any]) -> tuple[Count, ...]:
    times = Counter(node.type for node in nodes)
    ranked = sorted(times, key=lambda name: (-times[name], name))
    return tuple(Count(name, times[name], 0.0) for name in ranked)


def _flops(graph: Any) -> float:
    """As TensorFlow's own profiler counts them."""
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found = tf.compat.v1.profiler.profile(graph, options=options)
    return float(found.total_float_ops) if found is not None else 0.0
