"""What TensorFlow does in each call of a `tf.function`, or of a Keras model's methods."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from ipyjaxbench.adapters.shared.retracing import EventWatch
from ipyjaxbench.adapters.shared.stale_programs import define_all_again
from ipyjaxbench.adapters.tensorflow import functions
from ipyjaxbench.adapters.tensorflow.compilation import tracing_seconds
from ipyjaxbench.adapters.tensorflow.compile_events import Event, Events
from ipyjaxbench.adapters.tensorflow.retracing import cache_key, callee
from ipyjaxbench.adapters.tensorflow.retracing.advice import fixes
from ipyjaxbench.adapters.tensorflow.retracing.cache_lookup import (
    accepted_by_latest,
    find_trace,
    finds,
    has_unknown_shapes,
    last_difference,
)
from ipyjaxbench.adapters.tensorflow.retracing.function_calls import FunctionCalls
from ipyjaxbench.adapters.tensorflow.retracing.kept_programs import TensorFlowKeptPrograms
from ipyjaxbench.adapters.tensorflow.retracing.model_causes import causes_of_trace, count_traces
from ipyjaxbench.adapters.tensorflow.retracing.model_code import KerasModelCode
from ipyjaxbench.adapters.tensorflow.retracing.origins import LostCode, is_of_users, origin_of
from ipyjaxbench.adapters.tensorflow.retracing.traced_code import TensorFlowTracedCode
from ipyjaxbench.frameworks import Framework, Program
from ipyjaxbench.retracing import (
    Args,
    Change,
    Kwargs,
    OnHit,
    Outcome,
    Signature,
    TracedCode,
)
from ipyjaxbench.usercode import assignment_of

#: Of calls that traced nothing; XLA compiles a trace of unknown shapes for each one it meets.
_XLA = "XLA compiles each new shape and does not report it"


class Mark(NamedTuple):
    """The traces before a call: reported, of the function, and TensorFlow's seconds for all."""

    events: int
    traces: int
    seconds: float | None


class TensorFlowCallWatch(EventWatch[Event]):
    """Counts of traces, which are public; TensorFlow's callbacks and clock for all else."""

    kept = TensorFlowKeptPrograms()
    messages = ("triggered tf.function retracing",)  # a warning, which goes to standard output

    def __init__(self, framework: Framework) -> None:
        self._events, self._calls = Events(), FunctionCalls()
        super().__init__(lambda _: framework.drain(), self._events.events, self._events,
                         self._calls)  # fmt: skip
        self._relaxed: set[str] = set()  # functions that need no new trace for a new shape
        self._of_xla: set[str] = set()

    def takes(self, function: Any) -> bool:
        """Whether `tf.function` or Keras made what it calls."""
        of_model = self._events.is_reliable and callee.model_call(function) is not None
        return of_model or callee.is_compiled(function)

    def name(self, function: Any) -> str:
        """Return the name of what was decorated; ``Sequential.fit`` of a model's method."""
        if (call := callee.model_call(function)) is not None:
            return callee.model_method_name(call[0])
        function, _, _ = callee.resolve(function, (), {})
        if isinstance(function, callee.CONCRETE):
            return str(function.graph.name)
        return functions.display_name(function)

    def begin_call(self, function: Any, args: Args, kwargs: Kwargs) -> Mark:  # noqa: ARG002
        """Return the numbers of events and of traces, and what TensorFlow's clock shows."""
        return Mark(len(self._events.events), self._traces(function), tracing_seconds())

    def end_call(self, function: Any, mark: Mark) -> Outcome | None:
        """Return what was traced; of a model, by Keras or the user."""
        if tf.config.functions_run_eagerly():
            return Outcome("BYPASSED")
        new = self._since(mark.events)
        self._owned.update(new)
        events = [*new.values()]
        if (call := callee.model_call(function)) is not None:
            return self._model_outcome(call[0], events, mark)
        function, _, _ = callee.resolve(function, (), {})
        count = self._traces(function)
        xla = bool(getattr(function, "_jit_compile", None))
        if count == mark.traces:
            is_known = not (xla and has_unknown_shapes(function, count))
            return None if is_known else Outcome("?", framework_reason=_XLA)
        name = functions.display_name(function)
        if xla:
            self._of_xla.add(name)
        options = ("_reduce_retracing", "input_signature")
        if any(getattr(function, option, None) for option in options):
            self._relaxed.add(name)
        inside = [event for event in events if event.origin == "user" and event.depth]
        nested = _outermost_first(inside, least=0)
        accepted = accepted_by_latest(function)
        difference = last_difference(function)
        return Outcome(
            "TRACED", self._phases(events, mark), nested, difference, accepted=accepted,
            known=mark.traces > 0,
        )  # fmt: skip

    def report_hits(self, on_hit: OnHit) -> None:
        """Report calls of what `tf.function` gave."""
        self._calls.on_hit = on_hit

    def signature(self, function: Any, args: Args, kwargs: Kwargs) -> Signature:
        """Return that of the arguments, those of a method or a partial among them."""
        if (call := callee.model_call(function, args, kwargs)) is not None:
            method, args, kwargs = call
            made = getattr(method.__self__, callee.OF_MODELS[method.__name__], None)
            return cache_key.model_signature(method, made, args, kwargs)
        function, args, kwargs = callee.resolve(function, args, kwargs)
        if isinstance(function, callee.CONCRETE):
            return cache_key.concrete_signature(function, origin_of(function), args, kwargs)
        return cache_key.signature(function, args, kwargs)

    def traced_code(self, function: Any, args: Args, kwargs: Kwargs) -> TracedCode | None:
        """Return the trace that such a call finds; of a model what Keras traces of it."""
        if (call := callee.model_call(function)) is not None:
            return KerasModelCode.of(call[0])
        function, args, kwargs = callee.resolve(function, args, kwargs)
        if isinstance(function, callee.CONCRETE):
            origin = origin_of(function)
            if origin is None:
                return LostCode() if is_of_users(function) else None
            return TensorFlowTracedCode(origin, function)
        concrete = find_trace(function, args, kwargs)
        return None if concrete is None else TensorFlowTracedCode(function, concrete)

    def predicts(self, function: Any, args: Args, kwargs: Kwargs) -> bool | None:
        """Whether TensorFlow's look-up finds no trace; a function without one will make one."""
        if callee.model_call(function) is not None or tf.config.functions_run_eagerly():
            return None
        function, args, kwargs = callee.resolve(function, args, kwargs)
        if isinstance(function, callee.CONCRETE):
            return False
        if not self._traces(function):
            return True
        is_found = finds(function, args, kwargs)
        return None if is_found is None else not is_found

    def how_to_define_again(self, function: Any, quote: str = "") -> str:
        """Return what to do for a function of the same code that has no trace yet."""
        again = define_all_again(self, function, _define_again)
        return again.replace("`", quote)

    def fixes(self, name: str, why: Sequence[Change], function: Any) -> tuple[str, ...]:
        """Return what to write, by what changed."""
        is_stale = any(each.kind == "stale" for each in why)
        again = self.how_to_define_again(function, "`") if is_stale else ""
        relaxed, xla = name in self._relaxed, name in self._of_xla
        return fixes(name, why, again=again, relaxed=relaxed, xla=xla)

    def outside(self) -> tuple[Program, ...]:
        """Return traces by libraries, or for a `tf.data` pipeline."""
        outermost = (event for event in self._others() if not event.depth)
        return tuple(Program(event.name, None, "traced", "tensorflow") for event in outermost)

    def _model_outcome(self, method: Any, events: Sequence[Event], mark: Mark) -> Outcome | None:
        """Return what was traced, but for the pipeline that feeds it, which is for each call."""
        model = method.__self__
        if model.run_eagerly:
            return Outcome("BYPASSED")
        if not self._events.is_reliable:
            return Outcome("?")
        made = [event for event in events if event.origin != "tensorflow"]
        if not made:
            return Outcome("?", framework_reason=_XLA) if model.jit_compile else None
        inside, why = _outermost_first(made, least=1), causes_of_trace(method, mark.traces)
        known = True if why else None
        return Outcome(
            "TRACED", self._phases(events, mark), inside, known=known, fallback_reasons=why
        )

    def _traces(self, function: Any) -> int:
        if (call := callee.model_call(function)) is not None:
            return count_traces(call[0])
        function, _, _ = callee.resolve(function, (), {})
        count = getattr(function, "experimental_get_tracing_count", None)
        return count() if count is not None else 0

    def _phases(self, own: Sequence[Event], mark: Mark) -> dict[str, float]:
        """Return the seconds of tracing by the clock of all threads; none where others traced."""
        seconds, alone = tracing_seconds(), len(self._events.events) == mark.events + len(own)
        if seconds is None or mark.seconds is None or not alone:
            return {}
        return {"trace": seconds - mark.seconds}


def _outermost_first(events: Sequence[Event], *, least: int) -> tuple[tuple[int, str], ...]:
    """Return names with their depth; events come in the order in which they ended."""
    trees: list[list[Event]] = []
    for event in events:
        tree = [event]
        while trees and trees[-1][0].depth > event.depth:
            tree[1:1] = trees.pop()
        trees.append(tree)
    ordered = (event for tree in trees for event in tree)
    return tuple(dict.fromkeys((event.depth + least, event.name) for event in ordered))


def _define_again(function: Any) -> str:
    """Return what to do for one function, or for an object whose class has a decorated call."""
    if isinstance(function, callee.CONCRETE):
        text = assignment_of(function)
        typed = f"run `{text}`" if text else "call `get_concrete_function` again"
        return f"run the cell that defines its function again, then {typed}"
    made = callee.decorated_call(function)
    return functions.how_to_define_again(function if made is None else made)
