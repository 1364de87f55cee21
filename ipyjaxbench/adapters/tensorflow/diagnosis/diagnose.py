"""Why TensorFlow would not trace a call, and what would help, each fix tried by tracing it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from traceback import walk_tb
from types import FrameType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared.diagnosis.arguments import replace_argument
from ipyjaxbench.adapters.shared.diagnosis.describe import MAX_FIXES, describe
from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.compile_events import unheard
from ipyjaxbench.adapters.tensorflow.diagnosis.fixes import find_fixes
from ipyjaxbench.adapters.tensorflow.diagnosis.pitfalls import PLACE, message_of, pitfall_of
from ipyjaxbench.adapters.tensorflow.graphs import autograph_source, references, tracing
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import Diagnosis, Fix, line_of
from ipyjaxbench.usercode import Call, is_of, is_users_file


@unheard()  # what is tried is no call of the user's
def diagnose(call: Call, error: BaseException) -> Diagnosis:
    """Say why a call would not trace, of what tracing raised; each fix was traced."""
    blamed = _fixed_argument(call, error)
    fixes = chain(
        _autograph_fixes(call), find_fixes(call, *_place_of(error)), _python_number_fixes(blamed)
    )
    diagnosis = _describe(call.text, error)
    return replace(diagnosis, blamed=tuple(blamed), fixes=tuple(islice(fixes, MAX_FIXES)))


def explain(error: BaseException) -> Diagnosis | None:
    """Say why code that failed would not trace; only the function that was traced is traced again.

    Args:
        error: what was raised, with its traceback.

    Returns:
        The diagnosis; None where TensorFlow was not tracing.
    """
    if not isinstance(error, CODE_ERRORS) or not _is_of_tracing(error):
        return None
    call = _traced_call(error)
    return diagnose(call, error) if call is not None else _describe("the cell", error)


def _describe(code: str, error: BaseException) -> Diagnosis:
    """Return what the error itself shows, of a call with this text."""
    file, line = _place_of(error)
    source = line_of(autograph_source.cell_file(file), line)
    shown = line if source else 0
    return describe(code, error, message_of(error), shown, source, pitfall_of(error))


def _place_of(error: BaseException) -> tuple[str, int]:
    """Return file and line of the innermost code that is the user's.

    AutoGraph writes lines in the message, as what is run was made of them. Without it, and for
    SystemExit, which AutoGraph leaves as it is, they are in the traceback.
    """
    known = getattr(error, "place", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    places = [(file, int(line)) for file, line in PLACE.findall(str(error)) if is_users_file(file)]
    if places:
        return places[-1]
    inside = False
    place = ("", 0)
    written: dict[tuple[str, int], Any] = {}  # by the lines that AutoGraph made
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        written |= getattr(frame.f_locals.get("converted_f"), "ag_source_map", {})
        inside = inside or not is_users_file(file)
        if (file, line) in written:
            place = written[file, line].loc[:2]
        elif is_users_file(file) and inside and "__autograph_generated_file" not in file:
            place = file, line
    return place


def _autograph_fixes(call: Call) -> Iterator[Fix]:
    """Yield the same function, read by AutoGraph, where the user turned that off."""
    plain, autograph = references.python_function(call.function)
    if not autograph and tracing.traces(replace(call, function=plain)):
        changes = "without autograph=False: AutoGraph converts if and loops"
        yield Fix("@tf.function", changes)


def _python_number_fixes(blamed: dict[str, Any]) -> Iterator[Fix]:
    """Yield arguments as Python numbers, with which the search for them has traced the call."""
    cost = "a Python number is part of the graph: traced once per value"
    for name, value in blamed.items():
        if not isinstance(value, trees.Fixed):
            yield Fix(f"{name}={value!r}", cost)


def _fixed_argument(call: Call, error: BaseException) -> dict[str, Any]:
    """Return the argument with which, as a fixed value, the call would trace, and that value."""
    pitfall = pitfall_of(error)
    if pitfall is None or not pitfall.asks:
        return {}
    for name, value in call.arguments:
        number = _number_of(value)
        if number is not None and tracing.traces(replace_argument(call, name, number)):
            return {name: number}
    return {}


def _number_of(value: Any) -> Any | None:
    """Return the numbers of a tensor, fixed, or its Python number; None if it has no values."""
    if not is_of(value, tf.Tensor) or tf.is_symbolic_tensor(value):
        return None
    return trees.Fixed(value.numpy()) if value.shape.rank else value.numpy().item()


def _is_of_tracing(error: BaseException) -> bool:
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
    return any(map(tf.is_symbolic_tensor, trees.leaves([*_arguments_of(frame).values()])))


def _arguments_of(frame: FrameType) -> dict[str, Any]:
    """Return the arguments of the function that a frame is of."""
    code = frame.f_code
    return {name: frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]}


def _traced_call(error: BaseException) -> Call | None:
    """Return the function that was traced, with what its frame shows of its arguments."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    frame = next(filter(_holds_symbols, frames), None)
    if frame is None:
        return None
    name = frame.f_code.co_name.removeprefix("tf__")
    arguments = _arguments_of(frame)
    if next(iter(arguments)) == "self":
        function = getattr(arguments.pop("self"), name, None)
    else:
        function = _global_of(error, name)
    if function is None:
        return None
    args = (
        tf.nest.map_structure(_spec_of, trees.shield_opaque(each)) for each in arguments.values()
    )
    return Call(f"{name}(...)", function, tuple(args), {}, tuple(arguments))


def _global_of(error: BaseException, name: str) -> Callable[..., Any] | None:
    """Return a function of the user's by its name, as the frames around the trace know it."""
    for frame, _ in walk_tb(error.__traceback__):
        for names in (frame.f_locals, frame.f_globals):
            if callable(function := names.get(name)):
                return function  # type: ignore[no-any-return]
    return None


def _spec_of(value: Any) -> Any:
    return tf.TensorSpec(value.shape, value.dtype) if tf.is_symbolic_tensor(value) else value
