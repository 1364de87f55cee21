"""A strip of calls for each function: as wide as they took, cut into the phases of compilation."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.reports import Segment, Stack
from ipyjaxbench.retracing.traces import COSTLY, TRACED, TracedCall

PHASES = ("trace", "lower", "compile", "cache load")  # a saved notebook has them by the alphabet
_MAX_FUNCTIONS = 8
_MAX_CALLS = 24  # of one function that are drawn one by one


def draw_strip(calls: Sequence[TracedCall]) -> Stack | None:
    """Return a row for each function, in the order of their first calls.

    None where nothing was traced or compiled, or no time is known.
    """
    is_known = any(call.seconds for call in calls)
    if not is_known or not any(call.state in COSTLY for call in calls):
        return None
    functions: dict[tuple[str, str], list[TracedCall]] = {}
    for call in calls:
        functions.setdefault((call.framework, call.name), []).append(call)
    names = Counter(name for _, name in functions)
    longest = sorted(functions, key=lambda key: -_seconds(functions[key]))[:_MAX_FUNCTIONS]
    rows = [
        (name if names[name] == 1 else f"{name} ({framework})", tuple(_segments(own)), _shown(own))
        for (framework, name), own in functions.items()
        if (framework, name) in longest
    ]
    rest = [call for key, own in functions.items() if key not in longest for call in own]
    if rest:
        more = units.count(len(functions) - len(longest), "other function")
        rows.append((more, tuple(_segments(rest)), _shown(rest)))
    return Stack(tuple(rows), alike=True)


def _segments(calls: Sequence[TracedCall]) -> Iterator[Segment]:
    """Yield the parts of calls; of very many, those of several neighbours together."""
    size = math.ceil(len(calls) / _MAX_CALLS)
    for start in range(0, len(calls), size):
        spent: dict[str, float] = {}
        for call in calls[start : start + size]:
            for kind, seconds in _parts(call):
                spent[kind] = spent.get(kind, 0.0) + seconds
        starts = True
        for kind in sorted(spent, key=_position):
            yield Segment(kind, spent[kind], starts)
            starts = False


def _parts(call: TracedCall) -> Iterator[tuple[str, float]]:
    yield from call.phases.items()
    rest = call.seconds - math.fsum(call.phases.values())
    if rest > 0:
        # What took how long is not known: tracing, compiling and running are in it.
        is_unknown = call.state in COSTLY and not call.phases
        yield call.state.lower() if is_unknown else "run", rest


def _position(kind: str) -> int:
    return PHASES.index(kind) if kind in PHASES else len(PHASES)


def _shown(calls: Sequence[TracedCall]) -> str:
    """Return how long calls took, and how many of them were no cache hits."""
    costly = [call for call in calls if call.state in COSTLY]
    verb = "traced" if all(call.state in TRACED for call in costly) else "compiled"
    count = sum(call.times for call in calls)
    return f"{units.duration(_seconds(calls))}, {len(costly):,} of {count:,} {verb}"


def _seconds(calls: Sequence[TracedCall]) -> float:
    return math.fsum(call.seconds for call in calls)
