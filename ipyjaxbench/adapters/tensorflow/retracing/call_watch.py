"""What TensorFlow does in each call of a `tf.function`, or of a Keras model's methods."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import functions
from ipyjaxbench.adapters.tensorflow.compilation import tracing_seconds
from ipyjaxbench.adapters.tensorflow.compile_events import Event, Events
from ipyjaxbench.adapters.tensorflow.retracing import cache_key, callee
from ipyjaxbench.adapters.tensorflow.retracing.advice import fixes
from ipyjaxbench.adapters.tensorflow.retracing.cache_lookup import (
    finds,
    has_unknown_shapes,
    last_difference,
)
from ipyjaxbench.frameworks import Program
from ipyjaxbench.retracing import CallWatch, Change, Outcome, Signature

#: Told of calls that traced nothing; XLA compiles a trace of unknown shapes for each one it meets.
_XLA = "XLA compiles for each new shape, and does not tell when"


class Mark(NamedTuple):
    """What stood before a call.

    Attributes:
        events: how many traces were reported.
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
        self._owned: set[int] = set()  # positions of events that belong to a call
        self._relaxed: set[str] = set()  # functions that need no new trace for a new shape
        self._of_xla: set[str] = set()

    def __enter__(self) -> "TensorFlowCallWatch":
        self._events.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._events.__exit__(*error)

    def takes(self, function: Any) -> bool:
        """What `tf.function` gave, also behind a method, a partial or a ``__call__``; Keras."""
        of_model = self._events.is_reliable and callee.is_of_model(function)
        return of_model or callee.is_compiled(function)

    def name(self, function: Any) -> str:
        """The name of what was decorated; ``Sequential.fit`` of a model's method."""
        if callee.is_of_model(function):
            return f"{type(function.__self__).__name__}.{function.__name__}"
        function, _, _ = callee.resolved(function, (), {})
        return (
            function.graph.name
            if isinstance(function, callee.CONCRETE)
            else functions.display_name(function)
        )

    def before(self, function: Any) -> Mark:
        """Return the numbers of events and of traces, and what TensorFlow's clock shows."""
        return Mark(len(self._events.events), self._traces(function), tracing_seconds())

    def after(self, function: Any, mark: Mark) -> Outcome | None:
        """Traced where the count grew; of a model, where anything of Keras or the user's was."""
        if tf.config.functions_run_eagerly():
            return Outcome("BYPASSED")
        events = self._own(mark)
        if callee.is_of_model(function):
            return self._after_model(function.__self__, events, mark)
        function, _, _ = callee.resolved(function, (), {})
        count = self._traces(function)
        xla = bool(getattr(function, "_jit_compile", None))
        if count == mark.traces:
            return (
                Outcome("?", framework_reason=_XLA)
                if xla and has_unknown_shapes(function, count)
                else None
            )
        name = functions.display_name(function)
        if xla:
            self._of_xla.add(name)
        options = ("_reduce_retracing", "input_signature")
        if any(getattr(function, option, None) for option in options):
            self._relaxed.add(name)
        inside = [event for event in events if event.origin == "user" and event.depth]
        nested = _outermost_first(inside, least=0)
        return Outcome("TRACED", self._phases(events, mark), nested, last_difference(function))

    def signature(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
        """Of the arguments, those of a method or a partial among them."""
        if callee.is_of_model(function):
            made = getattr(function.__self__, callee.OF_MODELS[function.__name__], None)
            return cache_key.of_model(function, made, args, kwargs)
        return cache_key.signature(*callee.resolved(function, args, kwargs))

    def predicts(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> bool | None:
        """Looked up as TensorFlow does; a function that has no trace will make one."""
        if callee.is_of_model(function) or tf.config.functions_run_eagerly():
            return None
        function, args, kwargs = callee.resolved(function, args, kwargs)
        if isinstance(function, callee.CONCRETE):
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
        return fixes(name, why, relaxed=name in self._relaxed, xla=name in self._of_xla)

    def outside(self) -> tuple[Program, ...]:
        """Traces by libraries, or for a `tf.data` pipeline."""
        return tuple(
            Program(event.name, None, "traced", "tensorflow")
            for position, event in enumerate(self._events.events)
            if position not in self._owned and not event.depth
        )

    def _after_model(self, model: Any, events: Sequence[Event], mark: Mark) -> Outcome | None:
        """TensorFlow's own traces are those of the pipeline that feeds it, made for each call."""
        if model.run_eagerly:
            return Outcome("BYPASSED")
        if not self._events.is_reliable:
            return Outcome("?")
        made = [event for event in events if event.origin != "tensorflow"]
        if not made:
            return Outcome("?", framework_reason=_XLA) if model.jit_compile else None
        return Outcome("TRACED", self._phases(events, mark), _outermost_first(made, least=1))

    def _traces(self, function: Any) -> int:
        function, _, _ = callee.resolved(function, (), {})
        told = getattr(function, "experimental_get_tracing_count", None)
        return told() if told is not None else 0

    def _own(self, mark: Mark) -> list[Event]:
        """Return events since then, of this thread; they belong to the call."""
        events = self._events.events
        if len(events) == mark.events:
            return []
        thread = threading.get_ident()
        mine = [at for at in range(mark.events, len(events)) if events[at].thread == thread]
        self._owned.update(mine)
        return [events[at] for at in mine]

    def _phases(self, mine: Sequence[Event], mark: Mark) -> dict[str, float]:
        """TensorFlow's clock is one for all threads: nothing is told where others traced too."""
        seconds, alone = tracing_seconds(), len(self._events.events) == mark.events + len(mine)
        if seconds is None or mark.seconds is None or not alone:
            return {}
        return {"trace": seconds - mark.seconds}


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
