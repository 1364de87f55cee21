"""Why TensorFlow would not trace a call, and what would help, each fix tried by tracing it."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from traceback import walk_tb
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.diagnosis.fixes import find_fixes
from ipyjaxbench.adapters.tensorflow.diagnosis.pitfalls import PLACE, message_of, pitfall_of
from ipyjaxbench.adapters.tensorflow.graphs import autograph_source, references, tracing
from ipyjaxbench.graphs import Diagnosis, Fix, line_of
from ipyjaxbench.usercode import Call, is_of, is_users_file

_MOST_FIXES = 3


def diagnose(call: Call, error: Exception) -> Diagnosis:
    """Say why a call would not trace.

    Args:
        call: as it was tried.
        error: what tracing raised.

    Returns:
        The diagnosis; each of its fixes was traced.
    """
    file, line = _place_of(error)
    blamed = _found_by_search(call, error)
    tried = itertools.chain(_by_autograph(call), find_fixes(call, file, line), _as_numbers(blamed))
    return replace(
        describe(call.text, error),
        blamed=tuple(blamed),
        fixes=tuple(itertools.islice(tried, _MOST_FIXES)),
    )


def describe(code: str, error: Exception) -> Diagnosis:
    """Return what the error itself shows, of a call with this text."""
    pitfall = pitfall_of(error)
    file, line = _place_of(error)
    source = line_of(autograph_source.cell_file(file), line)
    return Diagnosis(
        code=code,
        error=type(error).__name__,
        message=message_of(error),
        line=line if source else 0,
        source=source,
        because=pitfall.because if pitfall else "the code raises while it is traced",
        advice=pitfall.advice if pitfall else "",
    )


def _place_of(error: Exception) -> tuple[str, int]:
    """File and line of the innermost code that is the user's.

    AutoGraph tells lines in the message, as what is run was made of them; without it they are in
    the traceback.
    """
    known = getattr(error, "place", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    places = [(file, int(line)) for file, line in PLACE.findall(str(error)) if is_users_file(file)]
    if places:
        return places[-1]
    inside = False
    found = ("", 0)
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        inside = inside or not is_users_file(file)
        if is_users_file(file) and inside and "__autograph_generated_file" not in file:
            found = file, line
    return found


def _by_autograph(call: Call) -> Iterator[Fix]:
    """The same function, read by AutoGraph, where the user turned that off."""
    plain, autograph = references.python_function(call.function)
    if not autograph and tracing.traces(replace(call, function=plain)):
        changes = "in place of autograph=False: if and loops become part of the graph"
        yield Fix("@tf.function", changes)


def _as_numbers(blamed: dict[str, Any]) -> Iterator[Fix]:
    """Arguments as Python numbers, with which the search for them has traced the call."""
    for name, value in blamed.items():
        if not isinstance(value, trees.Fixed):
            yield Fix(
                f"{name}={value!r}", "a Python number is part of the program: one trace for each"
            )


def _found_by_search(call: Call, error: Exception) -> dict[str, Any]:
    """The argument with which, as a fixed value, the call would trace, and that value."""
    pitfall = pitfall_of(error)
    if pitfall is None or not pitfall.asks:
        return {}
    for index, name in enumerate(call.labels):
        value = _number_of(call.args[index])
        args = (*call.args[:index], value, *call.args[index + 1 :])
        if value is not None and tracing.traces(replace(call, args=args)):
            return {name: value}
    for name, given in call.kwargs.items():
        value = _number_of(given)
        if value is not None and tracing.traces(replace(call, kwargs={**call.kwargs, name: value})):
            return {name: value}
    return {}


def _number_of(value: Any) -> Any | None:
    """What a tensor holds, as NumPy or a Python number has it; None for what has no values here."""
    if not is_of(value, tf.Tensor) or tf.is_symbolic_tensor(value):
        return None
    return trees.Fixed(value.numpy()) if value.shape.rank else value.numpy().item()
