"""Looks into functions by copies of them, so that no function of the user's is changed.

Some frameworks compile the code of a function as it stands: a hook in it would be compiled too.
"""

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from ipyjaxbench.usercode.instrument import compile_again, with_objects
from ipyjaxbench.usercode.instrumented_tree import FUNCTION_NODES, Hook, Instrumented, Site
from ipyjaxbench.usercode.snippet import Source
from ipyjaxbench.usercode.syntax import copy_tree

#: Code that is run where it stands, and is no function of its own.
_IN_PLACE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class CopyingHook:
    """A hook that calls a copy in place of each function whose calls are to be looked at.

    Args:
        hook: gets each call.
        source: the cell; functions that it defines are among those that are looked into.
        enters: whether to look into a function.
    """

    def __init__(self, hook: Hook, source: Source, enters: Callable[[FunctionType], bool]) -> None:
        self._hook, self._enters = hook, enters
        self._trees: dict[str, ast.Module | None] = {source.filename: source.tree}
        self._codes: dict[int, tuple[CodeType, CodeType | None]] = {}

    def pick(self, site: Site, function: Any, /) -> Any:
        """Hand on the copy."""
        return self._hook.pick(site, self._copied(function))

    def _copied(self, function: Any) -> Any:
        if type(function) is MethodType:
            inner = self._copied(function.__func__)
            same_one = inner is function.__func__
            return function if same_one else MethodType(inner, function.__self__)
        if type(function) is not FunctionType:
            return function
        old = function.__code__
        known = self._codes.get(id(old))
        if known is None or known[0] is not old:
            code = self._hooked(old) if self._enters(function) else None
            known = self._codes[id(old)] = old, code
        return function if known[1] is None else _copy_function(function, known[1])

    def _hooked(self, old: CodeType) -> CodeType | None:
        """Return code with the hook in its calls; None where it cannot be had for certain."""
        tree = self._tree(old.co_filename)
        definitions = [] if tree is None else [n for n in ast.walk(tree) if _is_of(n, old)]
        if tree is None or len(definitions) != 1:
            return None
        whole = copy_tree(tree)
        path = {id(node) for node in _path(whole, old)}
        instrumented = Instrumented(self, old.co_filename, lambda node: id(node) in path)
        found = compile_again(instrumented.visit(whole), old)
        if found is None:
            return None
        return _replace_functions(with_objects(found, instrumented.objects), list(_functions(old)))

    def _tree(self, file: str) -> ast.Module | None:
        if file not in self._trees:
            try:
                self._trees[file] = ast.parse("".join(linecache.getlines(file)))
            except (SyntaxError, ValueError):
                self._trees[file] = None
        return self._trees[file]


def _is_of(node: ast.AST, code: CodeType) -> bool:
    """Whether a node defines the function that has this code."""
    if not isinstance(node, FUNCTION_NODES):
        return False
    if isinstance(node, ast.Lambda):
        return (code.co_name, code.co_firstlineno) == ("<lambda>", node.lineno)
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return (code.co_name, code.co_firstlineno) == (node.name, first)


def _path(node: ast.AST, code: CodeType) -> list[ast.AST]:
    """Return the nodes that lead to a function, itself the last."""
    if _is_of(node, code):
        return [node]
    paths = (_path(each, code) for each in ast.iter_child_nodes(node))
    return next(([node, *path] for path in paths if path), [])


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Yield code of the functions that are defined in some code."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from [each] if _is_function(each) else _functions(each)


def _replace_functions(code: CodeType, known: list[CodeType]) -> CodeType | None:
    """Have code define functions with known code: what is compiled is kept with that."""
    consts: list[Any] = []
    for each in code.co_consts:
        if not isinstance(each, CodeType):
            consts.append(each)
            continue
        if _is_function(each):
            found = next((one for one in known if one == each), None)
        else:
            found = _replace_functions(each, known)
        if found is None:
            return None
        consts.append(found)
    return code.replace(co_consts=tuple(consts))


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_name not in _IN_PLACE


def _copy_function(function: FunctionType, code: CodeType) -> FunctionType:
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__dict__ = function.__dict__
    return made
