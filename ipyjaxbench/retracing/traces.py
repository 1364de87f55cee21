"""Whether each call of a compiled function was traced or cached, why, and what it cost."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ipyjaxbench import units
from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.frameworks import DiskMiss, Program
from ipyjaxbench.record_types import NonNegativeFloat, PositiveInt
from ipyjaxbench.reports import Result
from ipyjaxbench.retracing.cache_key import Change, describe_changes

#: State -> what it means.
STATES = {
    "TRACED": "the function was traced and compiled",
    "COMPILED": "already traced, now compiled for the first time",
    "RECOMPILED": "already traced, compiled again",
    "DISK": "traced, and the program loaded from the persistent compilation cache",
    "SLOW-PATH": "cache hit, but through the slower Python dispatch path",
    "CACHED": "cache hit: nothing was traced or compiled",
    "STALE": "cache hit, of a program that was traced with other values than the names have now",
    "BYPASSED": "compilation is turned off: the call ran eagerly",
    "EAGER-FALLBACK": "could not be compiled: this call, and later ones like it, run eagerly",
    "BREAK": "graph break: compiled in several parts, with Python between them",
    "RAISED": "the call raised an exception",
    "WOULD-TRACE": "prediction: the call would be traced (it was not run)",
    "WOULD-COMPILE": "prediction: already traced, the call would be compiled (it was not run)",
    "WOULD-HIT": "prediction: the call would be a cache hit (it was not run)",
    "?": "unknown",
}
#: States in which the function was traced, and those in which an earlier trace was compiled.
TRACED, COMPILED = ("TRACED", "DISK", "BREAK"), ("COMPILED", "RECOMPILED")
#: Parts of a call that are no computing.
_PHASES = ("trace", "lower", "compile", "cache load")
COSTLY = (*TRACED, *COMPILED)


@dataclass(frozen=True)
class TracedCall:
    """One call of a compiled function, or several cache hits in a row.

    Attributes:
        line: line number of the call; 0 if unknown.
        text: source text of the call.
        number: which call of this function it is, counted from 1.
        times: how many calls this row stands for.
        last: number of the last of them; calls of other rows may lie in between.
        state: one of STATES.
        seconds: total time of these calls, including the wait for their results. For calls made by
            other code, such as `map`, the time of tracing and compiling, and 0 for cache hits.
        phases: seconds of that spent in "trace", "lower", "compile" and "cache load".
        why: the differences from the most similar earlier call; empty for a cache hit.
        says: the framework's own explanation, if `why` is empty or differs from it.
        fixes: what to write instead.
        nested: compiled functions that were traced inside this one, with their depth.
        printed: output printed while the function was traced.
        breaks: number of graph breaks.
        disk_misses: programs that a compilation cache on disk did not have, and why.
        unknown: what is not known about the program of a cache hit; empty if nothing.
        full_name: its name with what defines it, as in "make_a.step"; empty if unknown.
        cell: the execution number of the cell that holds the line, if it is another cell; else 0.
    """

    name: str
    framework: str
    line: int
    text: str
    number: int
    times: PositiveInt
    state: str
    seconds: NonNegativeFloat
    phases: Mapping[str, float] = field(default_factory=dict)
    why: tuple[Change, ...] = ()
    says: str = ""
    fixes: tuple[str, ...] = ()
    nested: tuple[tuple[int, str], ...] = ()
    printed: str = ""
    breaks: int = 0
    last: int = 0
    disk_misses: tuple[DiskMiss, ...] = ()
    unknown: str = ""
    full_name: str = ""
    cell: int = 0

    @property
    def stale(self) -> list[Change]:
        """The changes that came after its program was traced, whatever was traced beside it."""
        return [change for change in self.why if change.kind == "stale"]

    @property
    def causes(self) -> Sequence[Change]:
        """Why something was traced or compiled."""
        return [change for change in self.why if change.kind != "stale"] or self.why


@dataclass(frozen=True, repr=False)
class Traces(Result):
    """The calls of compiled functions in some code: traced or cached, why, and at what cost.

    Attributes:
        frameworks: versions of the frameworks that were called.
        calls: the calls, in the order in which they were made.
        internal: programs compiled outside these calls, such as single operations.
        show_internal: whether the report names all of them.
        also_traced: functions that were traced outside of these calls, as by `jax.make_jaxpr`.
        seen: number of calls of functions that are not compiled.
        error: the exception that the code raised, in one line; empty if none.
    """

    kind: ClassVar[str] = "traces"

    code: str
    frameworks: Mapping[str, str]
    calls: tuple[TracedCall, ...]
    internal: tuple[Program, ...] = ()
    show_internal: bool = False
    also_traced: tuple[str, ...] = ()
    seen: int = 0
    error: str = ""

    def _count(self, *states: str) -> int:
        return sum(call.times for call in self.calls if call.state in states)

    @property
    def count(self) -> int:
        """Number of calls of compiled functions."""
        return sum(call.times for call in self.calls)

    @property
    def traces(self) -> int:
        """Number of calls that were traced."""
        return self._count(*TRACED)

    @property
    def first_compilations(self) -> int:
        """Number of calls that compiled an existing trace for the first time."""
        return self._count("COMPILED")

    @property
    def recompilations(self) -> int:
        """Number of calls that compiled an existing trace again."""
        return self._count("RECOMPILED")

    @property
    def compilations(self) -> int:
        """Number of calls that were traced or compiled."""
        return self._count(*COSTLY)

    @property
    def bypassed(self) -> int:
        """Number of calls that ran eagerly because compilation was turned off."""
        return self._count("BYPASSED")

    @property
    def seconds(self) -> float:
        """Total time of all calls, in seconds."""
        return math.fsum(call.seconds for call in self.calls)

    @property
    def compiling(self) -> float:
        """Seconds of that spent tracing, lowering and compiling."""
        return math.fsum(s for call in self.calls for s in call.phases.values())

    def check(self) -> str | None:
        """Return what is wrong with a saved record; None if nothing is."""
        is_known = all(call.state in STATES for call in self.calls)
        return None if is_known else "a call has an unknown state"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each call; times in seconds."""
        return [
            {
                "function": call.name,
                "framework": call.framework,
                "line": call.line,
                "call": call.number,
                "times": call.times,
                "state": "STALE" if call.stale else call.state,
                "took_s": call.seconds,
                **{f"{name.replace(' ', '_')}_s": call.phases.get(name) for name in _PHASES},
                "why": "; ".join(change.words() for change in call.why),
            }
            for call in self.calls
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<Traces: {units.count(self.traces, 'trace')} in {units.count(self.count, 'call')}>"


def number_calls(events: Iterable[TracedCall]) -> tuple[TracedCall, ...]:
    """Return events of a `TraceLog` with their numbers; what compiling took is what they took."""
    numbers = Counter[tuple[str, str]]()
    calls = []
    for event in events:
        key = event.framework, event.full_name or event.name
        numbers[key] += 1
        number, phases = numbers[key], dict(event.phases)
        seconds = sum(phases.values())
        calls.append(replace(event, number=number, seconds=seconds, phases=phases))
    return tell_apart(calls)


def tell_apart(calls: Sequence[TracedCall]) -> tuple[TracedCall, ...]:
    """Return calls in which no two functions have one name: then each has its full one.

    Example:
        >>> call = TracedCall("f", "jax", 1, "f(x)", 1, 1, "CACHED", 0.0)
        >>> both = tell_apart([replace(call, full_name=name) for name in ("a.f", "b.f")])
        >>> [each.name for each in both]
        ['a.f', 'b.f']
    """
    known: dict[tuple[str, str], set[str]] = {}
    for call in calls:
        known.setdefault((call.framework, call.name), set()).add(call.full_name)
    return tuple(
        _with_full_name(call) if len(known[call.framework, call.name]) > 1 else call
        for call in calls
    )


def _with_full_name(call: TracedCall) -> TracedCall:
    name = call.full_name or call.name
    fixes = tuple(each.replace(f"`{call.name}`", f"`{name}`") for each in call.fixes)
    return replace(call, name=name, fixes=fixes)


def too_many_traces(calls: Sequence[TracedCall], most: int) -> TooManyTracesError:
    """Return the error for calls that were traced or compiled more than `most` times, and why."""
    first = calls[min(most, len(calls) - 1)]
    names = dict.fromkeys(f"`{call.name}`" for call in calls)
    verbs = sorted({"compiled" if call.state in COMPILED else "traced" for call in calls})
    subject = f"{', '.join(names)} {'was' if len(names) == 1 else 'were'}"
    of_which = f" for `{first.name}`" if len(names) > 1 else ""
    place = f" in line {first.line}" if first.line else ""
    reasons = describe_changes(first.why) or "unknown"
    return TooManyTracesError(
        f"{subject} {' or '.join(verbs[::-1])} {units.count(len(calls), 'time')}, limit {most:,}."
        f" Reason{of_which}{place}: {reasons}"
    )
