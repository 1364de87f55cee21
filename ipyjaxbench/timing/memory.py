"""The most memory that a call needs, seen in calls apart from the samples."""

from collections.abc import Callable, Sequence

from ipyjaxbench import units
from ipyjaxbench.device import MemoryMeter, MemoryPeak, ResidentCurve
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework, Scope
from ipyjaxbench.timing.known_calls import only_call
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.usercode import Namespace, describe_error

_NO_FILE = "this system tells nothing of a process's memory"


def measure_memory(
    calls: Calls,
    scope: Scope,
    frameworks: Sequence[Framework],
    typical: float,
    budget: float,
    *,
    ended_early: bool,
) -> tuple[MemoryPeak, ...]:
    """Return the peak of each framework in play; whatever more calls raise ends these alone.

    Args:
        calls: makes them.
        scope: of the code.
        frameworks: those in play.
        typical: nanoseconds that a call takes.
        budget: seconds that one call may take.
        ended_early: whether the measurement ended early; then no more calls are made.
    """
    __tracebackhide__ = True
    planned = _plan(scope, frameworks)
    if planned is not None:
        return (planned,)
    refused = _refuse(calls, typical, budget, ended_early=ended_early)
    if refused:
        return (_unknown(refused),)
    try:
        return tuple(_measure(calls, scope, frameworks))
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        return (_unknown("interrupted"),)
    except CODE_ERRORS as error:  # whatever the user's code raises
        return (_unknown(f"a call raised {describe_error(error)}"),)


def _plan(scope: Scope, frameworks: Sequence[Framework]) -> MemoryPeak | None:
    """Return the compiler's plan, where the code is one call of what it compiled."""
    call = only_call(scope, frameworks)
    if call is None:
        return None
    try:
        meter = call.compiler.framework.capability(MemoryMeter)
        plan: MemoryPeak | None = meter.plan(call.function, *call.arguments())
        return plan
    # Whatever a framework raises for a function or a value that is none of its own.
    except CODE_ERRORS:
        return None


def _refuse(calls: Calls, typical: float, budget: float, *, ended_early: bool) -> str:
    """Return why no more calls are made, in words; empty where they are."""
    if ended_early:
        return "the measurement ended early"
    if typical > budget * 1e9:
        return f"another call would exceed the time budget of {units.duration(budget, 2)}"
    return "what runs before each call would be counted too" if calls.is_prepared else ""


def _measure(calls: Calls, scope: Scope, frameworks: Sequence[Framework]) -> list[MemoryPeak]:
    """Have each framework count; where none does, look at the process."""
    __tracebackhide__ = True
    names, binds = scope.snippet.names, scope.snippet.binds

    def call() -> object:
        __tracebackhide__ = True
        replaced = _values(names, binds)  # else they would be given back by the call
        return calls.again(), replaced

    found: list[MemoryPeak] = []
    for framework in frameworks:
        found += framework.capability(MemoryMeter).measure(call) or ()
    if not found:
        found += [_watch_process(call)]
    return [each.in_code(scope.snippet.text) for each in found]


def _values(names: Namespace, binds: Sequence[str]) -> list[object]:
    return [names[name] for name in binds if name in names]


def _watch_process(call: Callable[[], object]) -> MemoryPeak:
    """Return how the process's resident memory rose in one more call."""
    __tracebackhide__ = True
    with ResidentCurve() as curve:
        value = call()
    del value
    return curve.peak() or MemoryPeak("", "", "process", reason=_NO_FILE)


def _unknown(reason: str) -> MemoryPeak:
    return MemoryPeak("", "", "process", reason=reason)
