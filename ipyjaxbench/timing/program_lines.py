"""Of which of the user's lines the program is that took long to compile."""

from collections.abc import Sequence
from dataclasses import replace

from ipyjaxbench.frameworks import Framework
from ipyjaxbench.graphs import Count, GraphOptions, GraphTracer
from ipyjaxbench.timing.compile_passes import CompilePasses, LineShare
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.traced_call import ask_tracer
from ipyjaxbench.usercode import Call, Snippet

_MAX_KEPT = 30  # lines
_LEAST_SECONDS = 10.0  # tracing takes as long as in the cold call, and is waited for


def add_lines(
    snippet: Snippet, measured: Measurement, frameworks: Sequence[Framework]
) -> Measurement:
    """Add the lines of the programs that were compiled in a cold call, where they are known.

    The code is traced once more for it, and not run.
    """
    cold = measured.fresh
    if cold is None or not cold.passes:
        return measured
    by_name = {framework.name: framework for framework in frameworks}
    seconds = _LEAST_SECONDS + 2 * (cold.seconds or 0.0)
    passes = tuple(_add(snippet, each, by_name[each.framework], seconds) for each in cold.passes)
    return replace(measured, fresh=replace(cold, passes=passes))


def _add(
    snippet: Snippet, passes: CompilePasses, framework: Framework, seconds: float
) -> CompilePasses:
    found = ask_tracer(framework, snippet, _lines, seconds=seconds)
    if found is None:
        return passes
    ranked = sorted(found[1], key=lambda count: -count.times)
    lines = tuple(LineShare(each.line, each.name, each.times) for each in ranked[:_MAX_KEPT])
    return replace(passes, lines=lines, operations=sum(count.times for count in ranked))


def _lines(tracer: GraphTracer, call: Call) -> tuple[Count, ...] | None:
    graph = tracer.graph(call, GraphOptions())
    return graph.lines if graph is not None and graph.lines else None
