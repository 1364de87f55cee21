"""Has code traced: the program of its last expression, by the framework whose call that is."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from ipyjaxbench.errors import SnippetError, by_caller
from ipyjaxbench.frameworks import (
    Compilation,
    Framework,
    Reach,
    find_arrays,
    find_compiler,
    find_reach,
    keras_backend,
    loaded,
)
from ipyjaxbench.graphs import notes
from ipyjaxbench.graphs.graph import Graph, contexts_of
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.graphs.rollback import rolled_back, roots_of
from ipyjaxbench.usercode import (
    Call,
    Namespace,
    Source,
    explain_uncalled,
    is_shape,
    package_of,
    read_call,
    read_call_of_shapes,
)

#: Arrays of these are taken by others.
NO_PROGRAMS = ("numpy", "python")
#: Functions that call functions: what is near says more of whose a call is.
_NEAR, _FAR = 2, 6


def trace_program(
    source: Source, names: Namespace, options: GraphOptions, framework: str | None = None
) -> Graph:
    """Run code and return the program of its last expression.

    Args:
        source: the code; what stands before its last expression is run.
        names: the namespace.
        options: which form of the program.
        framework: whose program it is to be; None finds out.

    Returns:
        The graph.

    Raises:
        SnippetError: the call uses no framework that makes programs.
        Exception: what evaluating the arguments, or tracing, raised.
    """
    __tracebackhide__ = True
    frameworks, _ = loaded()

    def is_data(value: object) -> bool:
        return is_shape(value) or any(True for _ in find_arrays(value, frameworks))

    with ExitStack() as stack:

        def on_evaluate(used: Sequence[str]) -> None:
            stack.enter_context(rolled_back({n: names[n] for n in used if n in names}))

        if options.shapes:
            call = read_call_of_shapes(source, names, options.shapes, on_evaluate)
        else:
            call = read_call(source, names, is_data, on_evaluate)
        graph = trace_call(call, options, framework)
    if len(source.tree.body) == 1 or graph.live is None:
        return graph
    return replace(graph, has_setup=True).attach(graph.live, *contexts_of(graph))


def trace_call(call: Call, options: GraphOptions, framework: str | None = None) -> Graph:
    """Return the program of a call; see `trace_program`."""
    __tracebackhide__ = True
    _refuse_built(call)
    keras = keras_backend(call)
    candidates = _rank_frameworks(call, keras)
    for each in candidates:
        if each.name in NO_PROGRAMS or framework not in (None, each.name):
            continue
        with rolled_back(roots_of(call), each) as checkpoint:
            graph = each.capability(GraphTracer).graph(call, options)
        if graph is not None:
            return _attach_rollback(graph, call, each, checkpoint.failed)
    jaxs = by_caller("use %jaxpr --np to see it as JAX's", "write it with jax.numpy")
    why = f"NumPy and Python code has none. Import jax, and {jaxs}"
    if any(each.name not in NO_PROGRAMS for each in candidates):
        why = "it computes no array. Pass a call that does, such as  f(x)"
    if keras is not None:
        why = f"Keras uses the {keras} backend here, and the call has no {keras} arrays: pass some"
    if framework is not None:
        is_loaded = any(each.name == framework for each in loaded()[0])
        why = f"it has no {framework} arrays: pass a call with some, such as  f(x)"
        why = why if is_loaded else f"{framework} is not imported"
    raise SnippetError(f"{call.text!r} has no program: {why}")


def _refuse_built(call: Call) -> None:
    """Raise where the call makes a compiled function, which is not called itself."""
    builders = (
        builder for each in loaded()[0] for builder, _ in each.capability(Compilation).builders
    )
    if any(call.function is builder for builder in builders):
        raise SnippetError(explain_uncalled(call.text))


def _attach_rollback(
    graph: Graph, call: Call, framework: Framework, failed: Sequence[str]
) -> Graph:
    """Return a program that says what looking at it changed for good, and changes no more."""
    live, around, roots = graph.live, contexts_of(graph), roots_of(call)
    if failed:
        note = notes.changed_while_traced([*dict.fromkeys(failed)], put_back=False)
        graph = replace(graph, notes=tuple(dict.fromkeys((*graph.notes, note))))
    if live is None:
        return graph
    return graph.attach(live, *around, partial(rolled_back, roots, framework))


def _rank_frameworks(call: Call, keras: str | None) -> list[Framework]:
    """Return whose call it may be, the likeliest first; Keras's is that of its own framework.

    Those of which nothing is in the call are left out, unless nothing of any is.
    """
    frameworks, _ = loaded()
    if keras is not None:
        return [each for each in frameworks if each.module == keras]
    for depth in (_NEAR, _FAR):
        used = find_reach([call.function], frameworks, depth)
        ranks = {each.name: _rank(each, call, used) for each in frameworks}
        near = [each for each in frameworks if ranks[each.name]]
        if near:
            return sorted(near, key=lambda each: ranks[each.name])
    return frameworks


def _rank(framework: Framework, call: Call, used: Reach) -> int:
    """How near a call is to a framework, 1 for certain; 0 where nothing of it is in the call."""
    if framework.name in NO_PROGRAMS:
        return 0
    arguments = (*call.args, *call.kwargs.values())
    is_compiled = find_compiler(call.function, [framework]) is not None
    if is_compiled or package_of(call.function) == framework.module:
        return 1
    if find_arrays((arguments, call.function), [framework]):
        return 2
    if find_arrays(used.values, [framework]):
        return 3
    named = map(package_of, (*used.functions, *arguments))
    return 4 if framework.module in named else 0
