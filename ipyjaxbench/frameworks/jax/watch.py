"""What JAX tells of its tracing, lowering and compiling."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.monitoring
from jax._src import monitoring

from ipyjaxbench.clock import Clock
from ipyjaxbench.compiled import UNNAMED, Program
from ipyjaxbench.frameworks._base import Watch

_CLOCK = Clock.elapsed()


#: Events of `jax.monitoring`, innermost first: where two overlap the moment belongs to the first.
_EVENTS = {
    "/jax/compilation_cache/cache_retrieval_time_sec": "cache load",
    "/jax/core/compile/backend_compile_duration": "compile",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/jaxpr_trace_duration": "trace",
}


_COMPILE = "/jax/core/compile/backend_compile_duration"


_TRACE = "/jax/core/compile/jaxpr_trace_duration"


_LOAD = "/jax/compilation_cache/cache_retrieval_time_sec"  # fires for hits only


class JaxWatch(Watch):
    """Intervals of tracing, lowering and compiling, as `jax.monitoring` reports them.

    Args:
        kept: functions whose traces JAX keeps because they were looked at; one that is compiled
            is taken out.
    """

    def __init__(self, kept: set[str] | None = None) -> None:
        self._kept = set() if kept is None else kept
        self._traced: set[str] = set()
        self._spans: list[tuple[float, float, str]] = []
        self._programs: list[Program] = []
        self._loading: set[int] = set()  # threads in which a program came from the disk cache

    def __enter__(self) -> "JaxWatch":
        jax.monitoring.register_event_duration_secs_listener(self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        _unregister(self._heard)

    def _heard(self, event: str, seconds: float, **told: Any) -> None:
        if event not in _EVENTS:
            return
        # An event is told when it ends, in every version; spans came later (0.5.3).
        end = _CLOCK.now() * 1e-9
        phase = _EVENTS[event]
        if event == _LOAD:
            self._loading.add(threading.get_ident())
        if event == _TRACE:
            self._traced.add(str(told.get("fun_name")))
        if event == _COMPILE:
            # It ends after a load from the disk cache too: then nothing was compiled.
            loaded = threading.get_ident() in self._loading
            self._loading.discard(threading.get_ident())
            name = str(told.get("fun_name") or UNNAMED)  # told from 0.6 on
            name = name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name
            self._programs.append(
                Program(name, seconds, "disk cache" if loaded else "compiled", "jax")
            )
            phase = "cache load" if loaded else phase
        self._spans.append((end - seconds, end, phase))

    def compilations(self) -> int:
        """As many as there are programs."""
        return len(self._programs)

    def programs(self) -> tuple[Program, ...]:
        """In the order in which they were made."""
        return tuple(self._programs)

    def looked_at(self) -> tuple[str, ...]:
        """Those that were compiled without having been traced."""
        names = {program.name for program in self._programs}
        found = tuple(sorted((names & self._kept) - self._traced))
        self._kept -= names
        return found

    def phases(self) -> dict[str, float | None]:
        """Each moment counted once: summing the events would count nested ones twice."""
        return {phase: spent for phase, spent in disjoint(self._spans).items() if spent > 0}


def _unregister(listener: Callable[..., None]) -> None:
    public = getattr(jax.monitoring, "unregister_event_duration_listener", None)
    if public is not None:
        public(listener)
    else:  # before 0.8.3
        monitoring._unregister_event_duration_listener_by_callback(listener)


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
    innermost_first = list(_EVENTS.values())
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
