"""Knows the functions that changed code makes, so that they get the code back that was written.

To search all of a session for them takes a tenth of a second.
"""

import ast
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakSet

from ipyjaxbench.usercode.code_objects import inner_codes, original

_MADE = "__fw_made"


class _MadeFunctions:
    """Is called with each function that some code makes, as its innermost decorator."""

    def __init__(self) -> None:
        self._alive: WeakSet[FunctionType] = WeakSet()

    def __call__(self, function: FunctionType) -> FunctionType:
        """Know it as long as it lives."""
        self._alive.add(function)
        return function

    def restore(self) -> None:
        """Give them the code that they have without a hook."""
        for function in [*self._alive]:
            function.__code__ = original(function.__code__)


class _Noted(ast.NodeTransformer):
    """Has code call what stands for `_MADE` with each function that it makes."""

    def _visit_definition(self, node: Any) -> Any:
        self.generic_visit(node)
        node.decorator_list.append(ast.copy_location(ast.Constant(_MADE), node))
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_definition  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """It becomes the argument of a call."""
        self.generic_visit(node)
        made = ast.Attribute(ast.Constant(_MADE), "__call__", ast.Load())
        return ast.copy_location(ast.Call(made, [node], []), node)


def note_functions(tree: ast.Module) -> dict[str, Any]:
    """Have a tree note the functions that it makes; return what a constant in it stands for."""
    _Noted().visit(tree)
    return {_MADE: _MadeFunctions()}


def remove_hooks(codes: Iterable[CodeType]) -> None:
    """Give functions that were made by code with a hook the code that they have without."""
    parts = (part for code in codes for part in (code, *inner_codes(code)))
    noted = [each for part in parts for each in part.co_consts if type(each) is _MadeFunctions]
    for each in dict.fromkeys(noted):
        each.restore()
