"""Finds whose program a call is, and has it traced."""

import ast
import inspect
import linecache
from collections.abc import Iterator
from types import FrameType, TracebackType

from ipyjaxbench import expression
from ipyjaxbench.diagnosis import Diagnosis, Fix, UntraceableError
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks import Framework, asked, find_arrays, loaded, package_of
from ipyjaxbench.graph import Graph
from ipyjaxbench.options import GraphOptions
from ipyjaxbench.snippet import Namespace, Source, restored

#: Arrays of these are taken by others, so they are asked last.
_LAST = ("numpy", "python")


def inspect_code(
    source: Source, names: Namespace, options: GraphOptions, framework: str | None = None
) -> Graph:
    """Show the program of the last expression of some code.

    Args:
        source: the code; what stands before its last expression is run.
        names: the namespace.
        options: which form of the program.
        framework: whose program it is to be; None finds out.

    Returns:
        The graph.

    Raises:
        SnippetError: no framework that makes programs is in play.
        Exception: what evaluating the arguments, or tracing, raised.
    """
    __tracebackhide__ = True
    frameworks, _ = loaded()

    def is_data(value: object) -> bool:
        kind = type(value)
        stands_for_one = all(inspect.getattr_static(kind, n, None) for n in ("shape", "dtype"))
        return stands_for_one or any(True for _ in find_arrays(value, frameworks))

    if options.shapes:
        call = expression.of_shapes(source, names, options.shapes)
    else:
        call = expression.read(source, names, is_data)
    return inspect_call(call, options, framework)


def inspect_call(call: Call, options: GraphOptions, framework: str | None = None) -> Graph:
    """Show the program of a call; see `inspect_code`."""
    __tracebackhide__ = True
    for each in _in_play(call):
        found = each.graph(call, options) if framework in (None, each.name) else None
        if found is not None:
            return found
    why = "NumPy and Python have none; import jax, and JAX traces it"
    if framework is not None:
        why = f"it holds no arrays of {framework}, or {framework} is not loaded"
    raise SnippetError(f"{call.text!r} makes no program: {why}")


def explain(error: BaseException, names: Namespace | None = None) -> Diagnosis:
    """Say why code that failed would not trace.

    Args:
        error: what it raised, with its traceback.
        names: the namespace in which the failed statement is looked at again; None takes that in
            which it ran. Its arguments are evaluated once more.

    Returns:
        The diagnosis.

    Raises:
        SnippetError: the error has nothing to do with tracing, or its code is gone.

    Example:
        >>> # try: step(x)
        >>> # except Exception as error: print(explain(error))
    """
    __tracebackhide__ = True
    if isinstance(error, UntraceableError):
        return error.diagnosis
    for frame, line in _frames(error.__traceback__):
        space = {**frame.f_globals, **frame.f_locals} if names is None else names
        for source in _calls_on(frame.f_code.co_filename, line):
            found = _explained(error, source, space, line)
            if found is not None:
                return found
    raise SnippetError(
        f"{type(error).__name__} does not come from tracing, as far as can be seen: %tb shows"
        " where it was raised"
    )


def _static(code: str, error: BaseException, line: int, names: tuple[str, ...]) -> Diagnosis:
    """What traces as soon as some arguments are static."""
    typed = names[0] if len(names) == 1 else names
    return Diagnosis(
        code=code,
        error=type(error).__name__,
        message=(str(error).strip().splitlines() or [""])[0],
        line=line,
        source=code,
        because="the program depends on the value of an argument, which jit hides",
        blamed=names,
        fixes=(Fix(f"jax.jit(f, static_argnames={typed!r})", "one compilation for each value"),),
    )


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """Frames from the outermost to the innermost, with their lines."""
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _explained(
    error: BaseException, source: Source, names: Namespace, line: int
) -> Diagnosis | None:
    """Why a call raises this error; None where it does not, or for no reason that is known."""
    __tracebackhide__ = True
    try:
        with restored(names):
            found = inspect_code(source, names, GraphOptions())
    except UntraceableError as failed:
        known = failed.diagnosis.fixes or failed.diagnosis.advice
        return failed.diagnosis if known and type(failed.error) is type(error) else None
    except Exception:  # noqa: BLE001  a call whose arguments fail is not the one
        return None
    return (
        _static(source.text, error, line, found.static_argnames) if found.static_argnames else None
    )


def _calls_on(filename: str, line: int) -> Iterator[Source]:
    """The expression in the statement on a line, then the calls in it, from the outermost on."""
    text = "".join(linecache.getlines(filename))
    try:
        tree = ast.parse(text, filename)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Expr | ast.Assign | ast.Return) or node.value is None:
            continue
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            calls = [each for each in ast.walk(node.value) if isinstance(each, ast.Call)]
            for value in dict.fromkeys([node.value, *calls]):
                shown = ast.get_source_segment(text, value) or ""
                alone = ast.copy_location(ast.Expr(value), node)
                yield Source(ast.Module([alone], []), shown, filename)
            return


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
