"""A tree in which each call goes through a hook."""

import ast
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ipyjaxbench.usercode import frame_readers
from ipyjaxbench.usercode.call import called_name

#: What has code of its own.
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_HOOK_OF_METHODS = "__fw_call_of_methods"
_HOOK, _SITE, _OPERATOR = "__fw_call", "__fw_site_", "__fw_operator_"
_OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
_Function = TypeVar("_Function", ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Site:
    """Where a call stands."""

    line: int  # its number
    text: str  # the call, as typed
    file: str = ""  # the file or cell, for those that have the same number


class Hook(Protocol):
    """Gets each call in place of what is called."""

    def pick(self, site: Site, function: Any, /) -> Any:
        """What is to be called in place of a function: itself, or what makes the call for it."""


class Instrumented(ast.NodeTransformer):
    """Puts a hook into each call of a tree.

    Args:
        hook: gets each call.
        file: where the code is from.
        enters: whether to go into the body of a function that is defined there.
        operators: whether the hook gets operators of two values too.
    """

    def __init__(
        self,
        hook: Hook,
        file: str,
        enters: Callable[[ast.AST], bool] = lambda _: True,
        *,
        operators: bool = False,
    ) -> None:
        self._file, self._enters, self._operators = file, enters, operators
        #: what names in the new tree stand for; see `with_objects`.
        self.objects: dict[str, Any] = {
            _HOOK: hook,
            _HOOK_OF_METHODS: frame_readers.MethodsAlone(hook),
        }

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``f(x)`` becomes ``hook(site, f)(x)``: the frame above `f` is still the user's."""
        text = _text_of(node)
        self.generic_visit(node)
        if frame_readers.looks_at_frame(node.func):
            return node
        return self._through_hook(node, text, node.func, node.args, node.keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """``x + y`` becomes ``hook(site, operator.add)(x, y)``."""
        text = _text_of(node) if self._operators else ""
        self.generic_visit(node)
        if not self._operators:
            return node
        function = _OPERATORS[type(node.op)]
        name = f"{_OPERATOR}{function.__name__}"
        self.objects[name] = function
        return self._through_hook(node, text, ast.Constant(name), [node.left, node.right], [])

    def _through_hook(
        self,
        node: ast.expr,
        text: str,
        function: ast.expr,
        args: list[ast.expr],
        keywords: list[ast.keyword],
    ) -> ast.expr:
        name = f"{_SITE}{len(self.objects)}"
        self.objects[name] = Site(node.lineno, text, self._file)
        name_of_hook = _HOOK_OF_METHODS if frame_readers.looks_unless_method(node) else _HOOK
        hook = ast.Attribute(ast.Constant(name_of_hook), "pick", ast.Load())
        picked = ast.copy_location(ast.Call(hook, [ast.Constant(name), function], []), node)
        return ast.copy_location(ast.Call(picked, args, keywords), node)

    def _visit_function(self, node: _Function) -> _Function:
        """Enter decorators and defaults at least: they are calls of the code around it."""
        body = node.body
        if not self._enters(node):
            node.body = ast.Constant(None) if isinstance(node, ast.Lambda) else []
        self.generic_visit(node)
        if not self._enters(node):
            node.body = body
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function  # noqa: N815

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """Before Python 3.12 positions in f-strings are not those of the line: it has them all."""
        if sys.version_info < (3, 12):
            for each in ast.walk(node):
                ast.copy_location(each, node)
        self.generic_visit(node)
        return node


def _text_of(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except ValueError:  # an f-string in it cannot be spelled before Python 3.12
        return f"{called_name(node)}(…)"
