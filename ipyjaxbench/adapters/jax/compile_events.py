"""What JAX tells of its tracing, lowering and compiling, as it happens."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import jax.monitoring
from jax._src import monitoring

from ipyjaxbench.frameworks import UNNAMED, Program
from ipyjaxbench.host import Clock

_CLOCK = Clock.elapsed()
_TRACE = "/jax/core/compile/jaxpr_trace_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"
_LOAD = "/jax/compilation_cache/cache_retrieval_time_sec"  # fires for hits only
#: Events of `jax.monitoring`, innermost first: where two overlap the moment belongs to the first.
PHASES = {
    _LOAD: "cache load",
    _COMPILE: "compile",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    _TRACE: "trace",
}


class Event(NamedTuple):
    """One interval.

    Attributes:
        phase: "trace", "lower", "compile" or "cache load".
        seconds: how long it was.
        end: when it ended, in seconds.
        name: of the function; "?" where it is not told.
        thread: in which it happened.
        program: whether a program was made, or loaded, in it.
    """

    phase: str
    seconds: float
    end: float
    name: str
    thread: int
    program: bool

    @property
    def span(self) -> tuple[float, float, str]:
        """Its start, its end and its phase."""
        return self.end - self.seconds, self.end, self.phase


class Events(AbstractContextManager["Events"]):
    """Listens while the context is open.

    Attributes:
        events: those so far.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._loading: set[int] = set()  # threads in which a program came from the disk cache

    def __enter__(self) -> "Events":
        jax.monitoring.register_event_duration_secs_listener(self._on_event)
        return self

    def __exit__(self, *_: object) -> None:
        _unregister(self._on_event)

    def _on_event(self, event: str, seconds: float, **details: Any) -> None:
        if event not in PHASES:
            return
        # An event is told when it ends, in every version; spans came later (0.5.3).
        end = _CLOCK.now() * 1e-9
        phase, thread = PHASES[event], threading.get_ident()
        if event == _LOAD:
            self._loading.add(thread)
        if event == _COMPILE and thread in self._loading:
            # It ends after a load from the disk cache too: then nothing was compiled.
            self._loading.discard(thread)
            phase = "cache load"
        name = str(details.get("fun_name") or UNNAMED)  # told from 0.6 on
        name = name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name
        self.events.append(Event(phase, seconds, end, name, thread, event == _COMPILE))


def _unregister(listener: Callable[..., None]) -> None:
    public = getattr(jax.monitoring, "unregister_event_duration_listener", None)
    if public is not None:
        public(listener)
    else:  # before 0.8.3
        monitoring._unregister_event_duration_listener_by_callback(listener)


def programs_of(events: Sequence[Event]) -> tuple[Program, ...]:
    """Programs that were made or loaded in some events."""
    return tuple(
        Program(e.name, e.seconds, "disk cache" if e.phase == "cache load" else "compiled", "jax")
        for e in events
        if e.program
    )


def phases_of(events: Sequence[Event]) -> dict[str, float]:
    """Seconds of each phase that happened, each moment counted once."""
    spent = disjoint([event.span for event in events])
    return {phase: seconds for phase, seconds in spent.items() if seconds > 0}


def disjoint(spans: Sequence[tuple[float, float, str]]) -> dict[str, float]:
    """Seconds per phase; where intervals overlap the innermost phase has the moment.

    Args:
        spans: start, end and phase of each interval, in seconds.

    Returns:
        Seconds per phase in the order in which they happen; their sum is the union's length.

    Example:
        >>> disjoint([(0.0, 3.0, "trace"), (1.0, 2.0, "compile")])
        {'trace': 2.0, 'lower': 0.0, 'compile': 1.0, 'cache load': 0.0}
    """
    innermost_first = list(PHASES.values())
    total = dict.fromkeys(reversed(innermost_first), 0.0)
    edges = [(start, 1, phase) for start, _, phase in spans]
    edges += [(end, -1, phase) for _, end, phase in spans]
    running = dict.fromkeys(innermost_first, 0)
    before = 0.0
    for moment, step, phase in sorted(edges):
        inner = next((p for p in innermost_first if running[p]), None)
        if inner is not None:
            total[inner] += moment - before
        running[phase] += step
        before = moment
    return total
