"""What JAX reports of its tracing, lowering and compiling, as it happens."""

import math
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jax
import jax.monitoring
from jax._src import monitoring

from ipyjaxbench.adapters.jax.cache_request import REQUEST, names_of_request
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import UNNAMED, CacheUse, CompilationWatch, DiskMiss, Program
from ipyjaxbench.host import Clock

if TYPE_CHECKING:
    from ipyjaxbench.adapters.jax.disk_cache import FailedSearch, Searches

_CLOCK = Clock.elapsed()
_COMPILE = "/jax/core/compile/backend_compile_duration"
_LOAD = "/jax/compilation_cache/cache_retrieval_time_sec"  # fires for hits only
#: Events of `jax.monitoring`, innermost first: where two overlap the moment belongs to the first.
PHASES = {
    _LOAD: "cache load",
    _COMPILE: "compile",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/jaxpr_trace_duration": "trace",
}
_TURN_ON = 'jax.config.update("jax_compilation_cache_dir", ...)'
_ORIGINS: dict[str, Literal["disk cache"]] = {"cache load": "disk cache"}


class Event(NamedTuple):
    """One interval, in seconds; `name` is "?" where JAX gives none."""

    phase: str
    seconds: float
    end: float
    name: str
    thread: int
    makes_program: bool  # compiled, or loaded from disk
    search: "FailedSearch | None" = None  # for the program in the disk cache
    is_keepable: bool = False  # whether the disk cache would keep it, but is off

    @property
    def disk_miss(self) -> DiskMiss | None:
        """Why the disk cache did not have the program; files are read to find out."""
        return self.search.miss if self.search is not None else None


class Events(CompilationWatch):
    """Listens to `jax.monitoring` while the context is open.

    JAX keeps the traces of `inspected` functions, which ``%jaxpr`` showed; one that is compiled is
    taken out.
    """

    def __init__(self, inspected: set[str] | None = None) -> None:
        self._inspected = set() if inspected is None else inspected
        self.events: list[Event] = []
        self._searches: Searches | None = None  # where there is a disk cache
        self._loading: set[int] = set()  # threads in which a program came from the disk cache
        self._keepable: set[int] = set()  # threads that compile what a cache could hold

    def __enter__(self) -> "Events":
        if jax.config.jax_compilation_cache_dir:
            from ipyjaxbench.adapters.jax.disk_cache import SEARCHES

            self._searches = SEARCHES
            SEARCHES.listen()  # first: an event of a search has ended when it gets here
        else:
            jax.monitoring.register_event_listener(self._on_request)
        jax.monitoring.register_event_duration_secs_listener(self._on_event)
        return self

    def __exit__(self, *_: object) -> None:
        _unregister("event_duration", self._on_event)
        if self._searches is None:
            _unregister("event", self._on_request)

    def _on_request(self, event: str, **_: Any) -> None:
        """Note that this thread compiles something that the cache would be asked for."""
        if event == REQUEST:
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                names = names_of_request(sys._getframe(1))
                if names is not None and not names["host_callbacks"]:  # these are never kept
                    self._keepable.add(threading.get_ident())

    def _on_event(self, event: str, seconds: float, **details: Any) -> None:
        if event not in PHASES:
            return
        # An event is reported when it ends, in every version; spans came later (0.5.3).
        end = _CLOCK.now() * 1e-9
        phase, thread = PHASES[event], threading.get_ident()
        if event == _LOAD:
            self._loading.add(thread)
        if event == _COMPILE and thread in self._loading:
            # It ends after a load from the disk cache too: then nothing was compiled.
            self._loading.discard(thread)
            phase = "cache load"
        name = str(details.get("fun_name") or UNNAMED)  # from 0.6 on
        name = name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name
        searches = self._searches if phase == "compile" else None
        failed = None if searches is None else searches.failed()
        is_end = event == _COMPILE
        is_keepable = is_end and thread in self._keepable
        if is_end:
            self._keepable.discard(thread)
        self.events.append(
            Event(phase, seconds, end, name, thread, is_end, failed, is_keepable=is_keepable)
        )

    def compilations(self) -> int:
        """Count the programs that were compiled or loaded."""
        return sum(event.makes_program for event in self.events)

    def programs(self) -> tuple[Program, ...]:
        """Return them in the order in which they were made."""
        return programs_of(self.events)

    def cache_uses(self) -> tuple[CacheUse, ...]:
        """Return what the persistent cache makes of programs, by its settings and what it wrote."""
        return tuple(cache_uses_of(self.events))

    def inspected(self) -> tuple[str, ...]:
        """Return those that were compiled without having been traced."""
        names = {program.name for program in self.programs()}
        traced = {event.name for event in self.events if event.phase == "trace"}
        untraced = tuple(sorted((names & self._inspected) - traced))
        self._inspected -= names
        return untraced

    def phases(self) -> dict[str, float | None]:
        """Count each moment once: the sum of the events would count nested ones twice."""
        return {**phases_of(self.events)}


def programs_of(events: Sequence[Event]) -> tuple[Program, ...]:
    """Return the programs that were made or loaded in some events."""
    return tuple(
        Program(e.name, e.seconds, _ORIGINS.get(e.phase, "compiled"), "jax", e.disk_miss)
        for e in events
        if e.makes_program
    )


def cache_uses_of(events: Sequence[Event]) -> Iterator[CacheUse]:
    """Yield what the persistent cache makes of the programs that were compiled in some events."""
    least: float = jax.config.jax_persistent_cache_min_compile_time_secs
    entry: int = jax.config.jax_persistent_cache_min_entry_size_bytes
    compiled = [event for event in events if event.phase == "compile"]
    off = [e.seconds for e in compiled if e.is_keepable and e.seconds >= least and entry <= 0]
    if off:
        yield CacheUse("jax", "off", math.fsum(off), _TURN_ON)
    searched = [(e.seconds, e.search.not_kept) for e in compiled if e.search is not None]
    if kept := [seconds for seconds, reason in searched if not reason]:
        yield CacheUse("jax", "kept", math.fsum(kept))
    if lost := [each for each in searched if each[1]]:
        yield CacheUse("jax", "not kept", math.fsum(seconds for seconds, _ in lost), max(lost)[1])


def _unregister(kind: str, listener: Any) -> None:
    public = getattr(jax.monitoring, f"unregister_{kind}_listener", None)  # from 0.8.3 on
    (public or getattr(monitoring, f"_unregister_{kind}_listener_by_callback"))(listener)


def phases_of(events: Sequence[Event]) -> dict[str, float]:
    """Return the seconds of each phase that happened, each moment counted once."""
    spent = disjoint([(event.end - event.seconds, event.end, event.phase) for event in events])
    return {phase: seconds for phase, seconds in spent.items() if seconds > 0}


def disjoint(spans: Sequence[tuple[float, float, str]]) -> dict[str, float]:
    """Return the seconds of each phase; where spans overlap, the innermost has the moment.

    A span is a start, an end and a phase. All phases are in the result, in the order in which they
    happen; their sum is the length of the union.

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
