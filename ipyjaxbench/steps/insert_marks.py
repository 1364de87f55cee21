"""Puts marks between the statements of a loop, by its tree: names, lines and values stay."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.steps.find_loop import ForLoop
from ipyjaxbench.usercode import FUNCTION_NODES

#: What stands for the marks in the new tree; see `usercode.with_objects`.
MARKS, READY = "__fw_marks", "__fw_ready"
_INNER_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NUMPY = ("np", "numpy", "onp")


@dataclass(frozen=True)
class Site:
    """A statement that has a mark at its end.

    Attributes:
        line: the number of its first line.
        node: the statement; of one that holds others, what stands before these is meant.
        parts: what is evaluated by the statement itself, without the statements that it holds.
    """

    line: int
    node: ast.stmt
    parts: tuple[ast.AST, ...]


class MarkedLoop:
    """A loop with marks.

    Args:
        loop: it is left as it is.

    Attributes:
        statement: stands in its place.
        sites: its statements in the order of their lines; the loop's own line is the last site.
    """

    def __init__(self, loop: ForLoop) -> None:
        self.sites: list[Site] = []
        self._calls = _CallMarks()
        body = self._marked(loop.body)
        self.header = len(self.sites)
        self.sites.append(Site(loop.lineno, loop, (loop.iter,)))
        at = loop.body[0]
        kind = type(loop)
        own = kind(
            target=loop.target,
            iter=loop.iter,
            body=[_call("body", at), *body, _call("end", loop.body[-1])],
            orelse=[_call("over", loop), *loop.orelse] if loop.orelse else [],
        )
        whole = ast.Try(
            body=[_call("begin", loop), ast.copy_location(own, loop)],
            handlers=[],
            orelse=[],
            finalbody=[_call("over", loop)],
        )
        self.statement = ast.copy_location(whole, loop)

    def _marked(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements with a mark behind each; an end of the step before what goes on."""
        marked: list[ast.stmt] = []
        for node in statements:
            if isinstance(node, ast.Continue | ast.Break):
                marked += [_call("end", node), node]
                continue
            site = len(self.sites)
            self.sites.append(Site(node.lineno, node, _own_parts(node)))
            marked += [self._inside(node, site), _call("mark", node, site)]
        return marked

    def _inside(self, node: ast.stmt, site: int) -> ast.stmt:
        """Return a statement with marks in the statements that it holds."""
        if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
            return node
        if isinstance(node, _INNER_LOOPS) or not hasattr(node, "body"):
            return self._calls.visit(node)  # type: ignore[no-any-return]
        entered = _call("mark", node, site)
        for name in ("body", "orelse", "finalbody"):
            held = getattr(node, name, None)
            if held:
                setattr(node, name, [entered, *self._marked(held)])
        for handler in getattr(node, "handlers", ()):
            handler.body = [entered, *self._marked(handler.body)]
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self._calls.visit(value))
        return node


def _own_parts(node: ast.stmt) -> tuple[ast.AST, ...]:
    """Return what a statement evaluates itself."""
    if isinstance(node, _INNER_LOOPS) or not hasattr(node, "body"):
        return (node,)
    if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
        return ()
    return tuple(
        child for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.stmt | ast.ExceptHandler)
    )  # fmt: skip


class _CallMarks(ast.NodeTransformer):
    """Marks where a statement draws a batch, and where NumPy reads arrays in place."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``next(it)`` becomes ``(mark, next(it), mark)[1]``; so the frames stay the user's."""
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id == "next":
            return _between(node)
        if _is_of_numpy(function):
            node.args = [
                arg if isinstance(arg, ast.Starred | ast.Constant) else _ready(arg)
                for arg in node.args
            ]
        return node

    def visit_Await(self, node: ast.Await) -> ast.expr:
        """Mark ``await anext(it)`` as a whole."""
        value = node.value
        is_draw = (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id == "anext"
        )
        self.generic_visit(node)
        return _between(node) if is_draw else node

    def _leave(self, node: Any) -> Any:
        """Leave code alone that runs later, or as often as it likes."""
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave  # noqa: N815
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _leave  # noqa: N815


def _is_of_numpy(function: ast.expr) -> bool:
    while isinstance(function, ast.Attribute):
        function = function.value
        if isinstance(function, ast.Name):
            return function.id in _NUMPY
    return False


def _between(node: ast.expr) -> ast.expr:
    parts = [_called("draw", node), node, _called("drawn", node)]
    both = ast.copy_location(ast.Tuple(parts, ast.Load()), node)
    return ast.copy_location(ast.Subscript(both, ast.Constant(1), ast.Load()), node)


def _ready(node: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Constant(READY), "ready", ast.Load())
    return ast.copy_location(ast.Call(function, [node], []), node)


def _call(name: str, at: ast.stmt, *arguments: int) -> ast.stmt:
    return ast.copy_location(ast.Expr(_called(name, at, *arguments)), at)


def _called(name: str, at: ast.stmt | ast.expr, *arguments: int) -> ast.expr:
    """Return a call of a mark; all of it stands where the user's code does."""
    function = ast.Attribute(ast.Constant(MARKS), name, ast.Load())
    call = ast.Call(function, [ast.Constant(number) for number in arguments], [])
    for node in ast.walk(call):
        ast.copy_location(node, at)
        if isinstance(node, ast.expr):  # a multi-line statement is not pointed at as a whole
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    return call
