"""Finds whose program a call is, and has it traced."""

from ipyjaxbench import expression
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks import Framework, asked, find_arrays, loaded, package_of
from ipyjaxbench.graph import Graph
from ipyjaxbench.options import GraphOptions
from ipyjaxbench.snippet import Namespace, Source

#: Arrays of these are taken by others, so they are asked last.
_LAST = ("numpy", "python")


def inspect_code(source: Source, names: Namespace, options: GraphOptions) -> Graph:
    """Show the program of the last expression of some code.

    Args:
        source: the code; what stands before its last expression is run.
        names: the namespace.
        options: which form of the program.

    Returns:
        The graph.

    Raises:
        SnippetError: no framework that makes programs is in play.
        Exception: what evaluating the arguments, or tracing, raised.
    """
    __tracebackhide__ = True
    frameworks, _ = loaded()

    def is_data(value: object) -> bool:
        return any(True for _ in find_arrays(value, frameworks))

    call = expression.read(source, names, is_data)
    return inspect_call(call, options)


def inspect_call(call: Call, options: GraphOptions) -> Graph:
    """Show the program of a call; see `inspect_code`."""
    __tracebackhide__ = True
    for framework in _in_play(call):
        found = framework.graph(call, options)
        if found is not None:
            return found
    raise SnippetError(
        f"{call.text!r} makes no program: it uses neither JAX nor anything that JAX can trace;"
        " import jax first"
    )


def _in_play(call: Call) -> list[Framework]:
    """Whose call it may be, the likeliest first."""
    frameworks, _ = loaded()
    given = (call.args, dict(call.kwargs))
    owners = {found.framework.name for found in find_arrays(given, frameworks)}
    root = package_of(call.function)

    def rank(framework: Framework) -> int:
        if asked(framework.compiles, call.function) or framework.module == root:
            return 0
        if framework.name in owners and framework.name not in _LAST:
            return 1
        return 2 if framework.name not in _LAST else 3

    return sorted(frameworks, key=rank)
