"""Traces any call into a graph of its own: what is no tensor is part of the program."""

import contextlib
import io
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.util import nest

from ipyjaxbench.adapters.shared.undo_log import SideEffects
from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.compilation import isolate_traces
from ipyjaxbench.adapters.tensorflow.graphs import dataset_guard, isolation, references
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call, Shape, is_of

_NOT_KEPT = "AutoGraph could not transform"
_AUTOGRAPH_LOGS = "tensorflow.python.autograph.utils.ag_logging"


class VariableMadeError(Exception):
    """The code makes a variable, and looking at it would make that too."""


class OutOfScopeError(Exception):
    """An operation at a file and line uses a symbolic tensor of an earlier trace."""

    place: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Input:
    """A tensor or variable that goes in; variables are captured and have no type here."""

    name: str
    value: Any
    spec: Any


@dataclass(frozen=True)
class Traced:
    """A call as a graph.

    Attributes:
        concrete: TensorFlow's own object.
        inputs: tensors and variables that go in.
        fixed: arguments that are no data.
        twin: makes a function of the same tensors, to be compiled by XLA, and their types.
        warm: functions of the user's whose traces could not be kept apart.
        is_copy: whether what is called is a copy that nobody else uses.
        side_effects: where the user's code kept symbolic tensors.
    """

    concrete: Any
    inputs: tuple[Input, ...]
    fixed: tuple[str, ...]
    twin: Any
    warm: tuple[str, ...]
    printed: str
    call: Call
    is_copy: bool
    side_effects: SideEffects


class Aside(NamedTuple):
    """What tracing left, to be read when it is over.

    Attributes:
        log: knows what the code changed outside of itself.
        warm: functions of the user's whose traces could not be kept apart.
        printed: what the code printed meanwhile.
    """

    log: isolation.TensorFlowUndoLog
    warm: list[str]
    printed: io.StringIO


def is_data(leaf: Any) -> bool:
    """Whether a leaf of an argument is a tensor, or stands for one, or is made one."""
    if is_of(leaf, tf.Tensor, tf.TypeSpec, Shape) or references.is_variable(leaf):
        return True
    if is_of(leaf, np.ndarray, np.generic):
        return leaf.dtype.kind in "biufcSU"
    return is_of(leaf, *references.COMPOSITES)


def trace(call: Call, *, makes_variables: bool = False) -> Traced:
    """Trace a call in a function of its own, which may make variables where it is a copy.

    Raises:
        VariableMadeError: it makes a variable, and may not.
        OutOfScopeError: it uses a symbolic tensor of an earlier trace.
    """
    __tracebackhide__ = True
    function, autograph = references.python_function(call.function)
    tree = trees.shield_opaque((call.args, dict(call.kwargs)))
    inputs = tuple(each for name, value in call.arguments for each in _inputs(name, value))
    leaves = nest.flatten(tree)
    where = [
        i for i, leaf in enumerate(leaves) if is_data(leaf) and not references.is_variable(leaf)
    ]

    @tf.autograph.experimental.do_not_convert
    def rebuilt(tensors: Sequence[Any]) -> Any:
        whole = [leaf.value if type(leaf) is trees.Fixed else leaf for leaf in leaves]
        for index, tensor in zip(where, tensors, strict=True):
            whole[index] = tensor
        return nest.pack_sequence_as(tree, whole)

    wrapper = _take_tensors(function, rebuilt)
    specs = [each.spec for each in inputs if each.spec is not None]
    fresh = tf.function(wrapper, autograph=autograph)
    try:
        with aside(call, makes_variables=makes_variables) as left:
            concrete = fresh.get_concrete_function(*specs)
    except BaseException:
        leaves.clear()  # frames keep what functions enclose, even when they are cleared
        del tree
        raise
    _refuse_leaks(concrete)
    return Traced(
        concrete=concrete,
        inputs=inputs,
        fixed=tuple(name for name, value in call.arguments if _is_no_data(value)),
        twin=lambda: (tf.function(wrapper, autograph=autograph, jit_compile=True), specs),
        warm=tuple(dict.fromkeys(left.warm)),
        printed=left.printed.getvalue(),
        call=call,
        is_copy=makes_variables,
        side_effects=left.log.side_effects,
    )


@contextlib.contextmanager
def aside(call: Call, *, makes_variables: bool = False) -> Iterator[Aside]:
    """Have a call traced with nothing of the user's changed; variables may be made of a copy."""
    refusing = contextlib.nullcontext() if makes_variables else _no_variables()
    printed = io.StringIO()
    with (
        isolation.TensorFlowUndoLog(call, is_copy=makes_variables) as log,
        refusing,
        quiet(),
        dataset_guard.limit_iteration(),
        isolate_traces() as warm,
        contextlib.redirect_stdout(printed),
    ):
        yield Aside(log, warm, printed)


def traces(call: Call) -> bool:
    """Whether a call traces."""
    try:
        trace(call)
    except CODE_ERRORS:  # the user's code may raise anything
        return False
    return True


def _take_tensors(function: Callable[..., Any], rebuilt: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors alone; AutoGraph reads the user's function through it."""

    def of_tensors(*tensors: Any) -> Any:
        args, kwargs = rebuilt(tensors)
        return _only_tensors(function(*args, **kwargs))

    name = getattr(function, "__name__", None) or type(function).__name__
    if name.isidentifier():  # AutoGraph takes what is called "<lambda>" for one
        of_tensors.__name__ = name
    return of_tensors


@tf.autograph.experimental.do_not_convert
def _only_tensors(result: Any) -> Any:
    """Return what a call gives, without what a graph cannot give."""
    kinds = (tf.Tensor, int, float, complex, tf.__internal__.CompositeTensor)

    def traceable(leaf: Any) -> Any:
        if references.is_variable(leaf):
            return tf.convert_to_tensor(leaf)
        if is_of(leaf, tf.TensorArray):  # one that is not of the graph cannot be returned
            return leaf if tf.is_symbolic_tensor(leaf.flow) else None
        return leaf if is_of(leaf, *kinds) else None

    return tf.nest.map_structure(traceable, trees.shield_opaque(result))


def _inputs(name: str, value: Any) -> Iterator[Input]:
    for path, leaf in nest.flatten_with_tuple_paths(trees.shield_opaque(value)):
        if is_data(leaf):
            spelled = name + "".join(f"[{key!r}]" for key in path)
            yield Input(spelled, leaf, None if references.is_variable(leaf) else _spec(name, leaf))


def _spec(name: str, leaf: Any) -> Any:
    """Return the type of a tensor, with a name for its placeholder."""
    if isinstance(leaf, tf.TypeSpec) and not isinstance(leaf, tf.TensorSpec):
        return leaf
    if isinstance(leaf, references.COMPOSITES):
        return tf.type_spec_from_value(leaf)
    known = name if name.isidentifier() else None
    if isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.kind in "SU":
        return tf.TensorSpec(leaf.shape, tf.string, known)
    return tf.TensorSpec(leaf.shape, leaf.dtype, known)


def _is_no_data(value: Any) -> bool:
    leaves = [leaf for leaf in trees.leaves(value) if leaf is not None]
    return bool(leaves) and not any(map(is_data, leaves))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep AutoGraph from telling what it cannot read: the same would be told at the call."""

    def is_other(record: logging.LogRecord) -> bool:
        return _NOT_KEPT not in str(record.msg)

    logger, module = tf.get_logger(), sys.modules.get(_AUTOGRAPH_LOGS)
    prints = getattr(module, "echo_log_to_stdout", None)  # as it does in a notebook
    logger.addFilter(is_other)
    if module is not None and prints:
        vars(module)["echo_log_to_stdout"] = False
    try:
        yield
    finally:
        logger.removeFilter(is_other)
        if module is not None and prints:
            vars(module)["echo_log_to_stdout"] = prints


@contextlib.contextmanager
def _no_variables() -> Iterator[None]:
    def refuse(_: object, **__: Any) -> Any:
        raise VariableMadeError("a tf.Variable is created here, and tracing would create it too")

    with tf.variable_creator_scope(refuse):
        yield


def _refuse_leaks(concrete: Any) -> None:
    """Raise where a value of an earlier trace is used: TensorFlow raises at the call alone."""
    captures = {inner.op.name: outer for outer, inner in concrete.graph.captures}
    for op in concrete.graph.get_operations():
        for tensor in op.inputs:
            if tf.is_symbolic_tensor(captures.get(tensor.op.name)):
                error = OutOfScopeError("a symbolic tensor of an earlier trace is out of scope")
                error.place = references.place_of(op)
                raise error
