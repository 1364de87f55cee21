"""What TensorFlow reports of its traces, and functions that have none yet."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import get_ident
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import tracing_compilation

from ipyjaxbench.adapters.tensorflow.compile_events import Event, Events
from ipyjaxbench.frameworks import UNNAMED, ColdCall, Compilation, CompilationWatch, Program
from ipyjaxbench.usercode import is_of


class TraceWatch(CompilationWatch):
    """Counts traces, by TensorFlow's own clock; it does not report XLA's compilations.

    Functions in play are asked. Others, as methods, are heard of where this version reports traces.
    """

    def __init__(self, functions: Sequence[Any]) -> None:
        self._functions = functions
        self._begun = self._seconds = tracing_seconds()
        self._before = self._trace_counts()
        self._traces = sum(self._before)
        self._count = 0
        self._events = Events()

    def __enter__(self) -> "TraceWatch":
        self._events.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._events.__exit__(*error)

    def _heard(self) -> list[Event]:
        return [event for event in self._events.events if event.origin != "tensorflow"]

    def _trace_counts(self) -> list[int]:
        return [function.experimental_get_tracing_count() for function in self._functions]

    def compilations(self) -> int:
        """Count the traces."""
        traces, seconds = sum(self._trace_counts()), tracing_seconds()
        # A function made inside of the code is not among those that can be asked.
        unasked = seconds is not None and self._seconds is not None and seconds > self._seconds
        self._count += max(traces - self._traces, int(unasked))
        self._traces, self._seconds = traces, seconds
        return max(self._count, len(self._heard()))

    def _traced(self) -> list[Any]:
        now = zip(self._functions, self._trace_counts(), self._before, strict=True)
        return [function for function, after, before in now for _ in range(after - before)]

    def programs(self) -> list[Program]:
        """Return each trace by its function; with its time where it is the only one."""
        count, heard = self.compilations(), [event.name for event in self._heard()]
        names = heard or [_name(function) for function in self._traced()]
        names += [UNNAMED] * (count - len(names))
        spent = self.phases().get("trace") if count == 1 else None
        return [Program(name, spent, "traced", "tensorflow") for name in names]

    def phases(self) -> dict[str, float | None]:
        """Return what TensorFlow's clock shows of tracing."""
        if not self.compilations():
            return {}
        begun, now = self._begun, self._seconds
        is_known = begun is not None and now is not None
        phases = {"trace": now - begun if is_known else None}  # type: ignore[operator]
        # XLA compiles when a traced function is first run; Python does not know for how long.
        asked = (vars(function).get("_jit_compile") for function in self._traced())
        if any(asked) or any(event.by_xla for event in self._heard()):
            phases["compile"] = None
        return phases


def tracing_seconds() -> float | None:
    """Return what TensorFlow has spent on building graphs; None where it hides that."""
    clock = _tracing_clock()
    return None if clock is None else clock.value() * 1e-6


@cache
def _tracing_clock() -> Any:
    counter = getattr(tracing_compilation, "_graph_building_time_counter", None)
    return None if counter is None else counter.get_cell()


@contextmanager
def clones(named: Mapping[str, Any], unnamed: Sequence[object]) -> Iterator[ColdCall]:
    """Give functions with the same options and no traces yet; nothing public makes one."""
    stand_ins: dict[str, object] = {}
    unchanged = [_name(function) for function in unnamed]
    for name, function in named.items():
        clone = getattr(function, "_clone", None)
        try:
            stand_ins[name] = clone(None)  # type: ignore[misc]
        except Exception:  # noqa: BLE001  another version takes other arguments
            unchanged.append(name)
    caveats = [f"{name} kept its traces" for name in dict.fromkeys(unchanged)]
    yield ColdCall(stand_ins, caveats)


def _name(function: object) -> str:
    original = getattr(function, "python_function", None)
    return str(getattr(original, "__name__", UNNAMED))


@contextmanager
def isolate_traces() -> Iterator[list[str]]:
    """Give each `tf.function` that this thread calls traces of its own, thrown away after.

    Tracing one that calls others would leave traces in those. The class is changed meanwhile: no
    public way tells TensorFlow to trace elsewhere. Yields the names of functions left as they are.
    """
    kind: Any = type(tf.function(abs))
    original, thread = kind.__call__, get_ident()
    stand_ins: dict[int, tuple[Any, Any]] = {}  # with the function, so that no other gets its id
    unchanged: list[str] = []

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if get_ident() != thread:
            return original(self, *args, **kwargs)
        if id(self) not in stand_ins:
            try:
                stand_ins[id(self)] = self, self._clone(None)
            except Exception:  # noqa: BLE001  another version has it elsewhere
                unchanged.append(_name(self))
                return original(self, *args, **kwargs)
        return original(stand_ins[id(self)][1], *args, **kwargs)

    kind.__call__ = call
    try:
        yield unchanged
    finally:
        kind.__call__ = original


class TensorFlowCompilation(Compilation):
    """`tf.function`."""

    builders = ((tf.function, ""),)
    reads_code = True

    def compiles(self, value: object) -> bool:
        """Whether it is the result of `tf.function`."""
        return is_of(value, tf.types.experimental.PolymorphicFunction)

    def is_off(self) -> bool:
        """Whether functions run eagerly."""
        return bool(tf.config.functions_run_eagerly())

    def original(self, function: object) -> object | None:
        """Return what `tf.function` was given."""
        return getattr(function, "python_function", None) if self.compiles(function) else None

    def watch(self, functions: Sequence[object]) -> TraceWatch:
        """Ask the functions in play how often they were traced."""
        return TraceWatch([f for f in functions if self.compiles(f)])

    def cold_call(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[ColdCall] | None:
        """Make the same functions anew: each has traces of its own."""
        return clones(named, unnamed) if named or unnamed else None
