"""What TensorFlow does in each call of a `tf.function`, or of a Keras model's methods."""

import threading
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any, NamedTuple

import tensorflow as tf

from ipyjaxbench.compiled import Program
from ipyjaxbench.frameworks._call_watch import CallWatch, Outcome
from ipyjaxbench.frameworks.tensorflow import keys, reach
from ipyjaxbench.frameworks.tensorflow.events import Event, Events
from ipyjaxbench.frameworks.tensorflow.lookup import finds, last_difference
from ipyjaxbench.frameworks.tensorflow.traces import tracing_seconds
from ipyjaxbench.signature import Change, Signature

#: Methods of a Keras model, and the attribute with the function that the model compiles for them.
_OF_MODELS = {
    "fit": "train_function", "train_on_batch": "train_function",
    "evaluate": "test_function", "test_on_batch": "test_function",
    "predict": "predict_function", "predict_on_batch": "predict_function",
}  # fmt: skip
_FUNCTION = tf.types.experimental.PolymorphicFunction
_CONCRETE = tf.types.experimental.ConcreteFunction


class Mark(NamedTuple):
    """What stood before a call.

    Attributes:
        events: how many traces were heard of.
        traces: how often the function had been traced.
        seconds: that TensorFlow had spent on tracing; None where it does not tell.
    """

    events: int
    traces: int
    seconds: float | None


class TensorFlowCallWatch(CallWatch):
    """Counts of traces, which are public; TensorFlow's callbacks and clock for all else.

    Args:
        runs_ahead: tells whether operations may still run when Python goes on.
    """

    def __init__(self, runs_ahead: Callable[[], bool]) -> None:
        self._runs_ahead = runs_ahead
        self._events = Events()
        self._mine: set[int] = set()  # positions of events that belong to a call
        self._relaxed: set[str] = set()  # functions that need no new trace for a new shape

    def __enter__(self) -> "TensorFlowCallWatch":
        self._events.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._events.__exit__(*error)

    def takes(self, function: Any) -> bool:
        """What `tf.function` gave, also behind a method, a partial or a ``__call__``; Keras."""
        kind = type(function)
        if kind is partial:
            return self.takes(function.func)
        if isinstance(function, _FUNCTION | _CONCRETE):
            return True
        if kind is MethodType:
            made = isinstance(function.__self__, _FUNCTION)
            asks = made and function.__name__ == "get_concrete_function"
            return asks or self.takes(function.__func__) or self._is_of_model(function)
        return _decorated(function) is not None

    def name(self, function: Any) -> str:
        """The name of what was decorated; ``Sequential.fit`` of a model's method."""
        if self._is_of_model(function):
            return f"{type(function.__self__).__name__}.{function.__name__}"
        function, _, _ = _resolved(function, (), {})
        return function.graph.name if isinstance(function, _CONCRETE) else keys.name(function)

    def before(self, function: Any) -> Mark:
        """How much was heard, how often it was traced, and what TensorFlow's clock shows."""
        return Mark(len(self._events.heard), self._traces(function), tracing_seconds())

    def after(self, function: Any, mark: Mark) -> Outcome | None:
        """Traced where the count grew; of a model, where anything of Keras or the user's was."""
        if tf.config.functions_run_eagerly():
            return Outcome("BYPASSED")
        of_model = self._is_of_model(function)
        if of_model and function.__self__.run_eagerly:
            return Outcome("BYPASSED")
        heard = self._own(mark)
        if of_model:
            made = [event for event in heard if event.origin != "tensorflow"]
            nested, says = _outermost_first(made, least=1), ""
            traced = bool(made)
        else:
            function, _, _ = _resolved(function, (), {})
            traced = self._traces(function) > mark.traces
            inside = [e for e in heard if e.origin == "user" and e.depth]
            nested = _outermost_first(inside, least=0)
            says = last_difference(function) if traced else ""
        if not traced:
            return None
        if vars(function).get("_reduce_retracing") or getattr(function, "input_signature", None):
            self._relaxed.add(self.name(function))
        return Outcome("TRACED", self._phases(heard, mark), nested, says)

    def signature(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
        """Of the arguments, those of a method or a partial among them."""
        if self._is_of_model(function):
            made = getattr(function.__self__, _OF_MODELS[function.__name__], None)
            return keys.of_model(function, made, args, kwargs)
        return keys.signature(*_resolved(function, args, kwargs))

    def predicts(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> bool | None:
        """Looked up as TensorFlow does; a function that has no trace will make one."""
        if self._is_of_model(function) or tf.config.functions_run_eagerly():
            return None
        function, args, kwargs = _resolved(function, args, kwargs)
        if isinstance(function, _CONCRETE):
            return False
        if not self._traces(function):
            return True
        found = finds(function, args, kwargs)
        return None if found is None else not found

    def wait(self, value: object) -> None:  # noqa: ARG002
        """Wait for all devices where any of them runs ahead of Python."""
        if self._runs_ahead():
            tf.test.experimental.sync_devices()

    def fixes(self, name: str, why: Sequence[Change]) -> tuple[str, ...]:
        """What to write, by what changed."""
        found: dict[str, list[str]] = {}
        for change in why:
            for text in self._fixes(name, change):
                found.setdefault(text, []).append(change.path)
        return tuple(text.format(name=name, path=", ".join(paths)) for text, paths in found.items())

    def outside(self) -> tuple[Program, ...]:
        """Traces by libraries, or for a `tf.data` pipeline."""
        return tuple(
            Program(event.name, None, "traced", "tensorflow")
            for position, event in enumerate(self._events.heard)
            if position not in self._mine and not event.depth
        )

    def _is_of_model(self, function: Any) -> bool:
        if type(function) is not MethodType or function.__name__ not in _OF_MODELS:
            return False
        keras = reach.keras() if self._events.hears else None
        return keras is not None and isinstance(function.__self__, keras.Model)

    def _traces(self, function: Any) -> int:
        function, _, _ = _resolved(function, (), {})
        told = getattr(function, "experimental_get_tracing_count", None)
        return told() if told is not None else 0

    def _own(self, mark: Mark) -> list[Event]:
        """What was heard since, of this thread; it belongs to the call."""
        heard = self._events.heard
        if len(heard) == mark.events:
            return []
        thread = threading.get_ident()
        mine = [at for at in range(mark.events, len(heard)) if heard[at].thread == thread]
        self._mine.update(mine)
        return [heard[at] for at in mine]

    def _phases(self, mine: Sequence[Event], mark: Mark) -> dict[str, float]:
        """TensorFlow's clock is one for all threads: nothing is told where others traced too."""
        seconds, alone = tracing_seconds(), len(self._events.heard) == mark.events + len(mine)
        if seconds is None or mark.seconds is None or not alone:
            return {}
        return {"trace": seconds - mark.seconds}

    def _fixes(self, name: str, change: Change) -> Iterator[str]:
        kind = change.kind
        if kind == "static value" and change.path == "self":
            kind = "object"
        elif kind == "static value" and _is_number(change.old) and _is_number(change.new):
            kind = "number"
        elif kind == "shape" and name in self._relaxed:
            return
        fixes = _FIXES_OF_MODELS if "." in name else _FIXES
        if kind in fixes:
            yield fixes[kind]


_FIXES = {
    "function": "{name} = tf.function(...) once, above: each new one is traced anew",
    "object": "call {name} on the same object: TensorFlow traces it for each anew",
    "type": "give {path} always as the same type, as in tf.constant(...)",
    "shape": "@tf.function(reduce_retracing=True), or an input_signature with None where the shape"
             " of {path} varies",
    "rank": "few ranks: give {path} always with as many axes",
    "dtype": "give {path} always with the same dtype: tf.cast(...) before the call",
    "number": "tf.constant(...) for {path}, where the function takes a tensor: each new Python"
              " number is traced anew",
    "static value": "one trace for each value of {path}: keep them few, and build them once",
    "setting": "call {name} always in the same scope",
    "structure": "keep the same keys and lengths in each call",
}  # fmt: skip
_FIXES_OF_MODELS = {
    "function": "compile(...) the model once: it makes and traces its functions anew",
    "object": "build the model once: each object is traced anew",
    "type": _FIXES["type"],
    "dtype": _FIXES["dtype"],
    "rank": _FIXES["rank"],
    "structure": _FIXES["structure"],
}


def _decorated(value: Any) -> Any | None:
    """The class's ``__call__`` where it was decorated; of a Keras layer, its ``call``."""
    kind = type(value)
    if isinstance(getattr(kind, "__call__", None), _FUNCTION):  # noqa: B004
        return value.__call__
    if isinstance(getattr(kind, "call", None), _FUNCTION):
        keras = reach.keras()
        if keras is not None and isinstance(value, keras.layers.Layer):
            return value.call
    return None


def _resolved(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """The function that TensorFlow made, and what it is given."""
    kind = type(function)
    if kind is partial:
        given = {**function.keywords, **kwargs}
        return _resolved(function.func, (*function.args, *args), given)
    if kind is MethodType:
        if isinstance(function.__self__, _FUNCTION):  # get_concrete_function
            return function.__self__, args, kwargs
        return _resolved(function.__func__, (function.__self__, *args), kwargs)
    if not isinstance(function, _FUNCTION | _CONCRETE):
        decorated = _decorated(function)
        if decorated is not None:
            return decorated, args, kwargs
    return function, args, kwargs


def _outermost_first(events: Sequence[Event], *, least: int) -> tuple[tuple[int, str], ...]:
    """Names with their depth; events come in the order in which they ended."""
    trees: list[list[Event]] = []
    for event in events:
        tree = [event]
        while trees and trees[-1][0].depth > event.depth:
            tree[1:1] = trees.pop()
        trees.append(tree)
    ordered = (event for tree in trees for event in tree)
    return tuple(dict.fromkeys((event.depth + least, event.name) for event in ordered))


def _is_number(words: str) -> bool:
    """Whether a value in Python's words is a number, and no truth value."""
    try:
        return type(literal_eval(words)) in (int, float, complex)
    except (ValueError, SyntaxError):
        return False
