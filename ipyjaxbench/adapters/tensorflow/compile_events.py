"""What TensorFlow traces, as it happens."""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from traceback import walk_stack
from types import FrameType
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import tracing_compilation

from ipyjaxbench.adapters.tensorflow import functions
from ipyjaxbench.usercode import is_file_of, is_users_file

_Listener = Callable[[Any], None]  # gets each new concrete function
_INITIALIZERS = "_initialize_uninitialized_variables"


_unheard = threading.local()  # a thread that traces what is thrown away


class Tracing(NamedTuple):
    """A `tf.function` that is being traced, and its arguments."""

    function: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]


class Event(NamedTuple):
    """One trace, reported when it ends."""

    name: str
    origin: str  # who wrote the function: "user", "library", or "tensorflow" itself
    depth: int  # traces that were going on around it
    thread: int
    by_xla: bool  # whether XLA compiles it when it is first run


class Events(AbstractContextManager["Events"]):
    """Listens to traces while the context is open; an inner one ends before the one around it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        #: Whether this version reports traces, and all of them were understood.
        self.is_reliable = _listeners() is not None

    def __enter__(self) -> "Events":
        listen(self._on_trace)
        return self

    def __exit__(self, *_: object) -> None:
        listeners = _listeners()
        if listeners is not None and self._on_trace in listeners:
            listeners.remove(self._on_trace)

    def _on_trace(self, concrete: Any) -> None:
        try:
            going_on = [*tracings(sys._getframe(1))]
            if going_on:
                function = going_on[0].function
                origin = _origin(functions.file_of(function))
                is_own = origin == "tensorflow"
                name = concrete.graph.name if is_own else functions.display_name(function)
                depth, thread = len(going_on) - 1, threading.get_ident()
                by_xla = bool(vars(function).get("_jit_compile"))
                self.events.append(Event(name, origin, depth, thread, by_xla))
        except Exception:  # noqa: BLE001  the user's call goes on whatever becomes of ours
            self.is_reliable = False


def listen(listener: _Listener) -> bool:
    """Call a listener for each trace from now on, if this version can; return whether it can."""
    listeners = _listeners()
    if listeners is not None:
        listeners.append(listener)
    return listeners is not None


@contextmanager
def unheard() -> Iterator[None]:
    """Report nothing that this thread traces meanwhile: it is no call of the user's."""
    before = getattr(_unheard, "on", False)
    _unheard.on = True
    try:
        yield
    finally:
        _unheard.on = before


def tracings(frame: FrameType) -> Iterator[Tracing]:
    """Yield the traces that are going on, the innermost first; none while they are `unheard`.

    TensorFlow hands the concrete function on alone; its arguments stand in the frames around.

    Raises:
        LookupError: none of these frames is one that traces.
    """
    if getattr(_unheard, "on", False):
        return
    trace = tracing_compilation.trace_function.__code__
    call = tracing_compilation.call_function.__code__
    frames = [each for each, _ in walk_stack(frame)]
    positions = [at for at, each in enumerate(frames) if each.f_code is trace]
    if not positions:
        raise LookupError("this version traces elsewhere")
    for at in positions:
        caller = next((each for each in frames[at + 1 :] if each.f_code is not call), None)
        if caller is not None and caller.f_code.co_name != _INITIALIZERS:
            function = caller.f_locals.get("self")
            if isinstance(function, tf.types.experimental.PolymorphicFunction):
                names = frames[at].f_locals
                yield Tracing(function, names["args"], names["kwargs"])


def _origin(file: str) -> str:
    if is_users_file(file):
        return "user"
    return "tensorflow" if is_file_of(file, "tensorflow") else "library"


def _listeners() -> list[_Listener] | None:
    """Return TensorFlow's own list of listeners (private); None where there is none."""
    name = "tensorflow.python.eager.polymorphic_function.transform"
    listeners = getattr(sys.modules.get(name), "CONCRETE_FUNCTION_CALLBACKS", None)
    return listeners if isinstance(listeners, list) else None
