"""What a Keras model read while Keras traced it, and whether today's program is another one."""

import weakref
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.adapters.tensorflow.retracing import callee
from ipyjaxbench.adapters.tensorflow.retracing.imprints import imprint, parts, wrapped
from ipyjaxbench.adapters.tensorflow.retracing.retrace import arguments_of, is_another_program
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Args, Kwargs, TracedCode
from ipyjaxbench.usercode import Reads, closure_values, find_reads, names_in, unwrap

#: Of the functions that a model compiles, the step that each runs.
_STEPS = {"train_function": "train_step", "test_function": "test_step"}


class KerasModelCode(TracedCode):
    """What one method of a model runs; it does not keep the model.

    How Keras makes it is private; where a version makes it in another way, nothing is known.
    """

    is_one_of_several = True

    def __init__(self, method: Any) -> None:
        self._model, self._method = weakref.ref(method.__self__), method.__name__
        self._made = weakref.ref(self._compiled())

    @classmethod
    def of(cls, method: Any) -> "KerasModelCode | None":
        """Return that of a method; None where Keras has made nothing of it yet."""
        made = getattr(method.__self__, callee.OF_MODELS[method.__name__], None)
        return None if made is None else cls(method)

    def reads(self) -> Reads | None:
        """Return what the model is made of, and what the user's code in it reads now."""
        model = self._model()
        return None if model is None else find_reads(model, {}, imprint, wrapped, parts)

    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> bool | None:
        """Have Keras make the function anew, aside; None where traces do not agree."""
        call = callee.model_call(compiled)
        model = self._model()
        if call is None or model is None or call[0].__self__ is not model or self.is_dropped():
            return None
        make = partial(_make_anew, model, self._method)
        try:
            kept = latest_traces(traces_of(call[0])[1])
        except CODE_ERRORS:  # another version makes it in another way
            return None
        given = [(each, arguments_of(each)) for each in kept]
        if not given or any(arguments is None for _, arguments in given):
            return None
        answers = {is_another_program(*each, make, if_unsure=if_unsure) for each in given}
        return answers.pop() if len(answers) == 1 else None

    def is_dropped(self) -> bool:
        """Whether the model was compiled anew, or is gone."""
        made = self._made()
        return made is None or self._compiled() is not made

    def serves(self, compiled: Any, args: Args, kwargs: Kwargs) -> bool:
        """Whether it is what such a call runs."""
        call = callee.model_call(compiled, args, kwargs)
        model = self._model()
        if call is None or call[0].__self__ is not model:
            return False
        try:
            return _runs(model, call[0].__name__) is _runs(model, self._method)
        except CODE_ERRORS:  # another version makes it in another way
            return False

    def _compiled(self) -> Any:
        return getattr(self._model(), callee.OF_MODELS[self._method], None)


def _runs(model: Any, method: str) -> Any:
    """Return the `tf.function` that a model's method runs."""
    return _function_of(getattr(model, callee.OF_MODELS[method]), method)


def traces_of(method: Any) -> tuple[Any, list[Any]]:
    """Return the `tf.function` that a model's method runs, and its traces, the oldest first."""
    function = _runs(method.__self__, method.__name__)
    return function, [*function._function_cache.values()]


def latest_traces(traces: Iterable[Any]) -> list[Any]:
    """Return the latest of some traces for each signature, without parts of other traces."""
    latest = {
        str(each.function_type): each
        for each in traces
        if not any(tf.is_symbolic_tensor(tensor) for tensor, _ in each.graph.captures)
    }
    return [*latest.values()]


def _function_of(made: Any, method: str) -> Any:
    """Return the `tf.function` that Keras calls; it is within a plain one but for predictions."""
    if type(made) is not FunctionType:
        return made
    held = dict(closure_values(made))
    # From Keras 3.16 on it asks for the batch itself, where it runs one step at a time.
    is_one_step = "get_next_as_optional" in names_in(made.__code__)
    if not method.endswith("_on_batch") and not (is_one_step and _runs_one_step(held)):
        return held["multi_step_on_iterator"]
    step = held["one_step_on_data"]
    return step if type(step) is not FunctionType else dict(closure_values(step))["step_func"]


def _runs_one_step(held: dict[str, Any]) -> bool:
    return bool(held["self"].steps_per_execution == 1)


def _make_anew(model: Any, method: str) -> Any:
    """Have Keras make the function of a model once more; the model keeps the one that it has."""
    name = callee.OF_MODELS[method]
    if name in _STEPS:
        return _function_of(model._make_function(getattr(model, _STEPS[name])), method)
    kept = getattr(model, name)
    try:
        model.make_predict_function(force=True)
        return _function_of(getattr(model, name), method)
    finally:
        setattr(model, name, kept)


def traced_method(function: Any) -> Any | None:
    """Return the method of a model that a `tf.function` of Keras's was traced for, if it is one."""
    model = _closed_over(function.python_function, "self")
    if not references.is_model(model):
        return None
    for name in callee.OF_MODELS:
        method = getattr(model, name)
        with suppress(*CODE_ERRORS):  # it is not made yet, or in another way by this version
            if _runs(model, name) is function:
                return method
    return None


def _closed_over(function: Any, name: str, depth: int = 3) -> Any:
    """Return what a function closes over under a name, or a function that it closes over does."""
    plain = unwrap(function)
    held = dict(closure_values(plain)) if type(plain) is FunctionType and depth else {}
    if name in held:
        return held[name]
    found = (_closed_over(each, name, depth - 1) for each in held.values())
    return next((each for each in found if each is not None), None)
