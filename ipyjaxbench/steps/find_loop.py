"""Which loop of a cell is timed: the innermost that calls a framework, or the one asked for."""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode import FUNCTION_NODES, nodes_in_scope

ForLoop = ast.For | ast.AsyncFor
_NO_LOOP = (
    "there is no for loop in this cell, and --loop times the steps of one: write the loop itself"
    " below %%fwtime --loop"
)


class _Found(NamedTuple):
    """A loop, the function that it is in ("" outside of functions), and whether that yields."""

    loop: ForLoop
    function: str
    is_loader: bool


def find_loop(
    tree: ast.Module, line: int | None, calls_framework: Callable[[ast.Call], bool]
) -> ForLoop:
    """Return the loop to be timed.

    Args:
        tree: the cell.
        line: the number of a line of the loop; the innermost that has it is taken. None chooses.
        calls_framework: whether a call in the cell is one of a framework, or leads to one.

    Raises:
        SnippetError: there is no such loop.
    """
    found = [*_loops(tree.body)]
    if not found:
        raise SnippetError(_NO_LOOP)
    if line is not None:
        return _loop_at([each.loop for each in found], line)
    loops = [each.loop for each in found if not each.is_loader] or [found[0].loop]
    known = [each for each in loops if any(map(calls_framework, _own_calls(each)))]
    if known:
        return next(each for each in known if not _holds_one_of(each, known))
    outside = [each.loop for each in found if not each.function and each.loop in loops]
    calling = [each for each in outside or loops if [*_own_calls(each)]]
    return (calling or outside or loops)[0]


def has_loop(tree: ast.Module) -> bool:
    """Whether a cell has a loop that can be taken."""
    return next(_loops(tree.body), None) is not None


def _loop_at(loops: list[ForLoop], line: int) -> ForLoop:
    holding = [each for each in loops if each.lineno <= line <= (each.end_lineno or 0)]
    if not holding:
        lines = ", ".join(str(each.lineno) for each in loops)
        raise SnippetError(
            f"--line {line} is in no for loop: the loops of this cell are in {lines}"
        )
    return max(holding, key=lambda each: each.lineno)


def _loops(
    statements: Iterable[ast.AST], function: str = "", *, is_loader: bool = False
) -> Iterator[_Found]:
    """Yield loops from the top, but those of decorated functions, which may be compiled."""
    for node in statements:
        inside, yields = function, is_loader
        if isinstance(node, ForLoop):
            yield _Found(node, function, is_loader)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.decorator_list:
                continue
            inside = node.name
            yields = any(
                isinstance(n, ast.Yield | ast.YieldFrom) for n in nodes_in_scope(node.body)
            )
        yield from _loops(ast.iter_child_nodes(node), inside, is_loader=yields)


def _own_calls(loop: ForLoop) -> Iterator[ast.Call]:
    """Yield calls in the body of a loop, but those in loops and functions inside."""
    stack: list[ast.AST] = [*loop.body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (*FUNCTION_NODES, ast.ClassDef, ast.For, ast.AsyncFor)):
            stack += ast.iter_child_nodes(node)


def _holds_one_of(loop: ForLoop, others: list[ForLoop]) -> bool:
    inside = {id(node) for node in ast.walk(loop)} - {id(loop)}
    return any(id(each) in inside for each in others)
