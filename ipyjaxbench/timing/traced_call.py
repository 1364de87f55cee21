"""The timed code as a call that is traced, without making it."""

import ast
from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework, find_arrays, find_compiler, find_reach
from ipyjaxbench.graphs import GraphTracer, rolled_back, roots_of
from ipyjaxbench.usercode import (
    Call,
    Muted,
    OutOfTimeError,
    Snippet,
    Source,
    arguments,
    is_plain,
    is_users_file,
    is_users_function,
    only_value,
    read_call,
    time_limit,
)

_TRACE_SECONDS = 3.0  # for tracing code of the user's
_WAIT_METHOD = "block_until_ready"  # of a JAX array; it computes nothing
T = TypeVar("T")


def ask_tracer(
    framework: Framework,
    snippet: Snippet,
    ask: Callable[[GraphTracer, Call], T | None],
    *,
    exact: bool = False,
    seconds: float = _TRACE_SECONDS,
) -> tuple[Call, T] | None:
    """Return the code as a call, and what is asked of its tracer; None where that fails.

    To trace a function of the user's is one more run of its Python code: with ``exact``, where the
    calls were numbered, there is none. It is given up after some ``seconds``.
    """
    source = _as_expression(snippet)
    if source is None:
        return None

    def is_data(value: object) -> bool:
        return bool(find_arrays(value, [framework]))

    tracer = framework.capability(GraphTracer)
    tracer.load()
    try:
        with Muted(), time_limit(seconds, is_users_file):
            call = read_call(source, snippet.names, is_data)
            if exact and _runs_python(call, framework):
                return None
            with rolled_back(roots_of(call), framework):
                answer = ask(tracer, call)
    # The code was timed, and need not be one that can be traced; nor does the figure depend on it.
    except (*CODE_ERRORS, OutOfTimeError):
        return None
    return None if answer is None else (call, answer)


def _runs_python(call: Call, framework: Framework) -> bool:
    """Whether Python code of the user's runs in a call; what was compiled before is its own."""
    if find_compiler(call.function, [framework]):
        return False
    values = (call.function, *call.args, *call.kwargs.values())
    reached = find_reach(values, [framework]).functions
    # What is no plain function may be of a class of the user's.
    return any(type(each) is not FunctionType or is_users_function(each) for each in reached)


def _as_expression(snippet: Snippet) -> Source | None:
    """Return the code as one expression whose parts can be had without running user code."""
    node = only_value(snippet.statements)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value if node.func.attr == _WAIT_METHOD and not node.args else node
    if node is None or (isinstance(node, ast.Call) and not all(map(is_plain, arguments(node)))):
        return None
    return snippet.as_expression(node)
