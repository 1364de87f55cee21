"""Calls of compiled functions that every run makes once, with what their arguments were."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import Compilation, Framework, Scope, find_compiler
from ipyjaxbench.usercode import (
    Snippet,
    attributes,
    is_plain,
    look_up,
    look_up_called,
    nodes_in_scope,
    root_name,
)

Arguments = tuple[list[object], dict[str, object]]
_WAITS = ("block_until_ready",)


class KnownCall(NamedTuple):
    """A call of a compiled function in the code.

    Attributes:
        node: the call.
        function: that is called.
        compiler: what the framework that compiles it knows of it.
        scope: of the code.
    """

    node: ast.Call
    function: Any
    compiler: Compilation
    scope: Scope

    @property
    def name(self) -> str:
        """What is called, as typed."""
        return ast.unparse(self.node.func)

    def arguments(self) -> Arguments:
        """Return what the arguments were in the first call.

        Raises:
            LookupError: they are not names, attributes or constants; nothing is evaluated.
        """
        return _arguments(self.node, self.scope)


def find_calls(scope: Scope) -> Iterator[tuple[Any, Arguments | None]]:
    """Yield what each run calls once, with its arguments in the first call; nothing is evaluated.

    Of arguments other than names, attributes and constants nothing is known: None.
    """
    for node in _always_run(scope.snippet):
        function = look_up_called(node.func, scope.read_values)
        if function is not None:
            try:
                yield function, _arguments(node, scope)
            except LookupError:
                yield function, None


def find_known_calls(scope: Scope, frameworks: Sequence[Framework]) -> Iterator[KnownCall]:
    """Yield the calls of compiled functions, outside of what may skip or repeat them."""
    for node in _always_run(scope.snippet):
        function = look_up(node.func, scope.read_values)
        compiler = find_compiler(function, frameworks)
        if compiler is not None:
            yield KnownCall(node, function, compiler, scope)


def only_call(scope: Scope, frameworks: Sequence[Framework]) -> KnownCall | None:
    """Return the call that the code consists of, beside waiting for it; None if it does more."""
    known = [*find_known_calls(scope, frameworks)]
    nodes = [*nodes_in_scope(scope.snippet.statements)]
    does_more = any(isinstance(n, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript
                               | ast.AugAssign) for n in nodes)  # fmt: skip
    calls = [node for node in nodes if isinstance(node, ast.Call) and not _is_wait(node)]
    if len(known) != 1 or len(calls) != 1 or len(scope.snippet.statements) != 1 or does_more:
        return None
    return known[0]


def is_literal(node: ast.expr) -> bool:
    """Whether a node is a constant, or made of constants alone."""
    return _literal(node) is not None


def _is_wait(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in _WAITS


def _always_run(snippet: Snippet) -> Iterator[ast.Call]:
    """Return calls in plain statements, outside of what may skip, repeat or change them."""
    for statement in snippet.statements:
        if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from _unconditional(statement)


def _unconditional(node: ast.AST) -> Iterator[ast.Call]:
    skipped = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
               ast.GeneratorExp)  # fmt: skip
    if isinstance(node, skipped):
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _unconditional(child)


def _arguments(node: ast.Call, scope: Scope) -> Arguments:
    args = [_value(argument, scope) for argument in node.args]
    kwargs = {str(k.arg): _value(k.value, scope) for k in node.keywords if k.arg}
    if len(kwargs) != len(node.keywords):
        raise LookupError("**")
    return args, kwargs


def _value(node: ast.expr, scope: Scope) -> object:
    """Return what an argument was in the first call; LookupError where that would run code."""
    literal = _literal(node)
    if literal is not None:
        return literal[0]
    if not is_plain(node):
        raise LookupError(ast.unparse(node))
    root, snippet = root_name(node), scope.snippet
    if root in snippet.binds and len(snippet.statements) > 1:
        raise LookupError(root)  # which of its values it had is not known
    value: Any = scope.read_values[root]
    for name in reversed(_names(node)):
        value = attributes(value)[name]
    return value


def _names(node: ast.expr) -> list[str]:
    return [node.attr, *_names(node.value)] if isinstance(node, ast.Attribute) else []


def _literal(node: ast.expr) -> tuple[object] | None:
    try:
        return (ast.literal_eval(node),)
    except ValueError:
        return None
