"""What in compiling takes long: the passes of a compiler, and the lines that the program is of.

Pure arithmetic on spans. A pass's own time is without that of passes inside of it, so that own
times add up to the time that compiling took.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt
from ipyjaxbench.timing.device_time import Interval, own_times, sum_by_name

MAX_SHOWN = 8  # passes, parts or lines in a report
_MAX_KEPT = 30
_LEAST_SHARE = 0.02  # of all: a part of a part is told from there on
_COVERED = 0.5  # of a part: then it is what is in it


@dataclass(frozen=True)
class Pass:
    """All runs of one pass of a compiler."""

    name: str  # as the framework gives it
    times: PositiveInt  # how often it ran
    seconds: NonNegativeFloat  # its own time, without that of passes inside of it


@dataclass(frozen=True)
class Part:
    """A stretch of the compilation, for the time axis."""

    name: str
    start: NonNegativeFloat  # seconds since the call began
    seconds: NonNegativeFloat


@dataclass(frozen=True)
class LineShare:
    """A line of the user's code, and how much of the program is of it."""

    line: int
    text: str
    operations: PositiveInt  # of the program as written, with those of loops once


@dataclass(frozen=True)
class CompilePasses:
    """What the cold call spent on compiling, as one framework marks it.

    Attributes:
        framework: whose compiler.
        passes: with their own times, the longest first.
        rest: seconds of passes that are not among these.
        parts: stretches in the order in which they happened.
        lines: of the user's code, those with most operations first.
        operations: of the whole program.
        compiling: seconds of the phase "compile", where these marks alone tell them.
        reason: why there are no passes, in words; empty where there are.
    """

    framework: str
    passes: tuple[Pass, ...] = ()
    rest: NonNegativeFloat = 0.0
    parts: tuple[Part, ...] = ()
    lines: tuple[LineShare, ...] = ()
    operations: NonNegativeInt = 0
    compiling: NonNegativeFloat | None = None
    reason: str = ""

    @property
    def seconds(self) -> float:
        """Seconds of all passes."""
        return math.fsum(each.seconds for each in self.passes) + self.rest


def sum_passes(framework: str, spans: Sequence[Interval], begin: float) -> CompilePasses:
    """Sum up spans of the threads that compile.

    Args:
        framework: whose they are.
        spans: of passes, some inside of others; a `line` is a thread.
        begin: when the call began, in nanoseconds on the clock of the spans.

    Example:
        >>> spans = [Interval("all", 0, 1e9, "", "t"), Interval("fuse", 0, 6e8, "", "t")]
        >>> [(each.name, round(each.seconds, 3)) for each in sum_passes("jax", spans, 0).passes]
        [('fuse', 0.6), ('all', 0.4)]
    """
    if not spans:
        return CompilePasses(framework, reason="nothing was compiled under the profiler")
    summed = sum_by_name(own_times(spans), together=False)
    passes = tuple(Pass(each.name, each.count, each.seconds) for each in summed if each.seconds > 0)
    parts = [
        Part(each.operation, max(each.start - begin, 0) / 1e9, (each.end - each.start) / 1e9)
        for each in _unfold(spans)
    ]
    rest = math.fsum(each.seconds for each in passes[_MAX_KEPT:])
    return CompilePasses(framework, passes[:_MAX_KEPT], max(rest, 0.0), tuple(parts))


def _unfold(spans: Sequence[Interval]) -> list[Interval]:
    """Return the longest stretches, in order: the longest is replaced by what is in it."""
    ordered = sorted(spans, key=lambda each: (each.start, -each.end))
    parts = [*_outermost(ordered, range(len(ordered)))]
    least = _LEAST_SHARE * math.fsum(_length(ordered[at]) for at in parts)
    whole: list[int] = []  # of which nothing more is known
    while parts and len(parts) + len(whole) < MAX_SHOWN:
        longest = max(parts, key=lambda at: _length(ordered[at]))
        parts.remove(longest)
        inside = [*_outermost(ordered, _inside(ordered, longest))]
        known = [at for at in inside if _length(ordered[at]) >= least]
        covered = math.fsum(_length(ordered[at]) for at in inside)
        if known and covered >= _COVERED * _length(ordered[longest]):
            parts += known
        else:
            whole.append(longest)
    shown = sorted((*parts, *whole), key=lambda at: -_length(ordered[at]))[:MAX_SHOWN]
    return [ordered[at] for at in sorted(shown)]


def _length(span: Interval) -> float:
    return span.end - span.start


def _inside(ordered: Sequence[Interval], outer: int) -> Iterator[int]:
    """Yield the places of spans inside of another one; of equal ones the later is inside."""
    own = ordered[outer]
    for at in range(outer + 1, len(ordered)):
        if ordered[at].start >= own.end:
            return
        if ordered[at].line == own.line and ordered[at].end <= own.end:
            yield at


def _outermost(ordered: Sequence[Interval], places: Iterable[int]) -> Iterator[int]:
    """Yield the places of spans that are not inside of others of their thread."""
    reached: dict[str, float] = {}
    for at in places:
        span = ordered[at]
        if span.start >= reached.get(span.line, -math.inf):
            reached[span.line] = span.end
            yield at
