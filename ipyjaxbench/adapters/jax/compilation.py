"""What JAX traced, lowered and compiled in some code."""

from collections.abc import Sequence

from ipyjaxbench.adapters.jax.compile_events import PHASES, Event, Events
from ipyjaxbench.frameworks.compilation import Watch
from ipyjaxbench.timing.first_call import Program


class JaxWatch(Watch):
    """Intervals of tracing, lowering and compiling, as `jax.monitoring` reports them.

    Args:
        kept: functions whose traces JAX keeps because they were looked at; one that is compiled
            is taken out.
    """

    def __init__(self, kept: set[str] | None = None) -> None:
        self._kept = set() if kept is None else kept
        self._events = Events()

    def __enter__(self) -> "JaxWatch":
        self._events.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._events.__exit__(*error)

    def compilations(self) -> int:
        """As many as there are programs."""
        return sum(event.program for event in self._events.heard)

    def programs(self) -> tuple[Program, ...]:
        """In the order in which they were made."""
        return programs_of(self._events.heard)

    def looked_at(self) -> tuple[str, ...]:
        """Those that were compiled without having been traced."""
        names = {program.name for program in self.programs()}
        traced = {event.name for event in self._events.heard if event.phase == "trace"}
        found = tuple(sorted((names & self._kept) - traced))
        self._kept -= names
        return found

    def phases(self) -> dict[str, float | None]:
        """Each moment counted once: summing the events would count nested ones twice."""
        return {**phases_of(self._events.heard)}


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
