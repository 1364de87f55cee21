"""What a call gives without a graph: what is to be written instead has to give it in one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.shared.diagnosis.eager import MAX_NUMBERS, TOLERANCE, are_same, attempt
from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.graphs import isolation, references, tracing
from ipyjaxbench.usercode import (
    ARRAY_FUNCTION_NAMES,
    SIDE_EFFECT_NAMES,
    Call,
    has_side_effects,
    is_users_file,
)

_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic, tf.Tensor)
#: Code that changes variables is not run.
_CHANGES = {"assign", "assign_add", "assign_sub", "apply_gradients", "apply", "fit", "minimize"}
#: Operations that change nothing and draw nothing, though TensorFlow calls them stateful.
_PURE = {
    "Placeholder",
    "ReadVariableOp",
    "ResourceGather",
    "StatefulPartitionedCall",
    "While",
    "If",
}


class EagerCall:
    """A call that is made without a graph when its result is first asked for.

    What it changes of Python's is put back; what may change or draw anything else is not made.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    def agrees(self, traced: tracing.Traced) -> bool | None:
        """Whether a graph gives the same numbers; None where that cannot be known."""
        if not (_may_be_made(self._call, traced) and _is_pure(traced.concrete.graph)):
            return None
        expected = self._result
        actual = _run(traced) if expected is not None else None
        if expected is None or actual is None:
            return None
        return are_same(expected, actual, _is_same)

    @cached_property
    def _result(self) -> list[Any] | None:
        call = self._call

        def eager() -> Any:
            before = tf.config.functions_run_eagerly()
            try:
                tf.config.run_functions_eagerly(True)  # noqa: FBT003
                return call.function(*call.args, **call.kwargs)
            finally:
                tf.config.run_functions_eagerly(before)

        return _numbers_of(eager, call)


def _may_be_made(call: Call, traced: tracing.Traced) -> bool:
    values = [tensor.value for tensor in traced.inputs]
    if not all(isinstance(value, _NUMBERS) or references.is_variable(value) for value in values):
        return False
    if sum(int(np.prod(value.shape)) for value in values) > MAX_NUMBERS:
        return False
    codes = (function.__code__ for function in references.functions_of(call.function))
    return not has_side_effects(codes, (SIDE_EFFECT_NAMES - ARRAY_FUNCTION_NAMES) | _CHANGES)


def _is_pure(graph: Any) -> bool:
    """Whether a graph, with the functions in it, changes and draws nothing; no if unknown."""
    try:
        from tensorflow.python.framework.op_def_registry import get
    except ImportError:  # private: then nothing is compared
        return False
    whole = graph.as_graph_def()
    names = {node.op for node in whole.node}
    names |= {node.op for function in whole.library.function for node in function.node_def}
    definitions = map(get, names - _PURE)
    return not any(known is not None and known.is_stateful for known in definitions)


def _run(traced: tracing.Traced) -> list[Any] | None:
    tensors = [tensor.value for tensor in traced.inputs if tensor.spec is not None]
    return _numbers_of(lambda: traced.concrete(*map(tf.convert_to_tensor, tensors)), traced.call)


def _numbers_of(compute: Callable[[], Any], call: Call) -> list[Any] | None:
    """Return the tensors and numbers that a call gives, in their order; None where it fails."""

    def numbers() -> list[Any]:
        leaves = trees.leaves(compute())
        values = (tf.convert_to_tensor(leaf) if references.is_variable(leaf) else leaf
                  for leaf in leaves)  # fmt: skip
        return [np.asarray(value) for value in values if isinstance(value, _NUMBERS)]

    @contextmanager
    def isolated() -> Iterator[None]:
        with isolation.TensorFlowUndoLog(call, is_copy=False), tracing.quiet():
            yield

    return attempt(numbers, is_users_file, isolated)


def _is_same(expected: Any, actual: Any) -> bool:
    """Whether two arrays hold the same; what was a Python number has another type."""
    if expected.shape != actual.shape:
        return False
    if expected.dtype.kind not in "biufc" or actual.dtype.kind not in "biufc":
        return bool((expected == actual).all())
    return bool(np.allclose(expected, actual, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))
