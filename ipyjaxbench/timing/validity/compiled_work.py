"""What the code builds, what it only names, and what its compiled functions really compute."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, repeat
from typing import NamedTuple

from ipyjaxbench import stats
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Compilation, Framework, Scope, Work, find_compiler
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.known_calls import find_known_calls, is_literal
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode import (
    Snippet,
    Source,
    arguments,
    is_plain,
    is_users_function,
    look_up,
    named_around,
    nodes_in_scope,
)

_COST_READINGS, _BUILDS_PER_READING = 5, 10
_MAX_PROGRAMS = 4
#: A share of the operations as written that must be missing, and how many there must be at all.
_MISSING_SHARE, _MIN_MISSING_FLOP = 0.5, 1e5
_LARGE_CONSTANT_BYTES = 2**16
#: FLOP/s that no single core of a CPU reaches: only from here on is the device asked.
_SUSPICIOUS_FLOPS = 1e11
_IMPOSSIBLE_RATIO = 3.0


class Builder(NamedTuple):
    """A call that makes a function of a function."""

    name: str  # what is called, as typed
    node: ast.Call | None  # the call; None where it is a decorator or a partial
    wrapper: str  # what would compile the result, or "" where the call does so itself


def find_builder(scope: Scope, frameworks: Sequence[Framework]) -> Builder | None:
    """Return the outermost `jax.jit`, `torch.compile` or `tf.function` that is called."""
    for node in nodes_in_scope(scope.snippet.statements):
        if isinstance(node, ast.Call):
            if found := _builder_of(node, scope, frameworks):
                partly = look_up(node.func, scope.read_values) is partial
                return Builder(found[0], None if partly else node, found[1])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if found := _builder_of(decorator, scope, frameworks):
                    return Builder(found[0], None, found[1])
    return None


def _builder_of(
    node: ast.expr, scope: Scope, frameworks: Sequence[Framework]
) -> tuple[str, str] | None:
    """Return what ``jit``, ``jit(f)`` or ``partial(jit, ...)`` builds with."""
    if not isinstance(node, ast.Call):
        return _builder(node, scope, frameworks)
    if look_up(node.func, scope.read_values) is partial and node.args:
        return _builder(node.args[0], scope, frameworks)
    return _builder(node.func, scope, frameworks)


def _builder(
    node: ast.expr, scope: Scope, frameworks: Sequence[Framework]
) -> tuple[str, str] | None:
    value = look_up(node, scope.read_values)
    for framework in frameworks:
        for function, wrapper in framework.capability(Compilation).builders:
            if value is function:
                return ast.unparse(node), wrapper
    return None


def find_reused(scope: Scope, frameworks: Sequence[Framework]) -> list[str] | None:
    """Return names of compiled functions that the code can reach, unless it builds some itself.

    It is empty where it does; None where neither is known, or none of them has a name.
    """
    compilers = [each.capability(Compilation) for each in frameworks]
    builders = {id(f) for each in compilers for f, wrapper in each.builders if not wrapper}
    own = [f for f in scope.functions if is_users_function(f)]
    if any(id(named) in builders for function in own for named in named_around(function)):
        return []
    compiled = {*map(id, scope.compiled)}
    names = {**scope.read_values, **scope.captured, **scope.snippet.names}
    return [name for name, value in names.items() if id(value) in compiled] or None


def note_on_builder(builder: Builder, snippet: Snippet, clock: Clock, latency: float) -> Note:
    """Note what building it in every call costs, and what to write instead."""
    advice, seconds = "create it once, outside, and time its call", None
    if builder.node:
        built = ast.unparse(builder.node)
        made = f"{builder.wrapper}({built})" if builder.wrapper else built
        advice = f"run  g = {made}  once, outside, and time  g(...)"
        if all(map(_is_free, arguments(builder.node))):
            seconds = _cost_of(builder.node, snippet, clock)
    return notes.built_each_call(builder.name, seconds, latency, advice)


def _cost_of(node: ast.Call, snippet: Snippet, clock: Clock) -> float | None:
    """Return the seconds that making the function takes; it is made some times, not called."""
    try:
        loop = Snippet(Source.plain(ast.unparse(node)), dict(snippet.names)).loop()
        builds = [repeat(None, _BUILDS_PER_READING) for _ in range(_COST_READINGS)]
        taken = [loop(each, clock.now, id, ()) for each in builds]
    # A name in it may be gone by now: then its cost is not told.
    except CODE_ERRORS:
        return None
    return stats.median(taken) / _BUILDS_PER_READING * 1e-9


def _is_free(node: ast.expr) -> bool:
    """Whether evaluating it runs no code of the user's."""
    return is_plain(node) or isinstance(node, ast.Lambda) or is_literal(node)


def find_uncalled(scope: Scope, frameworks: Sequence[Framework]) -> Note | None:
    """Note code that is nothing but the name of a function, or makes one and does not call it."""
    match scope.snippet.statements:
        case [ast.Expr(node)]:
            pass
        case _:
            return None
    if isinstance(node, ast.Lambda):
        typed = ast.unparse(node)
        call = f"({typed})(...)" if ast.unparse(node.args) else ast.unparse(node.body)
        return notes.not_called(typed, call=call, made=True)
    if isinstance(node, ast.Call):
        partly = look_up(node.func, scope.read_values) is partial
        if partly or _builder(node.func, scope, frameworks):
            return notes.not_called(ast.unparse(node), made=True)
    if isinstance(node, ast.Name | ast.Attribute):
        value = look_up(node, scope.read_values)
        if _can_be_called(value, frameworks):
            return notes.not_called(ast.unparse(node))
    return None


def _can_be_called(value: object, frameworks: Sequence[Framework]) -> bool:
    if issubclass(type(value), type):
        return False
    known = issubclass(type(value), (staticmethod, classmethod)) or callable(value)
    return known or find_compiler(value, frameworks) is not None


class CompiledCall(NamedTuple):
    """A call of a compiled function whose arguments are known."""

    name: str
    work: Work


def compiled_calls(scope: Scope, frameworks: Sequence[Framework]) -> Iterator[CompiledCall]:
    """Return the work of each call of a compiled function that every run makes once."""
    for call in islice(find_known_calls(scope, frameworks), _MAX_PROGRAMS):
        try:
            work = call.compiler.work(call.function, *call.arguments())
        # Whatever a framework raises for a function or a value that is none of its own.
        except CODE_ERRORS:
            continue
        if work is not None:
            yield CompiledCall(call.name, work)


def check_work(all_called: Iterable[CompiledCall], seconds: float) -> Iterator[Note]:
    """Note what the compiled programs that each run calls leave out of what was written."""
    called, explained = list(all_called), False
    for name, work in called:
        missing = work.compiled < _MISSING_SHARE * work.written
        if missing and work.unused >= max(_MISSING_SHARE * work.written, _MIN_MISSING_FLOP):
            yield notes.work_removed(name, work.written, work.compiled)
            explained = True
        elif (
            missing
            and work.constant >= max(_MISSING_SHARE * work.written, _MIN_MISSING_FLOP)
            and work.constant_bytes >= _LARGE_CONSTANT_BYTES
        ):
            yield notes.constant_folded(name, work.constant_bytes, work.written, work.compiled)
            explained = True
    flops = sum(each.work.flops for each in called)
    if explained or not seconds or flops < _SUSPICIOUS_FLOPS * seconds:
        return
    peaks = [each.work.peak() for each in called]
    known = [peak for peak in peaks if peak]
    if len(known) == len(peaks) and flops > _IMPOSSIBLE_RATIO * max(known) * seconds:
        yield notes.impossible_speed(flops, flops / seconds, max(known))
