"""What TensorFlow spends time on until a traced function first runs, by its own marks.

It marks the building of a graph, and XLA's passes. Of Grappler it marks no single pass: what is
between the call of a function and its first operation is Grappler and the placing of operations.
"""

import math
from collections.abc import Iterator, Sequence

from ipyjaxbench.adapters.shared.xplane import HOST, Event, Line
from ipyjaxbench.timing import Interval

_TRACING, _CALLING = "tf.function-graph_building", "EagerLocalExecute: __inference_"
_PREPARED = "EagerKernelExecute"  # what comes before it prepares the function
#: What runs, also of what XLA compiled: compiling is over.
_RUNNING = ("CpuExecutable::ExecuteAsyncOnStream", "GpuExecutable::ExecuteAsyncOnStream",
            "Executable::ExecuteAsyncOnStream", "FunctionRun", "ExecutorState::Process",
            "KernelAndDeviceFunc::Run")  # fmt: skip
_WORDS = {_TRACING: "tracing to a graph"}
_GRAPPLER, _XLA = "Grappler and placement", "XLA: outside of its marks"


def compiling(spans: Sequence[Interval]) -> float:
    """Return the seconds after tracing in which functions were made ready."""
    own = (each for each in spans if each.operation in (_GRAPPLER, _XLA))
    return math.fsum(each.end - each.start for each in own) / 1e9


def read_passes(lines: Sequence[Line]) -> tuple[Interval, ...]:
    """Return the spans of the threads that call functions, up to when these run."""
    on_host = [line for line in lines if line.plane == HOST]
    return tuple(
        span for number, line in enumerate(on_host) for span in _of_thread(line.events, f"{number}")
    )


def _of_thread(events: Sequence[Event], thread: str) -> Iterator[Interval]:
    for call in (each for each in events if each.name == _TRACING):
        yield from _spans([call, *_inside(events, call)], thread)
    for call in (each for each in events if each.name.startswith(_CALLING)):
        inside = _inside(events, call)
        begins = [each.start for each in inside if each.name == _PREPARED]
        ready = min(begins, default=call.end)
        yield Interval(_GRAPPLER, call.start, ready, HOST, thread)
        runs = [each.start for each in inside if each.name in _RUNNING and each.start >= ready]
        end = min(runs, default=ready)
        passes = [each for each in inside if ready < each.start and each.end <= end]
        if passes:
            yield Interval(_XLA, ready, end, HOST, thread)
            yield from _spans(passes, thread)


def _spans(events: Sequence[Event], thread: str) -> Iterator[Interval]:
    for event in events:
        name = _WORDS.get(event.name, event.name)
        yield Interval(name, event.start, event.end, HOST, thread)


def _inside(events: Sequence[Event], outer: Event) -> list[Event]:
    return [
        each
        for each in events
        if each is not outer and outer.start <= each.start and each.end <= outer.end
    ]
