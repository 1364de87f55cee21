"""What a call gives without a graph: what is to be written instead has to give it in one."""

import contextlib
import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.graphs import isolation, references, tracing
from ipyjaxbench.usercode import (
    ARRAY_FUNCTION_NAMES,
    SIDE_EFFECT_NAMES,
    Call,
    OutOfTimeError,
    has_side_effects,
    is_users_file,
    time_limit,
)

_MOST_NUMBERS = 2**20  # numbers among the inputs
_MOST_SECONDS = 2.0
_TOLERANCE = 3e-4
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


class Eager:
    """A call that is made without a graph when its result is first asked for.

    What it changes of Python's is put back; what may change or draw anything else is not made.

    Args:
        call: as it was tried.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    def agrees(self, traced: tracing.Traced) -> bool:
        """Whether a graph gives the same numbers; yes where that cannot be told."""
        if not (_may_be_made(self._call, traced) and _is_pure(traced.concrete.graph)):
            return True
        expected = self._result
        actual = _run(traced) if expected is not None else None
        return expected is None or actual is None or _are_same(expected, actual)

    @cached_property
    def _result(self) -> list[Any] | None:
        call, before = self._call, tf.config.functions_run_eagerly()
        try:
            tf.config.run_functions_eagerly(True)  # noqa: FBT003
            with _alone(call):
                return _numbers(call.function(*call.args, **call.kwargs))
        except (Exception, OutOfTimeError):  # noqa: BLE001  the user's code may raise anything
            return None
        finally:
            tf.config.run_functions_eagerly(before)


def _may_be_made(call: Call, traced: tracing.Traced) -> bool:
    values = [each.value for each in traced.inputs]
    if not all(isinstance(each, _NUMBERS) or references.is_variable(each) for each in values):
        return False
    if sum(int(np.prod(each.shape)) for each in values) > _MOST_NUMBERS:
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
    known = {name: get(name) for name in names - _PURE}
    return not any(each is not None and each.is_stateful for each in known.values())


def _run(traced: tracing.Traced) -> list[Any] | None:
    given = [each.value for each in traced.inputs if each.spec is not None]
    try:
        with _alone(traced.call):
            return _numbers(traced.concrete(*map(tf.convert_to_tensor, given)))
    except (Exception, OutOfTimeError):  # noqa: BLE001  what fails when it runs says nothing here
        return None


@contextlib.contextmanager
def _alone(call: Call) -> Iterator[None]:
    with (
        isolation.TensorFlowUndoLog(call, is_copy=False),
        tracing.quiet(),
        contextlib.redirect_stdout(io.StringIO()),
        time_limit(_MOST_SECONDS, is_users_file),
    ):
        yield


def _numbers(result: Any) -> list[Any]:
    """The tensors and numbers in a result, in their order."""
    leaves = trees.leaves(result)
    variables = (
        tf.convert_to_tensor(leaf) if references.is_variable(leaf) else leaf for leaf in leaves
    )
    return [np.asarray(leaf) for leaf in variables if isinstance(leaf, _NUMBERS)]


def _are_same(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    return len(expected) == len(actual) and all(map(_is_same, expected, actual))


def _is_same(expected: Any, actual: Any) -> bool:
    """Whether two arrays hold the same; what was a Python number has another type."""
    if expected.shape != actual.shape:
        return False
    if expected.dtype.kind not in "biufc" or actual.dtype.kind not in "biufc":
        return bool((expected == actual).all())
    return bool(np.allclose(expected, actual, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))
