"""What became of each call of a compiled function: traced or cached, why, at what cost."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ipyjaxbench import units
from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.frameworks import Program
from ipyjaxbench.record_types import NonNegativeFloat, PositiveInt
from ipyjaxbench.reports import Result
from ipyjaxbench.retracing.cache_key import Change

#: State -> what it means.
STATES = {
    "TRACED": "the function ran to be traced, and was compiled",
    "COMPILED": "the trace was there, and was compiled for the first time",
    "RECOMPILED": "the trace was there, and was compiled again",
    "DISK": "traced, and the program was loaded from the disk cache",
    "SLOW-PATH": "nothing was compiled, but the call took the long way through Python",
    "CACHED": "the program was there",
    "BYPASSED": "compiling is turned off: the call ran eagerly",
    "EAGER-FALLBACK": "given up: this call and all later ones run uncompiled",
    "BREAK": "compiled in parts, with Python in between",
    "RAISED": "the call raised",
    "WOULD-TRACE": "the call would be traced; it was not made",
    "WOULD-HIT": "the call would find its trace; it was not made",
    "?": "not known",
}
#: States in which something was traced or compiled.
COSTLY = ("TRACED", "COMPILED", "RECOMPILED", "DISK", "BREAK")


@dataclass(frozen=True)
class TracedCall:
    """One call of a compiled function, or several in a row that found their program.

    Attributes:
        line: where the call stands; 0 where that is not known.
        text: the call, as typed.
        number: which call of this function it is, from 1 on.
        times: how many calls this stands for.
        last: which call the last one of them is; others may lie between them.
        state: one of STATES.
        seconds: that all of them took, waited for.
        phases: parts of that, in seconds: "trace", "lower", "compile", "cache load".
        why: in what it differs from the nearest earlier call; empty where it was cached.
        says: the framework's own reason, where ours is not known or another one.
        fixes: what to write instead.
        nested: compiled functions that were traced inside of this one, with their depth.
        printed: while it was traced.
        breaks: graphs that it was compiled into, less one.
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


@dataclass(frozen=True, repr=False)
class Traces(Result):
    """What became of each call of a compiled function in some code.

    Attributes:
        frameworks: versions of those in play.
        calls: in the order in which they were made.
        internal: programs that were compiled outside of these calls, such as single operations.
        show_internal: whether those are listed.
        seen: calls of other functions that were looked through.
        error: what the code raised, in one line; empty where nothing.
    """

    kind: ClassVar[str] = "traces"

    code: str
    frameworks: Mapping[str, str]
    calls: tuple[TracedCall, ...]
    internal: tuple[Program, ...] = ()
    show_internal: bool = False
    seen: int = 0
    error: str = ""

    def _count(self, *states: str) -> int:
        return sum(call.times for call in self.calls if call.state in states)

    @property
    def count(self) -> int:
        """How many calls of compiled functions there were."""
        return sum(call.times for call in self.calls)

    @property
    def traces(self) -> int:
        """In how many of them something was traced."""
        return self._count("TRACED", "DISK", "BREAK")

    @property
    def first_compilations(self) -> int:
        """In how many of them a trace that was there was compiled for the first time."""
        return self._count("COMPILED")

    @property
    def recompilations(self) -> int:
        """In how many of them a trace was compiled again."""
        return self._count("RECOMPILED")

    @property
    def compilations(self) -> int:
        """In how many of them something was traced or compiled."""
        return self._count(*COSTLY)

    @property
    def seconds(self) -> float:
        """What all calls took."""
        return math.fsum(call.seconds for call in self.calls)

    @property
    def compiling(self) -> float:
        """Seconds among those that were tracing, lowering and compiling."""
        return math.fsum(s for call in self.calls for s in call.phases.values())

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        is_known = all(call.state in STATES for call in self.calls)
        return None if is_known else "a state is not known"

    def __repr__(self) -> str:
        """One line."""
        return f"<Traces {self.traces} traces in {self.count} calls>"


def number_calls(events: Iterable[TracedCall]) -> tuple[TracedCall, ...]:
    """Return events of a `TraceLog` with their numbers; what compiling took is what they took."""
    numbers = Counter[tuple[str, str]]()
    calls = []
    for event in events:
        key = event.framework, event.name
        numbers[key] += 1
        number, phases = numbers[key], dict(event.phases)
        seconds = sum(phases.values())
        calls.append(replace(event, number=number, seconds=seconds, phases=phases))
    return tuple(calls)


def too_many_traces(calls: Sequence[TracedCall], most: int) -> TooManyTracesError:
    """Return the error that says which calls were more than `most`, and why."""
    first = calls[0]
    reasons = "; ".join(change.words() for change in first.why) or "the reason is not known"
    where = f" in line {first.line}" if first.line else ""
    more = f" and {len(calls) - 1} more" if len(calls) > 1 else ""
    return TooManyTracesError(
        f"{first.name}{where} was {first.state.lower()} ({reasons}){more}, and"
        f" {units.count(most, 'trace')} may happen"
    )
