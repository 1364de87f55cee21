"""Why code that failed would not trace: the function that was traced is traced again."""

import re
from collections.abc import Callable
from traceback import walk_tb
from types import FrameType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.diagnosis.diagnose import describe, diagnose
from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.usercode import Call, is_users_file


def explain(error: BaseException) -> Diagnosis | None:
    """Say why code that failed would not trace; only the function that was traced is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where TensorFlow was not tracing.
    """
    if not isinstance(error, Exception) or not _is_of_tracing(error):
        return None
    call = _traced_call(error)
    return diagnose(call, error) if call is not None else describe("the cell", error)


def _is_of_tracing(error: Exception) -> bool:
    """Whether the error was raised in a graph that was being made, or by what was kept of one."""
    if isinstance(error, tf.errors.OperatorNotAllowedInGraphError):
        return True
    if re.search("in user code:|on a non-first call|tf.Tensor.* is out of scope", str(error)):
        return True
    return any(_holds_symbols(frame) for frame, _ in walk_tb(error.__traceback__))


def _holds_symbols(frame: FrameType) -> bool:
    """Whether code of the user's was given symbolic tensors."""
    if not is_users_file(frame.f_code.co_filename):
        return False
    return any(map(tf.is_symbolic_tensor, trees.leaves(_arguments_of(frame))))


def _arguments_of(frame: FrameType) -> list[Any]:
    """The arguments of the function that a frame is of."""
    code = frame.f_code
    return [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]


def _traced_call(error: Exception) -> Call | None:
    """The function that was traced, with what its frame shows of its arguments."""
    for frame, _ in walk_tb(error.__traceback__):
        if not _holds_symbols(frame):
            continue
        name = frame.f_code.co_name.removeprefix("tf__")
        names, arguments = (
            frame.f_code.co_varnames[: frame.f_code.co_argcount],
            _arguments_of(frame),
        )
        if names[0] == "self":
            names, arguments = names[1:], arguments[1:]
            function = getattr(frame.f_locals["self"], name, None)
        else:
            function = _global_of(error, name)
        if function is None:
            return None
        shielded = map(trees.shield_opaque, arguments)
        args = tuple(tf.nest.map_structure(_spec_of, value) for value in shielded)
        return Call(f"{name}(...)", function, args, {}, names)
    return None


def _global_of(error: Exception, name: str) -> Callable[..., Any] | None:
    """A function of the user's by its name, as the frames around the trace know it."""
    for frame, _ in walk_tb(error.__traceback__):
        for names in (frame.f_locals, frame.f_globals):
            found = names.get(name)
            if found is not None and callable(found):
                return found  # type: ignore[no-any-return]
    return None


def _spec_of(value: Any) -> Any:
    return tf.TensorSpec(value.shape, value.dtype) if tf.is_symbolic_tensor(value) else value
